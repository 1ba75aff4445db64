/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import io.crail.bench.chart.Chart;
import io.crail.bench.chart.Line;
import io.crail.bench.chart.Spread;
import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Fio;
import io.crail.lab.programs.FlashPeer;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import io.crail.lab.programs.SpdkPerf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures Crail on flash beside fio on the kernel's host of NVMe, or beside SPDK's own program,
 * alternating, at one target. Also measures values on flash beside values in memory over TCP, with
 * more and more of them in flight. Prints tables in Markdown.
 *
 * <pre>
 * MeasureFlash launcher target [--device device] [--spdk-perf program --spdk-namespace text]
 *     [--initiators java,spdk] [--bytes 805306368] [--only reads,writes,streams,load] [--runs 3]
 *     [--plots directory] [--out file]
 * </pre>
 *
 * The target is given as for {@code crail.storage.nvmf.targets}; the device is the same namespace
 * as the kernel sees it. Crail has its first bytes, whole regions of 256 MiB, and fio the 64 MiB
 * after those and one MiB more. SPDK's program overwrites its whole namespace, so it needs another
 * one of that target. Namenodes and datanodes run on processor 0, clients and the other programs on
 * processor 1. {@code bin/measure --flash} runs it.
 */
public final class MeasureFlash {
  private static final long MIB = 1 << 20;
  private static final long FILE_BYTES = 64 * MIB;

  /** A datanode lends whole regions of this size; see {@code crail.storage.nvmf.allocationsize}. */
  private static final long REGION_BYTES = 256 * MIB;

  private static final long MEMORY_BYTES = 1 << 30;
  private static final int[] DEPTHS = {1, 4, 32};
  private static final int[] STREAMED = {64 << 10, 1 << 20};
  private static final int STREAM_DEPTH = 8;
  private static final int SECONDS = 8;
  private static final long WARM_WRITES = 150_000;

  /** In an emulated machine a stream gains speed until then. */
  private static final long WARM_STREAM_BYTES = 8L << 30;

  private static final long REST_NANOS = 120_000_000_000L;
  private static final int POLL_MILLIS = 3000;

  /** Above {@code crail.namenode.smallvalue}, so that the bytes are on the tier. */
  private static final int VALUE = 8 << 10;

  private static final int[] VALUES_IN_FLIGHT = {1, 2, 4, 8, 16, 32, 64};
  private static final int VALUES = 5_000;

  private final Programs programs;
  private final String crail;
  private final List<String> initiators;
  private final long bytes;
  private final List<String> only;
  private final int runs;
  private final FlashPeer peer;
  private final Samples samples = new Samples(line -> System.err.println("  " + line));
  private final Goals goals = new Goals(samples);

  /** How many operations each load has, which its first run decides. */
  private final Map<String, Long> counts = new HashMap<>();

  private LabCluster flash;
  private LabCluster memory;

  private MeasureFlash(Programs programs, String[] args) {
    this.programs = programs;
    this.crail = args[0];
    String given = Measurement.option(args, "--bytes", String.valueOf(3 * REGION_BYTES));
    this.bytes = Long.parseLong(given) / REGION_BYTES * REGION_BYTES;
    if (bytes == 0) {
      throw new IllegalArgumentException("--bytes has to be 256 MiB or more, not " + given);
    }
    this.initiators = words(args, "--initiators", "java");
    this.only = words(args, "--only", "reads,writes,streams");
    this.runs = Measurement.runs(args);
    String device = Measurement.option(args, "--device", "");
    String perf = Measurement.option(args, "--spdk-perf", "");
    this.peer =
        !device.isEmpty()
            ? new Fio(programs, 1, device, bytes + MIB, FILE_BYTES)
            : perf.isEmpty()
                ? null
                : new SpdkPerf(programs, 1, perf, Measurement.option(args, "--spdk-namespace", ""));
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Measurement.run(
        args, (programs, regions) -> new MeasureFlash(programs, args).report(args, regions));
  }

  private static List<String> words(String[] args, String name, String absent) {
    return Arrays.asList(Measurement.option(args, name, absent).split(","));
  }

