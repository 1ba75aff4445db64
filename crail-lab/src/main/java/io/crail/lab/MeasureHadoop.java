/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Hdfs;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures Crail through Hadoop's interface, Crail itself, and HDFS, alternating. Prints tables in
 * Markdown.
 *
 * <pre>
 * MeasureHadoop launcher hdfs-jars hadoop-version [--runs 3] [--out file]
 * </pre>
 *
 * {@code bin/measure --hadoop} runs it.
 */
public final class MeasureHadoop {
  private static final long DATANODE_BYTES = 3L << 30;
  private static final int QUIET_MILLIS = 1000;

  /** The least allowed rate through the adapter, as a fraction of the rate without it. */
  private static final double LEAST_RATE = 0.85;

  private static final double MOST_LATENCY = 1.15;

  private static final String HDFS_SETTING = " --set " + Hdfs.SETTING;

  /** How Crail moves bytes, for figures that move some. */
  private static final List<String> MOVED = List.of(", Crail mapped", ", Crail TCP");

  /** For figures that move no bytes. */
  private static final List<String> ASKED = List.of(", Crail");

  // Several experiments in one process. In the first ones the code is not compiled yet.
  private static final String STREAM = " -s 1048576 -k 512 -e 8 -o true -f /stream.dat";
  private static final String RANDOM = " -s 4096 -f /stream.dat";

  private final Programs programs;
  private final LabCluster cluster;
  private final Hdfs hdfs;
  private final int runs;
  private final Samples samples = new Samples(line -> System.err.println("  " + line));
  private final Goals adapter = new Goals(samples);
  private final Goals peer = new Goals(samples);

  private MeasureHadoop(Programs programs, LabCluster cluster, Hdfs hdfs, int runs) {
    this.programs = programs;
    this.cluster = cluster;
    this.hdfs = hdfs;
    this.runs = runs;
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Measurement.run(
        args,
        (programs, regions) -> {
          LabCluster cluster = LabCluster.start(programs, args[0], regions, DATANODE_BYTES);
          Hdfs hdfs = Hdfs.start(programs, Path.of(args[1]), regions);
          int runs = Measurement.runs(args);
          return new MeasureHadoop(programs, cluster, hdfs, runs).report(args[0], args[2]);
        });
  }

  private String report(String launcher, String hadoop) throws IOException, InterruptedException {
    Instant begin = Instant.now();
    double before = Machine.busyProcessors(QUIET_MILLIS);
    prepare();
    for (int run = 1; run <= runs; run++) {
      System.err.println("measuring, run " + run + " of " + runs + " ...");
      measureAdapter("mapped", true);
      measureAdapter("TCP", false);
      measurePeer();
    }
    compareWithIobench();
    compareWithHdfs();
    String machine =
        String.format(
            Locale.ROOT,
            "%s, %s, %s, Hadoop %s. Other processes: %.2f of a processor before, %.2f after."
                + " %d runs, %d s.",
            begin.truncatedTo(ChronoUnit.MINUTES),
            Machine.describe(),
            LabCluster.version(programs, launcher),
            hadoop,
            before,
            Machine.busyProcessors(QUIET_MILLIS),
            runs,
            Duration.between(begin, Instant.now()).toSeconds());
    String settings =
        "Settings: defaults of both, threads of Crail sleep when there is nothing to do; for HDFS"
            + " one copy of a block, no short-circuit reads (its default, and they need a native"
            + " library), no wait for a disk at its edit log (as its test cluster has it). All bytes"
            + " of both are in /dev/shm.";
    return String.join(
        "\n", machine + "\n", settings + "\n", adapter.table(), peer.table(), samples.table());
  }

  private void prepare() throws IOException, InterruptedException {
    crail("iobench", "-t write -s 1048576 -k 512 --touch false -f /stream.dat", true);
    crail("iobench", "-t write -s 1024 -k 1 --touch false -f /key.dat", true);
    hdfs("-t writeSequentialHeap -s 1024 -k 1 --touch false -f ", "/key.dat");
  }

  /** Pairs of the same load, with and without Hadoop's interface. */
  private void measureAdapter(String how, boolean mapped) throws IOException, InterruptedException {
    stream("write 1 MiB, iobench, " + how, "iobench", "-t write" + STREAM, mapped);
    stream(
        "write 1 MiB, Hadoop, Heap, " + how,
        "hdfsbench",
        "-t writeSequentialHeap" + STREAM,
        mapped);
    stream("read 1 MiB, iobench, " + how, "iobench", "-t readSequential" + STREAM, mapped);
    for (String memory : List.of("Heap", "Direct")) {
      String name = "read 1 MiB, Hadoop, " + memory + ", " + how;
      stream(name, "hdfsbench", "-t readSequential" + memory + STREAM, mapped);
    }
    String random = "read 4 KiB at random, ";
    // Over mapped memory an operation takes a microsecond, so it needs more operations until the
    // code is compiled.
    String count = mapped ? " -k 200000 -w 500000" : " -k 20000 -w 20000";
    String direct = "-t readRandom -m false" + RANDOM + count;
    latency(random + "iobench, " + how, "iobench", direct, mapped);
    latency(
        random + "Hadoop, Direct, " + how,
        "hdfsbench",
        "-t readRandomDirect" + RANDOM + count,
        mapped);
    latency(
        random + "iobench, buffered, " + how, "iobench", "-t readRandom" + RANDOM + count, mapped);
    latency(
        random + "Hadoop, Heap, " + how, "hdfsbench", "-t readRandomHeap" + RANDOM + count, mapped);
    String key = " -s 1024 -k 10000 -w 30000 -f /key.dat";
    latency("open and read 1 KiB, iobench, " + how, "iobench", "-t getKey" + key, mapped);
    latency("open and read 1 KiB, Hadoop, " + how, "hdfsbench", "-t keyGet" + key, mapped);
    if (mapped) {
      String file = "-t getFile -k 20000 -w 20000 -f /key.dat";
      latency("status of a file, iobench", "iobench", file, true);
      latency("status of a file, Hadoop", "hdfsbench", file, true);
    }
  }

