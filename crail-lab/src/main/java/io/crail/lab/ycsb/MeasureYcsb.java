/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.ycsb;

import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs the workloads of YCSB on Crail over TCP, on Crail over mapped memory, on Crail on flash if a
 * target is given, and on Redis. They run one after the other, each time in another order. Prints a
 * table in Markdown. Each workload runs for a fixed time in its own process; the beginning and the
 * end are discarded.
 *
 * <pre>
 * MeasureYcsb launcher binding ycsb-jars [--records 2000] [--seconds 7] [--warmup 3] [--threads 4]
 *     [--field-length 100] [--workloads a,b,c,d,e,f] [--runs 2] [--flash target]
 *     [--out directory]
 * </pre>
 *
 * {@code binding} is a directory with the jar of the binding and the workloads. {@code bin/ycsb}
 * runs it.
 */
public final class MeasureYcsb {
  /** Workloads that add no records share one load. */
  private static final List<String> KEEPING = List.of("a", "b", "c", "f");

  /** Workloads that add records get their own load. */
  private static final List<String> ADDING = List.of("d", "e");

  private static final String SCANS = "e";

  /** Reads and updates. */
  private static final String WARMING = "a";

  /** More than any store reaches, so that time is the limit. */
  private static final long OPERATIONS_PER_SECOND = 1_000_000;

  /** YCSB draws keys from all that could be inserted, until it finds an existing one. */
  private static final long SCANS_PER_SECOND = 50_000;

  /** A load has as many operations as there are records. */
  private static final Map<String, String> NO_LIMITS = Map.of("operationcount", "0");

  private static final int FIELDS = 10;
  private static final int LEAST_EXTENT = 4096;
  private static final long LEAST_DATANODE_BYTES = 1L << 30;
  private static final int QUIET_MILLIS = 1000;

  private final Programs programs;
  private final Options options;
  private final List<YcsbStore> stores;
  private final YcsbReport report;
  private int turn;

  /**
   * The options.
   *
   * @param launcher starts Crail's processes
   * @param binding directory of the binding and the workloads
   * @param jars directory of YCSB's jars
   * @param records to load
   * @param seconds that a workload runs
   * @param warmup seconds at the beginning that are discarded
   * @param threads of YCSB
   * @param fieldLength bytes of a field
   * @param workloads by their letters
   * @param runs how often all workloads run
   * @param flash a target, as for {@code crail.storage.nvmf.targets}; empty for no store on flash
   * @param out directory for table and plots; null for none
   */
  private record Options(
      String launcher,
      Path binding,
      Path jars,
      int records,
      int seconds,
      int warmup,
      int threads,
      int fieldLength,
      List<String> workloads,
      int runs,
      String flash,
      Path out) {
    static Options of(String[] args) {
      String out = Measurement.option(args, "--out", "");
      return new Options(
          args[0],
          Path.of(args[1]),
          Path.of(args[2]),
          number(args, "--records", "2000"),
          number(args, "--seconds", "7"),
          number(args, "--warmup", "3"),
          number(args, "--threads", "4"),
          number(args, "--field-length", "100"),
          List.of(Measurement.option(args, "--workloads", "a,b,c,d,e,f").split(",")),
          number(args, "--runs", "2"),
          Measurement.option(args, "--flash", ""),
          out.isEmpty() ? null : Path.of(out));
    }

    private static int number(String[] args, String name, String absent) {
      return Integer.parseInt(Measurement.option(args, name, absent));
    }

    /** A limit that no store reaches, since YCSB needs a limit. */
    long operationsOf(String workload) {
      long most = workload.equals(SCANS) ? SCANS_PER_SECOND : OPERATIONS_PER_SECOND;
      return Math.min(Integer.MAX_VALUE, seconds * most);
    }

    /** An extent for each record, and as many for records that were replaced recently. */
    long datanodeBytes() {
      long record = FIELDS * (fieldLength + 16L);
      long extent = Math.max(LEAST_EXTENT, 2 * Long.highestOneBit(record));
      return Math.max(LEAST_DATANODE_BYTES, 4 * extent * records);
    }
  }

  private MeasureYcsb(Programs programs, Options options, List<YcsbStore> stores) {
    this.programs = programs;
    this.options = options;
    this.stores = stores;
    this.report = new YcsbReport(stores.stream().map(YcsbStore::name).toList());
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Options options = Options.of(args);
    if (options.out != null) {
      Files.createDirectories(options.out);
    }
    Measurement.run(
        new String[0],
        (programs, regions) -> {
          LabCluster cluster =
              LabCluster.start(programs, options.launcher, regions, options.datanodeBytes());
          List<YcsbStore> stores = new ArrayList<>();
          stores.add(YcsbStore.inMemory("Crail, TCP", cluster.addresses(), false));
          stores.add(YcsbStore.inMemory("Crail, mapped", cluster.addresses(), true));
          if (!options.flash.isEmpty()) {
            LabCluster flash =
                LabCluster.start(
                    programs,
                    options.launcher,
                    regions,
                    LabCluster.ALL,
                    LabCluster.Setup.PLAIN.onFlash(options.flash));
            stores.add(YcsbStore.onFlash("Crail, flash", flash.addresses()));
          }
          stores.add(YcsbStore.redis("Redis", programs));
          return new MeasureYcsb(programs, options, stores).measure(regions);
        });
  }

