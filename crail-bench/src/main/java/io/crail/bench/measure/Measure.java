/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import io.crail.protocol.Lookup;
import io.crail.rpc.Frame;
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
import java.util.TreeSet;

/**
 * Measures Crail beside its limits and a peer, alternating, and prints tables in Markdown.
 *
 * <pre>
 * Measure launcher [--runs 3] [--only lookup,latency,tcp,mapped,small] [--out file]
 * </pre>
 *
 * {@code bin/measure} runs it.
 */
public final class Measure {
  private static final Set<String> SECTIONS =
      new TreeSet<>(List.of("lookup", "latency", "tcp", "mapped", "small"));

  private static final List<String> STREAMS =
      List.of(
          "write 1 MiB",
          "write 1 MiB unbuffered",
          "writeAsync 1 MiB",
          "readSequential 1 MiB",
          "readSequential 1 MiB unbuffered",
          "readSequentialAsync 1 MiB");

  private static final int NAMES = 1_000_000;
  private static final int DEPTH = 128;
  private static final long LOOKUPS = 5_000_000;
  private static final String DIRECTORY = "/names";
  private static final int STREAM_PIECE = 1 << 20;
  private static final int STREAM_PIECES = 1024;
  private static final long DATANODE_BYTES = 4L << 30;
  private static final int REDIS_VALUE = 64;
  private static final int QUIET_MILLIS = 1000;

  /** Bytes of an answer to a lookup of an empty file. */
  private static final int ANSWER = Frame.HEADER_LENGTH + Lookup.Response.LAYOUT.fixedLength();

  private final Programs programs;
  private final Cluster cluster;
  private final int runs;
  private final Samples samples = new Samples();
  private final Goals goals = new Goals(samples);

  private Measure(Programs programs, Cluster cluster, int runs) {
    this.programs = programs;
    this.cluster = cluster;
    this.runs = runs;
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    String launcher = args[0];
    int runs = Measurement.runs(args);
    Set<String> only = new TreeSet<>(SECTIONS);
    if (Arrays.asList(args).contains("--only")) {
      only = new TreeSet<>(List.of(Measurement.option(args, "--only", "").split(",")));
      if (!SECTIONS.containsAll(only)) {
        System.err.println("measure: --only takes some of " + SECTIONS + ", not " + only);
        System.exit(2);
      }
    }
    Set<String> sections = only;
    Measurement.run(
        args,
        (programs, regions) -> {
          Cluster cluster = Cluster.start(programs, launcher, regions, DATANODE_BYTES);
          return new Measure(programs, cluster, runs).report(launcher, sections, regions);
        });
  }

  private String report(String launcher, Set<String> only, Path regions)
      throws IOException, InterruptedException {
    Instant begin = Instant.now();
    StringBuilder report = new StringBuilder();
    report
        .append(begin.truncatedTo(ChronoUnit.MINUTES))
        .append(", ")
        .append(Machine.describe())
        .append(", ")
        .append(versions(launcher))
        .append(
            String.format(
                Locale.ROOT,
                ". Other processes: %.2f of a processor before",
                Machine.busyProcessors(QUIET_MILLIS)));
    for (String section : only) {
      System.err.println("measuring " + section + " ...");
      section(section, regions);
    }
    report.append(
        String.format(
            Locale.ROOT,
            ", %.2f after. %d runs, %d s.%n%n",
            Machine.busyProcessors(QUIET_MILLIS),
            runs,
            Duration.between(begin, Instant.now()).toSeconds()));
    return report.append(goals.table()).append('\n').append(samples.table()).toString();
  }

  private String versions(String launcher) throws IOException, InterruptedException {
    String crail = Cluster.version(programs, launcher);
    String redis = programs.run(List.of("redis-server", "--version")).split(" ")[2];
    String iperf = programs.run(List.of("iperf3", "--version")).split("\n")[0];
    return crail + ", redis " + redis.replace("v=", "") + ", " + iperf;
  }

  private void section(String name, Path regions) throws IOException, InterruptedException {
    switch (name) {
      case "lookup" -> measureLookups();
      case "latency" -> measureLatency();
      case "tcp" -> measureTcpStreams();
      case "mapped" -> measureMappedStreams(regions);
      case "small" -> measureSmallOperations();
      default -> throw new AssertionError(name);
    }
  }