  private void compareWithIobench() {
    for (String how : List.of("mapped", "TCP")) {
      adapter.add(
          "write 1 MiB, Hadoop, Heap, " + how, "write 1 MiB, iobench, " + how, "MB/s", LEAST_RATE);
      for (String memory : List.of("Heap", "Direct")) {
        adapter.add(
            "read 1 MiB, Hadoop, " + memory + ", " + how,
            "read 1 MiB, iobench, " + how,
            "MB/s",
            LEAST_RATE);
      }
      String random = "read 4 KiB at random, ";
      compareLatency(random + "Hadoop, Direct, " + how, random + "iobench, " + how);
      compareLatency(random + "Hadoop, Heap, " + how, random + "iobench, buffered, " + how);
      compareLatency("open and read 1 KiB, Hadoop, " + how, "open and read 1 KiB, iobench, " + how);
    }
    compareLatency("status of a file, Hadoop", "status of a file, iobench");
  }

  private void compareLatency(String hadoop, String iobench) {
    adapter.add(hadoop, iobench, "us p50", MOST_LATENCY);
  }

  /** The same commands for HDFS and for Crail. */
  private void measurePeer() throws IOException, InterruptedException {
    String stream = " -s 1048576 -k 256 -e 3 -o true -f ";
    String key = "-t keyGet -s 1024 -k 3000 -w 3000 -f ";
    measurePeer("write 256 MiB", "MB/s", "-t writeSequentialHeap" + stream, "/peer.dat", MOVED);
    measurePeer("read 256 MiB", "MB/s", "-t readSequentialHeap" + stream, "/peer.dat", MOVED);
    measurePeer("file of 1 KiB", "us p50", key, "/key.dat", MOVED);
    measurePeer("status", "us p50", "-t getFile -k 10000 -w 10000 -f ", "/key.dat", ASKED);
    measurePeer("create, close", "us p50", "-t createFile -k 1000 -w 1000 -f ", "/created", ASKED);
  }

  private void measurePeer(String name, String unit, String load, String path, List<String> ways)
      throws IOException, InterruptedException {
    String shown = LabCluster.shown("hdfsbench", load, true);
    add(name + ", HDFS", unit, shown + "hdfs://..." + path + HDFS_SETTING, hdfs(load, path));
    for (String way : ways) {
      boolean mapped = !way.endsWith("TCP");
      String text = crail("hdfsbench", load + path, mapped);
      add(name + way, unit, LabCluster.shown("hdfsbench", load + path, mapped), text);
    }
  }

  private void compareWithHdfs() {
    for (String way : MOVED) {
      peer.add("write 256 MiB" + way, "write 256 MiB, HDFS", "MB/s", 1);
      peer.add("read 256 MiB" + way, "read 256 MiB, HDFS", "MB/s", 1);
      peer.add("file of 1 KiB" + way, "file of 1 KiB, HDFS", "us p50", 1);
    }
    for (String way : ASKED) {
      peer.add("status" + way, "status, HDFS", "us p50", 1);
      peer.add("create, close" + way, "create, close, HDFS", "us p50", 1);
    }
  }

  private void stream(String name, String command, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String text = crail(command, arguments, mapped);
    add(name, "MB/s", LabCluster.shown(command, arguments, mapped), text);
  }

  private void latency(String name, String command, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String text = crail(command, arguments, mapped);
    add(name, "us p50", LabCluster.shown(command, arguments, mapped), text);
  }

  private void add(String name, String unit, String command, String text) {
    if (unit.equals("MB/s")) {
      String summary = text.substring(text.indexOf("throughput MB/s"));
      samples.add(name, unit, command, Samples.number(summary, "median"));
    } else {
      samples.add(name, unit, command, Samples.number(text, "p50"));
      samples.add(name, "us p99", command, Samples.number(text, "p99"));
    }
  }

  private String crail(String command, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    return programs.run(cluster.bench(command, arguments, mapped));
  }

  private String hdfs(String load, String path) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(cluster.crail("hdfsbench"));
    command.addAll(List.of((load + hdfs.uri(path) + HDFS_SETTING).split(" ")));
    return programs.run(command);
  }
}
