/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.bench.chart.Chart;
import io.crail.bench.record.OptionException;
import io.crail.bench.report.Json;
import io.crail.lab.figures.Goals;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Measures Crail, Redis, HDFS, iperf3 and the bare machine in one run, alternating. Reports
 * medians, spread, ratios and goals. It starts processes and reads their output.
 */
public final class Compare {
  private static final int QUIET_MILLIS = 1000;

  private final CompareSession with;
  private final CompareOptions options;
  private final PrintStream err;
  private final Map<Part, Section> sections = new LinkedHashMap<>();
  private final Map<String, Object> about = new LinkedHashMap<>();
  private final Map<String, Long> seconds = new LinkedHashMap<>();
  private final List<String> failed = new ArrayList<>();
  private final Function<Part, Section> maker;
  private final int quietMillis;
  private final Set<String> unwritten = new HashSet<>();
  private final Set<Part> uncharted = EnumSet.noneOf(Part.class);

  /**
   * Creates a comparison that has measured nothing.
   *
   * @param maker makes the sections
   * @param quietMillis how long it looks whether others use the processors, before and after
   */
  Compare(
      CompareSession with,
      CompareOptions options,
      PrintStream err,
      Function<Part, Section> maker,
      int quietMillis) {
    this.with = with;
    this.options = options;
    this.err = err;
    this.maker = maker;
    this.quietMillis = quietMillis;
  }

  /** The help text. */
  public static String help() {
    return CompareOptions.help();
  }

  /**
   * Runs the command.
   *
   * @param args its arguments
   * @param launcher the program that starts Crail's commands: bin/crail
   * @param settings {@code key=value} for all of Crail's processes
   * @param hdfs directory of HDFS's jars, whose name ends with their version; null when there is
   *     none
   * @param out where the tables go
   * @param err where progress goes
   * @return whether all sections could be measured; the others are reported in any case
   * @throws OptionException when the arguments are wrong
   * @throws IOException when nothing can be measured; it has the end of a program's output
   */
  public static boolean run(
      String[] args,
      String launcher,
      List<String> settings,
      Path hdfs,
      PrintStream out,
      PrintStream err)
      throws OptionException, IOException, InterruptedException {
    CompareOptions options = CompareOptions.parse(args);
    options.checkFiles();
    if (launcher == null) {
      throw new IOException("it is unknown where bin/crail is: start this with bin/crail");
    }
    if (options.plots() != null) {
      Files.createDirectories(options.plots());
      Chart.check(options.plots().resolve("any.png"));
    }
    CompareSession.Surroundings surroundings =
        new CompareSession.Surroundings(launcher, settings, hdfs);
    AtomicReference<Compare> done = new AtomicReference<>();
    Measurement.run(
        out,
        null,
        (programs, regions) -> {
          CompareSession with = new CompareSession(programs, surroundings, options, regions, err);
          Compare compare =
              new Compare(with, options, err, part -> section(part, with), QUIET_MILLIS);
          compare.measure(command(args, settings));
          done.set(compare);
          return compare.text();
        });
    return done.get() != null && done.get().isWhole();
  }

  /** Whether all sections were measured, and what was asked for is written. */
  boolean isWhole() {
    return failed.isEmpty() && unwritten.isEmpty() && uncharted.isEmpty();
  }

  /** The command as it was given. */
  private static String command(String[] args, List<String> settings) {
    List<String> words = new ArrayList<>(List.of("crail", "compare"));
    words.addAll(List.of(args));
    settings.forEach(setting -> words.addAll(List.of("--set", setting)));
    return String.join(" ", words);
  }

  /**
   * Measures all sections. The files are written anew after each, so what was measured is kept
   * however the run ends.
   */
  void measure(String command) throws IOException, InterruptedException {
    Instant begin = Instant.now();
    about.put("time", begin.truncatedTo(ChronoUnit.MINUTES).toString());
    about.put("command", command);
    about.put("machine", Machine.describe());
    about.put("versions", with.versions());
    about.put("settings", with.settings());
    about.put("skipped", skipped());
    about.put("busyBefore", Machine.busyProcessors(quietMillis));
    for (Part part : Part.values()) {
      if (options.only().contains(part.word())) {
        // Its threads are busy now and then.
        if (!part.isBesideHdfs()) {
          with.stopHdfs();
        }
        measure(part);
        about.put("failed", failed);
        about.put("notMeasured", notMeasured());
        about.put("busyAfter", Machine.busyProcessors(quietMillis));
        about.put("runs", options.runs());
        about.put("seconds", Duration.between(begin, Instant.now()).toSeconds());
        about.put("secondsOfSections", seconds);
        writeFiles(part);
      }
    }
  }

  /** The sections that are still to be measured. */
  private List<String> notMeasured() {
    return options.only().stream().filter(word -> !seconds.containsKey(word)).toList();
  }

  /** Writes the requested files, among them the charts of the section that was measured last. */
  private void writeFiles(Part last) {
    writeText("--out", options.out(), this::text);
    writeText("--json", options.json(), this::json);
    if (options.plots() == null) {
      return;
    }
    if (sections.containsKey(last)) {
      uncharted.add(last);
    }
    for (Part part : List.copyOf(uncharted)) {
      // Those that could not be written are tried again at the end.
      if ((part == last || isEnd())
          && write("--plots", options.plots(), path -> Plots.write(path, sections.get(part)))) {
        uncharted.remove(part);
      }
    }
  }

  private boolean isEnd() {
    return notMeasured().isEmpty();
  }

