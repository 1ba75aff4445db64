/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.bench.chart.Chart;
import io.crail.bench.record.OptionException;
import io.crail.common.config.Configuration;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.LabOptions;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** Runs jobs of Spark with and without Crail, in turn, and reports times and ratios. */
public final class SparkCompare {
  private static final int QUIET_MILLIS = 1000;
  private static final int SHOWN_LINES = 40;
  private static final String FAILED = "failed: ";
  private static final String PLUGINS = "spark.plugins";

  /** Room for the data of two jobs, since that of a job rests for a while when it has ended. */
  private static final int ROOM = 4;

  private static final long LEAST_DATANODE_BYTES = 1L << 30;

  private final SparkOptions options;
  private final SparkDriver driver;
  private final PrintStream err;
  private final SparkFigures figures;
  private final SparkCharts charts;
  private final Configuration client;
  private final Set<String> failed = new LinkedHashSet<>();

  private SparkCompare(
      SparkOptions options, SparkDriver driver, Configuration client, PrintStream err) {
    this.options = options;
    this.driver = driver;
    this.client = client;
    this.err = err;
    this.figures = new SparkFigures(options, new Samples(line -> err.println("  " + line)));
    this.charts = new SparkCharts(options, figures);
  }

  /** The help text. */
  public static String help() {
    return SparkOptions.help();
  }

  /**
   * Runs the command.
   *
   * @param args its arguments
   * @param launcher the program that starts Crail's commands: bin/crail
   * @param settings {@code key=value} for all of Crail's processes and clients
   * @param home directory of Spark; null when there is none
   * @param out where the table goes
   * @param err where progress goes
   * @return whether all jobs could be run; the others are reported in any case
   * @throws OptionException when the arguments are wrong
   * @throws IOException when nothing can be measured
   */
  public static boolean run(
      String[] args,
      String launcher,
      List<String> settings,
      String home,
      PrintStream out,
      PrintStream err)
      throws OptionException, IOException, InterruptedException {
    SparkOptions options = SparkOptions.parse(args);
    LabOptions.checkFile("out", options.out());
    if (launcher == null) {
      throw new IOException("it is unknown where bin/crail is: start this with bin/crail");
    }
    SparkJars jars = SparkJars.find(home, Path.of(launcher).getParent().getParent());
    if (options.plots() != null) {
      Files.createDirectories(options.plots());
      Chart.check(options.plots().resolve("any.svg"));
    }
    String command = String.join(" ", command(args, settings));
    AtomicReference<SparkCompare> done = new AtomicReference<>();
    Measurement.run(
        out,
        options.out(),
        (programs, memory) -> {
          Map<String, String> crail = Map.of();
          Configuration.Builder client = Configuration.builder();
          if (options.chosenWays().contains(SparkWay.CRAIL)) {
            err.println("starting Crail ...");
            LabCluster cluster = cluster(programs, launcher, memory, settings, options);
            crail = SparkDriver.crail(cluster, settings, jars);
            SparkDriver.client(cluster, settings)
                .forEach((key, value) -> client.set(key, value, "the command line"));
          }
          SparkDriver driver = new SparkDriver(programs, memory, jars, options, crail);
          SparkCompare compare = new SparkCompare(options, driver, client.build(), err);
          String text =
              "`"
                  + command
                  + "`\n\n"
                  + compare.measure(programs, launcher, command)
                  + settings(programs, memory, jars, options, crail)
                  + compare.result();
          done.set(compare);
          return text;
        });
    SparkCompare compare = done.get();
    if (compare == null) {
      return false;
    }
    if (options.plots() != null) {
      compare.charts.write(options.plots(), "Spark " + jars.version());
    }
    return compare.failed.isEmpty();
  }

