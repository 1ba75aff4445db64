/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Fio;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures Crail on flash, and fio on the kernel's host of NVMe, alternating, at one namespace of
 * one target. Prints tables in Markdown.
 *
 * <pre>
 * MeasureFlash launcher server-address target device [--runs 3] [--out file]
 * </pre>
 *
 * The target is given as for {@code crail.storage.nvmf.targets}; the device is the same namespace
 * as the kernel sees it. Crail has its first 192 MiB, and fio the 64 MiB after that. Namenode and
 * datanode run on processor 0, clients and fio on processor 1. {@code bin/measure --flash} runs it
 * on the test machine.
 */
public final class MeasureFlash {
  private static final long MIB = 1 << 20;
  private static final long CRAIL_BYTES = 191 * MIB;
  private static final long FILE_BYTES = 64 * MIB;
  private static final long START_NANOS = 400_000_000_000L;
  private static final int[] DEPTHS = {1, 4, 32};
  private static final int[] STREAMED = {64 << 10, 1 << 20};
  private static final int STREAM_DEPTH = 8;
  private static final int POLL_MILLIS = 200;

  private final Programs programs;
  private final String crail;
  private final String server;
  private final String target;
  private final Fio fio;
  private final int runs;
  private final Samples samples = new Samples(line -> System.err.println("  " + line));
  private final Goals goals = new Goals(samples);
  private String namenode;

  private MeasureFlash(
      Programs programs, String crail, String server, String target, String device, int runs) {
    this.programs = programs;
    this.crail = crail;
    this.server = server;
    this.target = target;
    this.fio = new Fio(programs, 1, device, CRAIL_BYTES + MIB, FILE_BYTES);
    this.runs = runs;
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Measurement.run(
        args,
        (programs, regions) ->
            new MeasureFlash(programs, args[0], args[1], args[2], args[3], Measurement.runs(args))
                .report());
  }

  private String report() throws IOException, InterruptedException {
    Instant begin = Instant.now();
    String text = begin.truncatedTo(ChronoUnit.MINUTES) + ", " + Machine.describe();
    text += ", " + LabCluster.version(programs, crail);
    start();
    for (int run = 1; run <= runs; run++) {
      System.err.println("measuring, run " + run + " of " + runs + " ...");
      measureReads();
      measureWrites();
      measureStreams();
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

  private void start() throws IOException, InterruptedException {
    namenode = server + ":" + LabCluster.freePort();
    programs.start("namenode", crail(0, "namenode", List.of()));
    programs.start(
        "datanode",
        crail(
            0,
            "datanode",
            List.of("-t", "nvmf", "--", "-t", target, "-s", String.valueOf(CRAIL_BYTES))));
    long deadline = System.nanoTime() + START_NANOS;
    while (true) {
      try {
        iobench("-t write -s 1048576 -k " + FILE_BYTES / MIB + " -w 0 -f /data.dat");
        return;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0 || programs.isClosed()) {
          throw e;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private void compare() {
    for (int depth : DEPTHS) {
      compare("read, " + name(depth), depth);
      compare("write, " + name(depth), depth);
    }
    for (int size : STREAMED) {
      for (String name : List.of("read, ", "write, ")) {
        String stream = name + "stream of " + Samples.bytes(size);
        goals.add(stream, "fio " + stream, "MB/s", 0.9);
      }
    }
  }

  private void compare(String name, int depth) {
    // With one in flight the latency matters, and with many the throughput.
    goals.add(name, "fio " + name, depth == 1 ? "us p50" : "/s", depth == 1 ? 1.2 : 0.9);
  }

  private static String name(int depth) {
    return "4 KiB, " + depth + " in flight";
  }

  private List<String> crail(int processor, String command, List<String> arguments) {
    List<String> all = new ArrayList<>();
    all.addAll(List.of("taskset", "-c", String.valueOf(processor)));
    all.addAll(List.of(crail, command));
    for (String setting :
        List.of(
            "crail.namenode.address=crail://" + namenode,
            "crail.storage.types=nvmf",
            // So that the space of files that were replaced is there again soon.
            "crail.storage.nvmf.keepalive=4s",
            "crail.lease=10s",
            // The test machine is emulated, and a JVM there slow until it is warm.
            "crail.storage.nvmf.connecttimeout=60s",
            "crail.rpctimeout=60s",
            "crail.datatimeout=60s")) {
      all.addAll(List.of("--set", setting));
    }
    all.addAll(arguments);
    return all;
  }

  private String iobench(String arguments) throws IOException, InterruptedException {
    return programs.run(crail(1, "iobench", Arrays.asList(arguments.split(" "))));
  }

  private void measureReads() throws IOException, InterruptedException {
    for (int depth : DEPTHS) {
      fio("read, " + name(depth), "--rw=randread --bs=4k", depth, 0);
      // Code is compiled late in an emulated machine.
      int count = depth == 1 ? 5_000 : 30_000;
      int warmUp = depth == 1 ? 20_000 : 100_000;
      String rest = " -s 4096 -k " + count + " -w " + warmUp + " -f /data.dat";
      crail(
          "read, " + name(depth),
          depth == 1 ? "-t readRandom -m false" + rest : "-t readRandomAsync -b " + depth + rest,
          0);
    }
  }

  private void measureWrites() throws IOException, InterruptedException {
    for (int depth : DEPTHS) {
      fio("write, " + name(depth), "--rw=write --bs=4k", depth, 0);
      // The bytes of the warm-up stay in the store beside the measured ones.
      String rest = " -s 4096 -k 2000 -w 4000 -f /written.dat";
      crail(
          "write, " + name(depth),
          depth == 1 ? "-t write -m false" + rest : "-t writeAsync -b " + depth + rest,
          0);
    }
  }

  private void measureStreams() throws IOException, InterruptedException {
    for (int size : STREAMED) {
      String name = "stream of " + Samples.bytes(size);
      String block = " --bs=" + size;
      int count = (int) (32 * MIB / size);
      String rest = " -s " + size + " -k " + count + " -w " + count + " -b " + STREAM_DEPTH;
      fio("read, " + name, "--rw=read" + block, STREAM_DEPTH, size);
      crail("read, " + name, "-t readSequentialAsync -f /data.dat" + rest, size);
      fio("write, " + name, "--rw=write" + block, STREAM_DEPTH, size);
      crail("write, " + name, "-t writeAsync -f /streamed.dat" + rest, size);
    }
  }

  private void fio(String name, String arguments, int depth, int size)
      throws IOException, InterruptedException {
    String all = arguments + " --iodepth=" + depth;
    Fio.Result result = fio.run(all);
    add("fio " + name, Fio.shown(all), size, result.operations(), result.medianMicros());
  }

  private void crail(String name, String arguments, int size)
      throws IOException, InterruptedException {
    String result = iobench(arguments);
    add(
        name,
        "crail iobench " + arguments,
        size,
        Samples.number(result, "throughput"),
        Samples.number(result, "p50"));
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