  /** Writes a text, but to a device or a pipe only at the end. Its last try counts. */
  private void writeText(String option, Path path, Supplier<String> text) {
    if (path == null || (WholeFile.isStream(path) && !isEnd())) {
      return;
    }
    unwritten.remove(option);
    if (!write(
        option, path, to -> WholeFile.write(to, file -> Files.writeString(file, text.get())))) {
      unwritten.add(option);
    }
  }

  /** Returns whether it is written. */
  private boolean write(String option, Path path, WholeFile.Writer writer) {
    try {
      writer.write(path);
      return true;
    } catch (IOException | IllegalArgumentException e) {
      err.println("compare: " + option + " " + path + ": " + e);
      return false;
    }
  }

  private static Section section(Part part, CompareSession with) {
    return switch (part) {
      case LOOKUP -> new LookupSection(with);
      case HDFS -> new HdfsSection(with);
      case RANDOM -> new RandomReadSection(with);
      case LATENCY -> new LatencySection(with);
      case CLIENTS -> new ClientsSection(with);
      case SPREAD -> new SpreadSection(with);
      case CHILDREN -> new ChildrenSection(with);
      case KEYVALUE -> new KeyValueSection(with);
      case APPEND -> new AppendSection(with);
      case CACHE -> new CacheSection(with);
      case TIERS -> new TiersSection(with);
      case TCP -> new StreamSection(with, false);
      case MAPPED -> new StreamSection(with, true);
      case MEMORY -> new MemorySection(with);
    };
  }

  /** When a section fails, the figures of the other sections are kept. */
  private void measure(Part part) throws IOException, InterruptedException {
    err.println(part.word() + ": " + part.title());
    Section section = maker.apply(part);
    // The time before belongs to no section.
    with.programs().account().close(0);
    Instant begin = Instant.now();
    try {
      section.measure();
      sections.put(part, section);
      say(section);
    } catch (IOException | IllegalArgumentException e) {
      if (with.programs().isClosed()) {
        throw e;
      }
      String why = e.getMessage() == null ? e.toString() : e.getMessage();
      err.println("  failed: " + why);
      failed.add(part.word() + ": " + why.lines().findFirst().orElse(""));
    }
    with.dropLimitRegion();
    Duration taken = Duration.between(begin, Instant.now());
    seconds.put(part.word(), taken.toSeconds());
    List<String> account = with.programs().account().close(taken.toNanos());
    if (options.times()) {
      err.println(part.word() + " took " + taken.toSeconds() + " s:");
      account.forEach(err::println);
    }
  }

  /** Reports the figures of a section at once, so that errors show before the end of the run. */
  private void say(Section section) {
    for (Goals.Goal goal : section.goals().all()) {
      if (goal.isDemanded()) {
        err.println("  " + goal.sentence());
      }
    }
  }

  private List<String> skipped() {
    List<String> texts = new ArrayList<>();
    with.lacks().forEach((peer, why) -> texts.add(peer.label() + ": " + why));
    return texts;
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    text.append("`").append(about.get("command")).append("`\n\n");
    text.append(about.get("time")).append(", ").append(about.get("machine")).append("; ");
    text.append(String.join(", ", texts("versions")));
    text.append(
        String.format(
            Locale.ROOT,
            ".%nOther processes used %.2f of a processor before and %.2f after."
                + " %d runs, %d s in all: %s.%n%n",
            (Double) about.get("busyBefore"),
            (Double) about.get("busyAfter"),
            options.runs(),
            (Long) about.get("seconds"),
            seconds.entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue())
                .collect(Collectors.joining(", "))));
    List<Goals.Goal> demanded =
        sections.values().stream()
            .flatMap(section -> section.goals().all().stream())
            .filter(Goals.Goal::isDemanded)
            .toList();
    if (!notMeasured().isEmpty()) {
      text.append("**Not measured yet: ")
          .append(String.join(", ", notMeasured()))
          .append(".**\n\n");
    }
    text.append("## Goals\n\n").append(Goals.summary(demanded)).append('\n');
    text.append(
        String.format(
            Locale.ROOT,
            "%d of %d goals are met.%n%n",
            demanded.stream().filter(Goals.Goal::isMet).count(),
            demanded.size()));
    text.append("Settings:\n\n");
    texts("settings").forEach(setting -> text.append("- ").append(setting).append('\n'));
    texts("skipped").forEach(skipped -> text.append("- Left out: ").append(skipped).append('\n'));
    failed.forEach(failure -> text.append("- Failed: ").append(failure).append('\n'));
    sections.forEach(
        (part, section) -> {
          text.append("\n## ").append(part.title()).append("\n\n");
          if (!section.goals().all().isEmpty()) {
            text.append(section.goals().table()).append('\n');
          }
          text.append(
              section.samples().isEmpty()
                  ? "What this needs is not here.\n"
                  : section.samples().table());
        });
    return text.toString();
  }

  @SuppressWarnings("unchecked")
  private List<String> texts(String key) {
    return (List<String>) about.get(key);
  }

  private String json() {
    Map<String, Object> all = new LinkedHashMap<>(about);
    List<Object> list = new ArrayList<>();
    sections.forEach(
        (part, section) -> {
          Map<String, Object> each = new LinkedHashMap<>();
          each.put("section", part.word());
          each.put("title", part.title());
          each.put("goals", section.goals().all().stream().map(Goals.Goal::fields).toList());
          each.put("figures", section.samples().fields());
          list.add(each);
        });
    all.put("sections", list);
    return Json.of(all);
  }
}