  private static LabCluster cluster(
      Programs programs, String launcher, Path memory, List<String> settings, SparkOptions options)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>();
    settings.forEach(setting -> words.addAll(List.of("--set", setting)));
    if (!options.through().isEmpty()) {
      // Otherwise the memory would be counted where Spark is limited, which uses a page first.
      words.addAll(List.of("--set", "crail.storage.tcp.preallocate=true"));
    }
    return LabCluster.start(
        programs,
        launcher,
        memory,
        datanodeBytes(options),
        LabCluster.Setup.PLAIN.with(words.toArray(new String[0])));
  }

  private static long datanodeBytes(SparkOptions options) {
    return Math.max(LEAST_DATANODE_BYTES, ROOM * options.bytes());
  }

  /** The command as it was given. */
  private static List<String> command(String[] args, List<String> settings) {
    List<String> words = new ArrayList<>(List.of("crail", "spark"));
    words.addAll(List.of(args));
    settings.forEach(setting -> words.addAll(List.of("--set", setting)));
    return words;
  }

  /** Runs everything, and says when and where that was. */
  private String measure(Programs programs, String launcher, String command)
      throws IOException, InterruptedException {
    Instant begin = Instant.now();
    double before = Machine.busyProcessors(QUIET_MILLIS);
    for (int run = 0; run < options.runs(); run++) {
      List<SparkCase> cases = options.cases();
      for (int i = 0; i < cases.size(); i++) {
        SparkCase one = cases.get(i);
        err.println("run " + (run + 1) + " of " + options.runs() + ", " + options.name(one));
        List<SparkWay> order = new ArrayList<>(options.chosenWays());
        Collections.rotate(order, run + i);
        for (SparkWay way : order) {
          measure(programs, one, way, command);
        }
      }
    }
    return String.format(
        Locale.ROOT,
        "%s, %s, %s.%nOther processes used %.2f of a processor before and %.2f after."
            + " %d runs, %d s in all.%n%n",
        begin.truncatedTo(ChronoUnit.MINUTES),
        Machine.describe(),
        LabCluster.version(programs, launcher),
        before,
        Machine.busyProcessors(QUIET_MILLIS),
        options.runs(),
        Duration.between(begin, Instant.now()).toSeconds());
  }

  /** A job that has failed is not run again in that way, and the others are. */
  private void measure(Programs programs, SparkCase one, SparkWay way, String command)
      throws IOException, InterruptedException {
    String name = options.name(one) + ", " + way.title();
    if (failed.stream().anyMatch(failure -> failure.startsWith(name + ": "))) {
      return;
    }
    try {
      if (way == SparkWay.CRAIL) {
        measureWatched(one, command);
      } else {
        figures.add(one, way, command, driver.run(one, way));
      }
    } catch (IOException e) {
      if (programs.isClosed()) {
        throw e;
      }
      List<String> lines = e.getMessage().lines().toList();
      lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()).forEach(err::println);
      String why =
          lines.stream()
              .filter(line -> line.startsWith(FAILED))
              .map(line -> line.substring(FAILED.length()))
              .findFirst()
              .orElse(lines.get(lines.size() - 1));
      failed.add(name + ": " + why);
      err.println("  " + name + ": FAILED: " + why);
    }
  }

  private void measureWatched(SparkCase one, String command)
      throws IOException, InterruptedException {
    try (NamenodeWatch watch = NamenodeWatch.start(client)) {
      JobOutput output = driver.run(one, SparkWay.CRAIL);
      NamenodeLoad load = NamenodeLoad.of(watch.end(), output.beginMillis(), output.endMillis());
      figures.add(one, SparkWay.CRAIL, command, output);
      figures.add(one, command, load);
      charts.add(one, load, output.stages());
    }
  }

  private static String settings(
      Programs programs,
      Path memory,
      SparkJars jars,
      SparkOptions options,
      Map<String, String> crail)
      throws IOException {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "Spark %s, %s executors of %s cores and %d MiB, %d bytes of data for each job, %d tasks"
                + " a stage, Kryo, all else as Spark has it. An eighth of the data goes first, and"
                + " counts for local disk alone.%n%n",
            jars.version(),
            words(options.executors()),
            words(options.cores()),
            options.memory(),
            options.bytes(),
            options.tasksOfAStage()));
    text.append("- disk: spark.local.dir on ").append(kind(programs.directory())).append('\n');
    if (options.chosenWays().contains(SparkWay.TMPFS)) {
      text.append("- tmpfs: spark.local.dir on ").append(kind(memory)).append('\n');
    }
    if (!crail.isEmpty()) {
      text.append(
          String.format(
              Locale.ROOT,
              "- Crail: %s in Crail, with a namenode and a datanode of %d bytes on this host;"
                  + " spark.local.dir as for disk%n",
              crail.containsKey(PLUGINS) ? "shuffle and broadcasts" : "shuffle alone",
              datanodeBytes(options)));
    }
    if (options.only().contains(SparkTask.BROADCAST.word()) && crail.containsKey(PLUGINS)) {
      text.append("- broadcast: small values go to Crail too, which stay with Spark by default\n");
    }
    if (!options.through().isEmpty()) {
      text.append("- driver and executors run through `")
          .append(String.join(" ", options.through()))
          .append("`; Crail's servers do not, and have their memory besides\n");
    }
    return text.append('\n').toString();
  }

  private static String words(List<Integer> numbers) {
    return String.join(", ", numbers.stream().map(String::valueOf).toList());
  }

  private static String kind(Path directory) throws IOException {
    return Files.getFileStore(directory).type() + " at " + directory.getParent();
  }

  private String result() {
    StringBuilder text = new StringBuilder(figures.table());
    if (!failed.isEmpty()) {
      text.append('\n');
      failed.forEach(failure -> text.append("- Failed: ").append(failure).append('\n'));
    }
    return text.toString();
  }
}
