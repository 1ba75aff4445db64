/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.PerfTest;
import io.crail.lab.programs.Programs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Measures Crail over RDMA and perftest, alternating. Prints tables in Markdown.
 *
 * <pre>
 * MeasureRdma launcher server-address server-device client-device [--runs 3] [--out file]
 *     [--only lookup,read,write,stream]
 * </pre>
 *
 * Namenode and datanode run on processor 0 and use the server's device. Clients run on processor 1
 * and use the client's device. The two ends of perftest are placed in the same way. {@code
 * bin/measure --rdma} runs it on the test machine.
 */
public final class MeasureRdma {
  private static final int DEPTH = 128;
  private static final long REGION_BYTES = 256L << 20;
  private static final long START_NANOS = 120_000_000_000L;
  private static final int[] SIZES = {4, 4 << 10, 64 << 10, 1 << 20};
  private static final int[] LOOKED_UP = {4, 64 << 10};
  private static final List<String> SECTIONS = List.of("lookup", "read", "write", "stream");

  /** Longer than a round trip on the test machine, since perftest never sleeps. */
  private static final String SPIN_MICROS = "1000";

  /**
   * Lookups and small transfers before the measured ones. HotSpot can compile only on the processor
   * of the clients, and needs some ten seconds.
   */
  private static final int WARM_UP = 100_000;

  /**
   * Enough for HotSpot, which counts calls. With fewer, it would compile during the measurement.
   */
  private static final int WARM_UP_64K = 20_000;

  /** Such a transfer takes so long that the code's part does not matter. */
  private static final int WARM_UP_1M = 100;

  private static final long STREAM_WARM_UP_BYTES = 200L << 20;
  private static final long WRITE_WARM_UP_BYTES = 512L << 20;

  private static final int POLL_MILLIS = 200;

  private final Programs programs;
  private final String crail;
  private final String server;
  private final PerfTest perfTest;
  private final int runs;
  private final Set<String> sections;
  private final Samples samples = new Samples(line -> System.err.println("  " + line));
  private final Goals goals = new Goals(samples);
  private String namenode;
  private Process datanode;

  private MeasureRdma(
      Programs programs,
      String crail,
      String server,
      PerfTest perfTest,
      int runs,
      Set<String> sections) {
    this.programs = programs;
    this.crail = crail;
    this.server = server;
    this.perfTest = perfTest;
    this.runs = runs;
    this.sections = sections;
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Set<String> sections =
        Set.of(Measurement.option(args, "--only", String.join(",", SECTIONS)).split(","));
    if (!SECTIONS.containsAll(sections)) {
      System.err.println("measure: --only takes some of " + SECTIONS + ", not " + sections);
      System.exit(2);
    }
    Measurement.run(
        args,
        (programs, regions) -> {
          PerfTest perfTest =
              new PerfTest(
                  programs,
                  new PerfTest.Side(0, args[2], args[1]),
                  new PerfTest.Side(1, args[3], ""));
          int runs = Measurement.runs(args);
          return new MeasureRdma(programs, args[0], args[1], perfTest, runs, sections)
              .report(regions);
        });
  }

  private String report(Path regions) throws IOException, InterruptedException {
    Instant begin = Instant.now();
    String text = begin.truncatedTo(ChronoUnit.MINUTES) + ", " + Machine.describe();
    text += ", " + LabCluster.version(programs, crail);
    start(regions);
    for (int run = 1; run <= runs; run++) {
      System.err.println("measuring, run " + run + " of " + runs + " ...");
      if (sections.contains("lookup")) {
        measureLookups();
      }
      if (sections.contains("read")) {
        measureReads();
      }
      if (sections.contains("write")) {
        measureWrites();
      }
      if (sections.contains("stream")) {
        measureStreams();
      }
    }
    compare();
    text +=
        String.format(
            Locale.ROOT,
            ". %d runs, %d s.%n%n",
            runs,
            Duration.between(begin, Instant.now()).toSeconds());
    return text + goals.table() + '\n' + samples.table();
  }