  /** Random lookups with many in flight, beside Redis and bare messages of the same sizes. */
  private void measureLookups() throws IOException, InterruptedException {
    Redis redis = Redis.start(programs, Cluster.freePort(), NAMES, REDIS_VALUE);
    String random =
        "-t getMultiFileAsync -f " + DIRECTORY + " -n " + NAMES + " -k " + LOOKUPS + " -b " + DEPTH;
    String hot = "-t getFileAsync -f /ready.dat -k " + LOOKUPS + " -b " + DEPTH + " -w 1000000";
    int request = requestLength(DIRECTORY + "/f00000000");
    // Creates the names.
    programs.run(cluster.iobench(random.replace("-k " + LOOKUPS, "-k 1"), true));
    for (int run = 0; run < runs; run++) {
      List<String> get = redis.getCommand(NAMES, DEPTH, LOOKUPS);
      samples.add(
          "Redis GET, random keys, 128 in flight",
          "/s",
          String.join(" ", get),
          Redis.rate(programs.run(get)));
      iobenchRate("getMultiFileAsync, 128 in flight", random + " -w 2000000", true);
      iobenchRate("getFileAsync, 128 in flight", hot, true);
      echoRate("bare messages, blocking, 128 in flight", "blocking", request);
      echoRate("bare messages, selector, 128 in flight", "selector", request);
    }
    programs.stopLast();
    goals.add(
        "getMultiFileAsync, 128 in flight", "Redis GET, random keys, 128 in flight", "/s", 1.5);
  }

  /** One lookup in flight beside a bare ping-pong, on one processor and on two. */
  private void measureLatency() throws IOException, InterruptedException {
    String command = "-t getFile -f /ready.dat -k 50000 -w 100000";
    int request = requestLength("/ready.dat");
    for (String place : List.of("one processor", "two processors")) {
      String server = "0";
      String client = place.startsWith("one") ? "0" : "1";
      pin(server, cluster.namenodeProcess());
      String crail = "getFile, one in flight, " + place;
      String blocking = "ping-pong, blocking, " + place;
      String selector = "ping-pong, selector, " + place;
      for (int run = 0; run < runs; run++) {
        ping(blocking, "blocking", request, server, client);
        ping(selector, "selector", request, server, client);
        List<String> pinned = new ArrayList<>(List.of("taskset", "-c", client));
        pinned.addAll(cluster.iobench(command, true));
        String text = programs.run(pinned);
        String shown = "taskset -c " + client + " crail iobench " + command;
        samples.add(crail, "us p50", shown, Samples.number(text, "p50"));
        samples.add(crail, "us p99", shown, Samples.number(text, "p99"));
      }
      pin("0-" + (Runtime.getRuntime().availableProcessors() - 1), cluster.namenodeProcess());
      goals.add(crail, blocking, "us p50", 1.6);
      goals.add(crail, selector, "us p50", 1.6);
    }
  }

  /** Streams over TCP beside iperf3. */
  private void measureTcpStreams() throws IOException, InterruptedException {
    for (int run = 0; run < runs; run++) {
      int port = Cluster.freePort();
      programs.start(
          "iperf3", List.of("iperf3", "-s", "-B", "127.0.0.1", "-p", String.valueOf(port)));
      List<String> command =
          List.of(
              "iperf3",
              "-c",
              "127.0.0.1",
              "-p",
              String.valueOf(port),
              "-l",
              "1M",
              "-t",
              "3",
              "-f",
              "m");
      // The server needs a moment, and has no way to tell when it is there.
      Thread.sleep(300);
      String text = programs.run(command);
      programs.stopLast();
      samples.add(
          "iperf3, one stream", "MB/s", "iperf3 -c 127.0.0.1 -l 1M -t 3", iperfMegabytes(text));
      streams(false, "TCP");
    }
    for (String stream : STREAMS) {
      goals.add(stream + ", TCP", "iperf3, one stream", "MB/s", 0.7);
    }
  }

  /** Streams over mapped memory beside a memory copy. */
  private void measureMappedStreams(Path regions) throws IOException, InterruptedException {
    for (int run = 0; run < runs; run++) {
      long length = (long) STREAM_PIECE * STREAM_PIECES;
      String arguments = length + " " + STREAM_PIECE + " 3";
      String text =
          programs.run(
              java("io.crail.bench.limits.MemoryCopy", (regions + " " + arguments).split(" ")));
      samples.add(
          "memory copy, out of a mapping", "MB/s", "MemoryCopy", Samples.number(text, "read"));
      samples.add(
          "memory copy, into a mapping", "MB/s", "MemoryCopy", Samples.number(text, "write"));
      streams(true, "mapped");
    }
    for (String stream : STREAMS) {
      String limit =
          stream.startsWith("write")
              ? "memory copy, into a mapping"
              : "memory copy, out of a mapping";
      goals.add(stream + ", mapped", limit, "MB/s", 0.7);
    }
  }

  private void streams(boolean mapped, String how) throws IOException, InterruptedException {
    // Several experiments in one process: the median is of those after the code was compiled.
    String size = " -s " + STREAM_PIECE + " -k " + STREAM_PIECES + " -e 8 -o true -f /stream.dat";
    iobenchBytes("write 1 MiB, " + how, "-t write" + size, mapped);
    iobenchBytes("write 1 MiB unbuffered, " + how, "-t write -m false" + size, mapped);
    iobenchBytes("writeAsync 1 MiB, " + how, "-t writeAsync -b 8" + size, mapped);
    iobenchBytes("readSequential 1 MiB, " + how, "-t readSequential" + size, mapped);
    iobenchBytes(
        "readSequential 1 MiB unbuffered, " + how, "-t readSequential -m false" + size, mapped);
    iobenchBytes("readSequentialAsync 1 MiB, " + how, "-t readSequentialAsync -b 8" + size, mapped);
  }