  private String measure(Path scratch) throws IOException, InterruptedException {
    Instant begin = Instant.now();
    double before = Machine.busyProcessors(QUIET_MILLIS);
    warmServers(scratch);
    for (int run = 1; run <= options.runs; run++) {
      System.err.println("measuring, run " + run + " of " + options.runs + " ...");
      // So that a workload begins with another store in each run.
      turn++;
      measureOnce(scratch);
    }
    String text =
        String.format(
            Locale.ROOT,
            "%s, %s, %s. Other processes: %.2f of a processor before, %.2f after. %d s.%n%n"
                + "%,d records of %d x %d bytes, %d threads of one process, %d runs. All but flash"
                + " is in memory of this host; nothing is tuned.%n%n"
                + "Each workload runs for %d s in a new process. Discarded of rates and latencies:"
                + " the %d s after its first operation, what is then left of the second, and the"
                + " second in which it ends; and before all, a run of workload %s on each store, for"
                + " the servers. Counted: %.1f s or more of each run. Loading is not measured.%n%n%s",
            begin.truncatedTo(ChronoUnit.MINUTES),
            Machine.describe(),
            versions(),
            before,
            Machine.busyProcessors(QUIET_MILLIS),
            Duration.between(begin, Instant.now()).toSeconds(),
            options.records,
            FIELDS,
            options.fieldLength,
            options.threads,
            options.runs,
            options.seconds,
            options.warmup,
            YcsbReport.shown(warming()),
            report.leastSeconds(),
            report.table());
    if (options.out != null) {
      Files.writeString(options.out.resolve("ycsb.md"), text);
      YcsbPlots.write(report, options.out);
    }
    return text;
  }

  /** Lets the servers compile their code, since they live through all runs. */
  private void warmServers(Path scratch) throws IOException, InterruptedException {
    System.err.println("warming the servers ...");
    load(scratch);
    for (YcsbStore store : stores) {
      YcsbResult.requireOk(programs.run(timed(store, warming(), prefix(scratch))), 1);
    }
  }

  /** Space of replaced records rests longer on flash, and many updates could take all. */
  private String warming() {
    return options.flash.isEmpty() ? WARMING : options.workloads.get(0);
  }

  private String versions() throws IOException, InterruptedException {
    String redis = programs.run(List.of("redis-server", "--version")).split(" ")[2];
    return LabCluster.version(programs, options.launcher) + ", redis " + redis.replace("v=", "");
  }

  private void measureOnce(Path scratch) throws IOException, InterruptedException {
    List<String> keeping = KEEPING.stream().filter(options.workloads::contains).toList();
    if (!keeping.isEmpty()) {
      load(scratch);
    }
    for (String workload : keeping) {
      run(scratch, workload);
    }
    for (String workload : ADDING) {
      if (options.workloads.contains(workload)) {
        load(scratch);
        run(scratch, workload);
      }
    }
  }

  private void load(Path scratch) throws IOException, InterruptedException {
    for (YcsbStore store : stores) {
      store.clearing().clear();
      String output = programs.run(command(store, "-load", "a", prefix(scratch), NO_LIMITS));
      // YCSB rounds the share of each thread down.
      YcsbResult.requireOk(output, options.records - options.threads);
    }
  }

  /** Runs a workload on one store after the other. Each run begins with another store. */
  private void run(Path scratch, String workload) throws IOException, InterruptedException {
    List<YcsbStore> order = new ArrayList<>(stores);
    Collections.rotate(order, turn++);
    for (YcsbStore store : order) {
      String prefix = prefix(scratch);
      String output = programs.run(timed(store, workload, prefix));
      report.add(workload, store.name(), YcsbResult.read(output, prefix, options.warmup));
    }
  }

  private static String prefix(Path scratch) throws IOException {
    return Files.createTempDirectory(scratch, "histograms") + File.separator;
  }

  /** A workload for a fixed time, with a histogram of each second. */
  private List<String> timed(YcsbStore store, String workload, String prefix) {
    Map<String, String> limits =
        Map.of(
            "maxexecutiontime",
            String.valueOf(options.seconds),
            "operationcount",
            String.valueOf(options.operationsOf(workload)),
            "status",
            "true",
            "status.interval",
            "1");
    return command(store, "-t", workload, prefix, limits);
  }

  private List<String> command(
      YcsbStore store, String phase, String workload, String prefix, Map<String, String> limits) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    String classPath =
        String.join(
            File.pathSeparator,
            System.getProperty("java.class.path"),
            options.binding.resolve("*").toString(),
            options.jars.resolve("*").toString());
    command.addAll(List.of("-Xmx512m", "-cp", classPath, "site.ycsb.Client", phase));
    command.addAll(List.of("-db", store.binding(), "-threads", String.valueOf(options.threads)));
    command.addAll(List.of("-P", options.binding.resolve("workloads/workload" + workload) + ""));
    Map<String, String> properties = new TreeMap<>(store.properties());
    properties.putAll(limits);
    properties.put("recordcount", String.valueOf(options.records));
    properties.put("fieldcount", String.valueOf(FIELDS));
    properties.put("fieldlength", String.valueOf(options.fieldLength));
    properties.put("measurementtype", "hdrhistogram");
    properties.put("hdrhistogram.fileoutput", "true");
    properties.put("hdrhistogram.output.path", prefix);
    properties.forEach((key, value) -> command.addAll(List.of("-p", key + "=" + value)));
    return command;
  }
}