  private String report(String[] args, Path regions) throws IOException, InterruptedException {
    Instant begin = Instant.now();
    String text = begin.truncatedTo(ChronoUnit.MINUTES) + ", " + Machine.describe();
    text += ", " + LabCluster.version(programs, crail);
    LabCluster.Setup setup = LabCluster.Setup.PLAIN.pinned(0, 1);
    flash = LabCluster.start(programs, crail, regions, bytes, slow(setup.onFlash(args[1])));
    if (has("load")) {
      memory = LabCluster.start(programs, crail, regions, MEMORY_BYTES, setup);
    }
    // The first use of a page costs more, also in the memory of a target.
    for (long length : new long[] {FILE_BYTES, (bytes - FILE_BYTES) / 4 * 3}) {
      String file = length == FILE_BYTES ? "/data.dat" : "/written.dat.warmup";
      String rest = " -w 0 --touch false -f " + file;
      programs.run(flash.iobench("-t write -s 1048576 -k " + length / MIB + rest, true));
    }
    for (int run = 1; run <= runs; run++) {
      System.err.println("measuring, run " + run + " of " + runs + " ...");
      if (has("reads")) {
        measureReads();
      }
      if (has("writes")) {
        measureWrites();
      }
      if (has("streams")) {
        measureStreams();
      }
      if (has("load")) {
        measureLoad();
      }
    }
    String plots = Measurement.option(args, "--plots", "");
    if (has("load") && !plots.isEmpty()) {
      plot("get", "A get of 8 KiB over load", Path.of(plots, "flash-get.svg"));
      plot("put", "A put of 8 KiB over load", Path.of(plots, "flash-put.svg"));
    }
    text +=
        String.format(
            Locale.ROOT,
            ". %d runs, %d s.%n%n",
            runs,
            Duration.between(begin, Instant.now()).toSeconds());
    return text + (goals.all().isEmpty() ? "" : goals.table() + '\n') + samples.table();
  }

  /** The test machine is emulated, and a JVM there slow until it is warm. */
  private static LabCluster.Setup slow(LabCluster.Setup setup) {
    for (String key :
        List.of("crail.storage.nvmf.connecttimeout", "crail.rpctimeout", "crail.datatimeout")) {
      setup = setup.with("--set", key + "=60s");
    }
    return setup;
  }

  private boolean has(String section) {
    return only.contains(section);
  }

  private static String name(int depth) {
    return "4 KiB, " + depth + " in flight";
  }

  private void measureReads() throws IOException, InterruptedException {
    for (int depth : DEPTHS) {
      String name = "read, " + name(depth);
      double rate = peer(name, new FlashPeer.Load("randread", 4096, depth), 0);
      // Code is compiled late in an emulated machine.
      long count = count(name, rate, depth == 1 ? 5_000 : 30_000, Long.MAX_VALUE);
      long warmUp = Math.max(depth == 1 ? 50_000 : 300_000, count);
      String rest = " -s 4096 -k " + count + " -w " + warmUp + " -f /data.dat";
      crail(
          name,
          depth == 1 ? "-t readRandom -m false" + rest : "-t readRandomAsync -b " + depth + rest,
          0);
      compare(name, depth);
    }
  }

  private void measureWrites() throws IOException, InterruptedException {
    for (int depth : DEPTHS) {
      String name = "write, " + name(depth);
      double rate = peer(name, new FlashPeer.Load("write", 4096, depth), 0);
      long most = room() / 4096;
      long count = count(name, rate, 10_000, most);
      // Each write takes new space, so a warm-up has no more room than this.
      String rest = writes(4096, count, Math.max(count, Math.min(WARM_WRITES, most)));
      crail(name, depth == 1 ? "-t write -m false" + rest : "-t writeAsync -b " + depth + rest, 0);
      compare(name, depth);
    }
  }

  private void measureStreams() throws IOException, InterruptedException {
    for (int size : STREAMED) {
      String name = "stream of " + Samples.bytes(size);
      String depth = " -b " + STREAM_DEPTH;
      for (String kind : List.of("read", "write")) {
        String full = kind + ", " + name;
        double rate = peer(full, new FlashPeer.Load(kind, size, STREAM_DEPTH), size);
        boolean reads = kind.equals("read");
        long count = count(full, rate, 2_000, reads ? Long.MAX_VALUE : room() / size);
        long warmUp = Math.max(count, WARM_STREAM_BYTES / size);
        // A warm-up of writes has no more room than this.
        crail(
            full,
            reads
                ? "-t readSequentialAsync -f /data.dat" + depth + sized(size, count, warmUp)
                : "-t writeAsync" + depth + writes(size, count, Math.min(warmUp, room() / size)),
            size);
        for (String initiator : initiators) {
          goal(shown(full, initiator), full, "MB/s", 0.9);
        }
      }
    }
  }

  /** Operations of some seconds at a rate, within limits. */
  private long count(String name, double rate, long least, long most) {
    return counts.computeIfAbsent(
        name, key -> Math.min(most, Math.max(least, (long) rate * SECONDS)));
  }