  /** Small operations; their figures stand for themselves. */
  private void measureSmallOperations() throws IOException, InterruptedException {
    programs.run(cluster.iobench("-t write -s 1048576 -k 256 --touch false -f /random.dat", true));
    programs.run(cluster.iobench("-t write -s 65536 -k 1 --touch false -f /key.dat", true));
    for (int run = 0; run < runs; run++) {
      String create = "-t createFile -k 20000 -w 20000 -f /created";
      iobenchRate("createFile", create, true);
      iobenchLatency("createFile", create, true);
      for (boolean mapped : new boolean[] {false, true}) {
        String how = mapped ? "mapped" : "TCP";
        for (int size : new int[] {4, 1024, 65_536}) {
          String name = size < 1024 ? size + " B" : size / 1024 + " KiB";
          String rest = " -s " + size + " -k 20000 -w 20000";
          iobenchLatency(
              "readRandom " + name + " unbuffered, " + how,
              "-t readRandom -m false" + rest + " -f /random.dat",
              mapped);
          iobenchLatency(
              "getKey " + name + ", " + how, "-t getKey" + rest + " -f /key.dat", mapped);
        }
      }
    }
  }

  private void iobenchRate(String name, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String text = programs.run(cluster.iobench(arguments, mapped));
    samples.add(
        name,
        "/s",
        Cluster.shown("iobench", arguments, mapped),
        Samples.number(text, "throughput"));
  }

  private void iobenchLatency(String name, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String text = programs.run(cluster.iobench(arguments, mapped));
    String command = Cluster.shown("iobench", arguments, mapped);
    samples.add(name, "us p50", command, Samples.number(text, "p50"));
    samples.add(name, "us p99", command, Samples.number(text, "p99"));
  }

  private void iobenchBytes(String name, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String text = programs.run(cluster.iobench(arguments, mapped));
    String summary = text.substring(text.indexOf("throughput MB/s"));
    samples.add(
        name,
        "MB/s",
        Cluster.shown("iobench", arguments, mapped),
        Samples.number(summary, "median"));
  }

  private void echoRate(String name, String mode, int request)
      throws IOException, InterruptedException {
    String text = echo(mode, request, DEPTH, LOOKUPS, List.of(), List.of());
    samples.add(name, "/s", "LoopbackEcho " + mode, Samples.number(text, "rate"));
  }

  private void ping(String name, String mode, int request, String server, String client)
      throws IOException, InterruptedException {
    String text =
        echo(
            mode,
            request,
            1,
            50_000,
            List.of("taskset", "-c", server),
            List.of("taskset", "-c", client));
    samples.add(name, "us p50", "LoopbackEcho " + mode, Samples.number(text, "p50"));
    samples.add(name, "us p99", "LoopbackEcho " + mode, Samples.number(text, "p99"));
  }

  private String echo(
      String mode, int request, int depth, long count, List<String> server, List<String> client)
      throws IOException, InterruptedException {
    String main = "io.crail.bench.limits.LoopbackEcho";
    String sizes = mode + " " + request + " " + ANSWER;
    List<String> serve = new ArrayList<>(server);
    serve.addAll(java(main, ("server " + sizes).split(" ")));
    String port = programs.startAndReadLine(serve).replace("port ", "");
    List<String> ask = new ArrayList<>(client);
    ask.addAll(
        java(
            main,
            ("client " + sizes + " " + port + " " + depth + " " + count / 2 + " " + count)
                .split(" ")));
    try {
      return programs.run(ask);
    } finally {
      programs.stopLast();
    }
  }

  private static int requestLength(String path) {
    return Frame.HEADER_LENGTH + Lookup.Request.LAYOUT.fixedLength() + path.length();
  }

  private static List<String> java(String main, String[] arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    command.addAll(List.of(arguments));
    return command;
  }

  private void pin(String processors, long process) throws IOException, InterruptedException {
    programs.run(List.of("taskset", "-a", "-c", "-p", processors, String.valueOf(process)));
  }

  /** Megabytes a second that arrived, in what iperf3 printed. */
  static double iperfMegabytes(String text) {
    for (String line : text.split("\n")) {
      if (line.contains("receiver")) {
        String[] words = line.trim().split("\\s+");
        for (int i = 1; i < words.length; i++) {
          if (words[i].equals("Mbits/sec")) {
            return Double.parseDouble(words[i - 1]) / Byte.SIZE;
          }
        }
      }
    }
    throw new IllegalArgumentException("no receiver in: " + text);
  }
}