  private void start(Path regions) throws IOException, InterruptedException {
    namenode = server + ":" + LabCluster.freePort();
    programs.start("namenode", crail(0, "namenode", List.of()));
    datanode =
        programs.start(
            "datanode",
            crail(
                0,
                "datanode",
                List.of("-t", "rdma", "--", "-p", "0", "-d", regions.toString(), "-s", "1g")));
    long deadline = System.nanoTime() + START_NANOS;
    while (true) {
      try {
        iobench("-t write -s 1048576 -k " + (REGION_BYTES >> 20) + " -w 0 -f /data.dat");
        iobench("-t write -s 4096 -k 1 -w 0 -f /ready.dat");
        return;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0 || programs.isClosed()) {
          throw e;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private List<String> crail(int processor, String command, List<String> arguments) {
    List<String> all = new ArrayList<>();
    all.addAll(List.of("taskset", "-c", String.valueOf(processor)));
    all.addAll(List.of(crail, command));
    for (String setting :
        List.of(
            "crail.namenode.address=crail://" + namenode,
            "crail.namenode.rpctype=darpc",
            "crail.storage.types=rdma",
            "crail.storage.rdma.interface=" + server,
            "crail.storage.localmap=false",
            "crail.spintime=" + SPIN_MICROS)) {
      all.addAll(List.of("--set", setting));
    }
    all.addAll(arguments);
    return all;
  }

  private String iobench(String arguments) throws IOException, InterruptedException {
    return programs.run(crail(1, "iobench", Arrays.asList(arguments.split(" "))));
  }

  private static String shown(String arguments) {
    return "crail iobench " + arguments;
  }

  private void measureLookups() throws IOException, InterruptedException {
    // Messages of one byte, 32 in flight.
    String messages = "-s 1 -Q 1 -r 32 -t 32 -n 20000";
    PerfTest.Result sends = perfTest.run("ib_send_bw", messages);
    samples.add("ib_send_bw, 1 B", "/s", PerfTest.shown("ib_send_bw", messages), sends.messages());
    String deep = "-t getFileAsync -f /ready.dat -k 100000 -b " + DEPTH + " -w " + 2 * WARM_UP;
    samples.add(
        "getFile, 128 in flight", "/s", shown(deep), Samples.number(iobench(deep), "throughput"));
    String latency = "-s 64 -n 3000";
    samples.add(
        "ib_send_lat, 64 B",
        "us p50",
        PerfTest.shown("ib_send_lat", latency),
        perfTest.run("ib_send_lat", latency).typicalMicros());
    String one = "-t getFile -f /ready.dat -k 10000 -w " + WARM_UP;
    samples.add(
        "getFile, one in flight", "us p50", shown(one), Samples.number(iobench(one), "p50"));
    String asleep = one + " --set crail.spintime=0";
    samples.add(
        "getFile, one in flight, clients asleep",
        "us p50",
        shown(asleep),
        Samples.number(iobench(asleep), "p50"));
  }

  private void measureReads() throws IOException, InterruptedException {
    for (int size : SIZES) {
      String name = Samples.bytes(size);
      perfTestLatency("ib_read_lat", size);
      String rest = " -s " + size + " -k " + count(size) + " -w " + warmUp(size) + " -f /data.dat";
      latency("read, " + name, "-t readRandom -m false" + rest);
      if (Arrays.stream(LOOKED_UP).anyMatch(each -> each == size)) {
        latency("lookup and read, " + name, "-t getKey" + rest);
      }
      // Before and after, since the machine is sometimes faster and sometimes slower.
      perfTestLatency("ib_read_lat", size);
    }
  }

  private void measureWrites() throws IOException, InterruptedException {
    for (int size : SIZES) {
      perfTestLatency("ib_write_lat", size);
      // The bytes of the warm-up stay in the store beside the measured ones.
      long warmUp = Math.min(warmUp(size), WRITE_WARM_UP_BYTES / size);
      String rest = " -s " + size + " -k " + count(size) + " -w " + warmUp;
      latency("write, " + Samples.bytes(size), "-t write -m false" + rest + " -f /written.dat");
      perfTestLatency("ib_write_lat", size);
    }
  }

  private void perfTestLatency(String program, int size) throws IOException, InterruptedException {
    String arguments = "-s " + size + " -n " + count(size);
    samples.add(
        program + ", " + Samples.bytes(size),
        "us p50",
        PerfTest.shown(program, arguments),
        perfTest.run(program, arguments).typicalMicros());
  }

  private void latency(String name, String arguments) throws IOException, InterruptedException {
    samples.add(name, "us p50", shown(arguments), Samples.number(iobench(arguments), "p50"));
  }

  private static int count(int size) {
    return size >= 1 << 20 ? 100 : size >= 64 << 10 ? 500 : 5000;
  }

  private static int warmUp(int size) {
    return size >= 1 << 20 ? WARM_UP_1M : size >= 64 << 10 ? WARM_UP_64K : WARM_UP;
  }

  private void measureStreams() throws IOException, InterruptedException {
    for (int size : new int[] {64 << 10, 1 << 20}) {
      String name = Samples.bytes(size);
      int count = (int) (REGION_BYTES / 4 / size);
      String test = "-s " + size + " -n " + Math.max(count, 100);
      samples.add(
          "ib_read_bw, " + name,
          "MB/s",
          PerfTest.shown("ib_read_bw", test),
          perfTest.run("ib_read_bw", test).megabytes());
      int warmUp = (int) (STREAM_WARM_UP_BYTES / size);
      String rest = " -s " + size + " -k " + count + " -w " + warmUp + " -f /stream.dat";
      double before = Machine.processorSeconds(datanode.pid());
      stream("write, " + name + ", stream", "-t writeAsync -b 8" + rest, size);
      stream("read, " + name + ", stream", "-t readSequentialAsync -b 8" + rest, size);
      stream("read, " + name + ", buffered", "-t readSequential" + rest, size);
      double seconds = Machine.processorSeconds(datanode.pid()) - before;
      // All of the file is touched once, before the warm-up.
      double gibibytes = 3.0 * (2 * count + warmUp) * size / (1L << 30);
      samples.add(
          "processor time of the datanode, streams of " + name,
          "s/GiB",
          "/proc/<pid>/stat",
          seconds / gibibytes);
    }
  }

  private void stream(String name, String arguments, int size)
      throws IOException, InterruptedException {
    double operations = Samples.number(iobench(arguments), "throughput");
    samples.add(name, "MB/s", shown(arguments), operations * size / 1e6);
  }

  private void compare() {
    Goals.Limit roundTrip = new Goals.Limit("ib_send_lat, 64 B", 2);
    if (sections.contains("lookup")) {
      goals.add("getFile, 128 in flight", "ib_send_bw, 1 B", "/s", 0.9);
      goals.add("getFile, one in flight", "us p50", 1.4, roundTrip);
    }
    if (sections.contains("read")) {
      compareReads(roundTrip);
    }
    if (sections.contains("write")) {
      for (int size : SIZES) {
        // Both directions, since a write has ended only when it is acknowledged.
        goals.add(
            "write, " + Samples.bytes(size),
            "us p50",
            1.3,
            new Goals.Limit("ib_write_lat, " + Samples.bytes(size), 2));
      }
    }
    if (sections.contains("stream")) {
      for (String name : new String[] {"64 KiB", "1 MiB"}) {
        for (String stream :
            new String[] {"read, %s, stream", "read, %s, buffered", "write, %s, stream"}) {
          goals.add(String.format(Locale.ROOT, stream, name), "ib_read_bw, " + name, "MB/s", 0.8);
        }
      }
    }
  }

  private void compareReads(Goals.Limit roundTrip) {
    for (int size : SIZES) {
      goals.add(
          "read, " + Samples.bytes(size), "ib_read_lat, " + Samples.bytes(size), "us p50", 1.3);
    }
    if (sections.contains("lookup")) {
      for (int size : LOOKED_UP) {
        goals.add(
            "lookup and read, " + Samples.bytes(size),
            "us p50",
            1.3,
            roundTrip,
            new Goals.Limit("ib_read_lat, " + Samples.bytes(size), 1));
      }
    }
  }
}