  /** How many bytes a file may have beside its warm-up, the file before it, and what rests. */
  private long room() {
    return (bytes - FILE_BYTES) / 5;
  }

  private static String sized(int size, long count, long warmUp) {
    return " -s " + size + " -k " + count + " -w " + warmUp;
  }

  private static String writes(int size, long count, long warmUp) {
    return " -f /written.dat --touch false" + sized(size, count, warmUp);
  }

  /** With one in flight the latency matters, and with many the throughput. */
  private void compare(String name, int depth) {
    for (String initiator : initiators) {
      goal(shown(name, initiator), name, depth == 1 ? "us p50" : "/s", depth == 1 ? 1.2 : 0.9);
    }
  }

  private void goal(String crailName, String name, String unit, double factor) {
    // Goals are the medians of all runs, so the last run adds them.
    if (peer != null && samples.values(crailName, unit).size() == runs) {
      goals.add(crailName, peer.name() + " " + name, unit, factor);
    }
  }

  /** Runs the peer, and returns its operations in a second, or a guess without one. */
  private double peer(String name, FlashPeer.Load load, int size)
      throws IOException, InterruptedException {
    if (peer == null) {
      return 10_000;
    }
    FlashPeer.Result result = peer.run(load);
    String full = peer.name() + " " + name;
    add(full, peer.shown(load), size, result.operations(), result.medianMicros());
    return result.operations();
  }

  private String shown(String name, String initiator) {
    return initiators.size() == 1 ? name : name + ", " + initiator;
  }

  private void crail(String name, String arguments, int size)
      throws IOException, InterruptedException {
    for (String initiator : initiators) {
      String chosen =
          initiator.equals("java") ? "" : " --set crail.storage.nvmf.initiator=" + initiator;
      crail(flash, shown(name, initiator), arguments + chosen, size);
    }
  }

  private void crail(LabCluster cluster, String name, String arguments, int size)
      throws IOException, InterruptedException {
    String result = patiently(cluster.iobench(arguments, false));
    add(
        name,
        "crail iobench " + arguments,
        size,
        Samples.number(result, "throughput"),
        Samples.number(result, "p50"));
  }

  /** The space of files that were replaced is there again after a while. */
  private String patiently(List<String> command) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + REST_NANOS;
    while (true) {
      try {
        return programs.run(command);
      } catch (IOException e) {
        if (!e.getMessage().contains("no space") || System.nanoTime() - deadline > 0) {
          throw e;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private void measureLoad() throws IOException, InterruptedException {
    for (int depth : VALUES_IN_FLIGHT) {
      for (LabCluster cluster : List.of(memory, flash)) {
        String load = " -s " + VALUE + " -n " + VALUES + " -b " + depth;
        long gets = Math.min(20_000L * depth, 200_000);
        String get = "-t getKeyValue -f /got -k " + gets + " -w " + gets + load;
        crail(cluster, loaded("get", cluster, depth), get, 0);
        String put = "-t putKeyValue -f /put -k " + VALUES + " -w " + VALUES + load;
        crail(cluster, loaded("put", cluster, depth), put, 0);
      }
    }
  }

  private String loaded(String what, LabCluster cluster, int depth) {
    return what + " 8 KiB, " + (cluster == flash ? "flash, " : "DRAM, ") + depth + " in flight";
  }

  private void plot(String what, String title, Path file) throws IOException {
    List<Line> lines = new ArrayList<>();
    for (LabCluster cluster : List.of(memory, flash)) {
      Map<Long, Spread> points = new LinkedHashMap<>();
      for (int depth : VALUES_IN_FLIGHT) {
        String name = loaded(what, cluster, depth);
        double[] micros =
            samples.values(name, "us p50").stream().mapToDouble(Double::doubleValue).toArray();
        points.put((long) samples.median(name, "/s"), Spread.ofAll(micros));
      }
      lines.add(new Line(cluster == flash ? "flash" : "DRAM", points));
    }
    Files.createDirectories(file.toAbsolutePath().getParent());
    Chart.overLoad(title, "median latency [µs]", lines).write(file);
  }

  /** Adds a stream's bandwidth when a size is given, or else operations and their latency. */
  private void add(String name, String command, int size, double operations, double micros) {
    if (size > 0) {
      samples.add(name, "MB/s", command, operations * size / 1e6);
    } else {
      samples.add(name, "/s", command, operations);
      samples.add(name, "us p50", command, micros);
    }
  }
}
