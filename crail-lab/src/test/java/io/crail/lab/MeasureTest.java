/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.lab.compare.ServerTime;
import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Fio;
import io.crail.lab.programs.FlashPeer;
import io.crail.lab.programs.Hdfs;
import io.crail.lab.programs.Iperf;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.PerfTest;
import io.crail.lab.programs.Programs;
import io.crail.lab.programs.Redis;
import io.crail.lab.programs.SpdkPerf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasureTest {
  @TempDir Path directory;

  @Test
  void mediansAndRangesAreInTheTable() {
    Samples samples = new Samples();
    for (double value : new double[] {3, 1, 2}) {
      samples.add("thing", "us", "do it", value);
    }
    samples.add("thing", "/s", "do it", 1_234_567);
    assertEquals(2, samples.median("thing", "us"));
    assertEquals(1_234_567, samples.median("thing", "/s"));
    assertThrows(IllegalArgumentException.class, () -> samples.median("thing", "MB/s"));
    String table = samples.table();
    assertTrue(table.contains("| thing | 2.00 us | 1.00 - 3.00 | 3 | `do it` |"), table);
    assertTrue(table.contains("| thing | 1,234,567 /s |"), table);
    assertEquals(1.5, Samples.median(List.of(1.0, 2.0)));
  }

  @Test
  void numbersAreFoundBehindTheirWords() {
    String text =
        """
        execution time 0.002000 s
        throughput 500000.0 ops/s, 16384.00 Mbit/s, 2048.00 MB/s
        latency 2.00 us
        latency p50 2.50 us, p99 3.25 us, p99.9 4.00 us, max 5.00 us
        """;
    assertEquals(0.002, Samples.number(text, "time"));
    assertEquals(500_000, Samples.number(text, "throughput"));
    assertEquals(2.5, Samples.number(text, "p50"));
    assertEquals(3.25, Samples.number(text, "p99"));
    assertThrows(IllegalArgumentException.class, () -> Samples.number(text, "p42"));
    assertThrows(IllegalArgumentException.class, () -> Samples.number("a b p50", "p50"));
  }

  @Test
  void perftestIsUnderstood() {
    PerfTest.Result latency =
        PerfTest.parse(
            """
             #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
             64      3000          20.10          301.00       24.50              25.10  1.1 30 90
            ---------------------------------------------------------------------------------------
            """);
    assertEquals(24.5, latency.typicalMicros());
    PerfTest.Result rate =
        PerfTest.parse(
            """
             #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
             1          20000            0.05               0.04               0.044820
            """);
    assertEquals(0.04, rate.megabytes());
    assertEquals(44_820, rate.messages(), 0.001);
    // A deviation of nan must not lose the other figures.
    assertEquals(
        186_423.65,
        PerfTest.parse("1048576 100 80368.88 561948.07 186423.65 203813.17 -nan 561948 561948")
            .typicalMicros());
    assertThrows(IllegalArgumentException.class, () -> PerfTest.parse("64 3000 20.1 301 nan 25 1"));
    assertThrows(IllegalArgumentException.class, () -> PerfTest.parse("Couldn't connect"));
  }

  @Test
  void programsOnFlashAreUnderstood() {
    // Shortened; the fields from 54 on are of trims and the machine.
    String reads = "3;fio-3.33;crail;0;0;50000;10000;2500;5000" + ";0".repeat(8);
    String percentiles = ";1.000000%=1;50.000000%=180;99.000000%=400";
    String writes = ";0".repeat(40);
    FlashPeer.Result fio = Fio.parse("noise\n" + reads + percentiles + writes);
    assertEquals(2500, fio.operations());
    assertEquals(180, fio.medianMicros());
    assertThrows(IllegalArgumentException.class, () -> Fio.parse("3;fio;crail"));
    FlashPeer.Result perf =
        SpdkPerf.parse(
            """
            Initializing NVMe Controllers
            ========================================================
                                                                        Latency(us)
            Device Information             :       IOPS      MiB/s    Average        min        max
            TCP  (addr:127.0.0.1 subnqn:n) from core  0:  704323.67    2751.26      45.39      10
            ========================================================
            Total                          :  704323.67    2751.26      45.39      10.02     4106.11

            Summary latency data for TCP (addr:127.0.0.1 subnqn:n) NSID 1          from core  0:
            =================================================================================
              1.00000% :    26.667us
             50.00000% :    44.800us
             99.00000% :    73.600us
            """);
    assertEquals(704_323.67, perf.operations());
    assertEquals(44.8, perf.medianMicros());
    assertThrows(IllegalArgumentException.class, () -> SpdkPerf.parse("starting I/O failed"));
  }

  @Test
  void goalsCountBothWays() {
    Samples samples = new Samples();
    samples.add("round trip", "us p50", "x", 30);
    samples.add("one way", "us p50", "x", 10);
    Goals goals = new Goals(samples);
    goals.add("round trip", "us p50", 1.4, new Goals.Limit("one way", 2));
    goals.add(
        "round trip",
        "us p50",
        1.0,
        new Goals.Limit("one way", 2),
        new Goals.Limit("round trip", 1));
    assertTrue(
        goals
            .table()
            .contains("| 2 x one way: 10.0 us p50 | 1.50 | 1.50 - 1.50 | at most 1.4 | missed |"),
        goals.table());
    assertTrue(
        goals
            .table()
            .contains(
                "| 2 x one way: 10.0 us p50 + round trip: 30.0 us p50 | 0.60 | 0.60 - 0.60 |"
                    + " at most 1 | met |"),
        goals.table());
  }

  @Test
  void ratiosOfSingleRunsAreTheirSpread() {
    Samples samples = new Samples();
    for (double[] run : new double[][] {{30, 10}, {40, 10}, {60, 30}}) {
      samples.add("fast", "/s", "x", run[0]);
      samples.add("slow", "/s", "x", run[1]);
    }
    samples.add("once", "/s", "x", 5);
    Goals goals = new Goals(samples);
    goals.add("fast", "slow", "/s", 4);
    goals.add("fast", "once", "/s", 0);
    assertEquals(List.of(3.0, 4.0, 2.0), goals.all().get(0).ratios());
    assertEquals(4, goals.all().get(0).ratio());
    assertTrue(goals.all().get(0).isMet());
    assertEquals(List.of(), goals.all().get(1).ratios(), "they are no pairs");
    assertTrue(
        goals.table().contains("| slow: 10.0 /s | 4.00 | 2.00 - 4.00 | at least 4 | met |"),
        goals.table());
    assertTrue(goals.table().contains("| once: 5.00 /s | 8.00 | | | |"), goals.table());
    assertThrows(IllegalArgumentException.class, () -> goals.add("fast", "other", "/s", 1));
  }

  @Test
  void figuresWithoutAPeerHaveTheirOwnLimit() {
    Samples samples = new Samples();
    samples.add("a file", "bytes", "x", 135);
    samples.add("a lookup", "bytes", "x", 0.7);
    Goals goals = new Goals(samples);
    goals.addAlone("a file", "bytes", 200);
    goals.addAlone("a lookup", "bytes", 0.5);
    assertTrue(
        goals.table().contains("| a file: 135 bytes | | | | at most 200 bytes | met |"),
        goals.table());
    assertTrue(
        goals.table().contains("| a lookup: 0.70 bytes | | | | at most 0.5 bytes | missed |"),
        goals.table());
  }

  @Test
  void recordedFiguresSayThatTheyAre() {
    Samples samples = new Samples();
    samples.add("lookup", "/s", "x", 300);
    samples.add("lookup", "/s", "x", 150);
    samples.add("held", Goals.FILES, "x", 10);
    Goals goals = new Goals(samples);
    goals.addRecorded("lookup", "/s", 2, "Other", 100);
    goals.addAlone("held", Goals.FILES, 11);
    assertEquals(List.of(3.0, 1.5), goals.all().get(0).ratios());
    assertTrue(goals.all().get(0).isMet());
    assertFalse(goals.all().get(1).isMet(), "fewer are held than should be");
    String table = Goals.summary(goals.all());
    assertTrue(
        table.contains(
            "| lookup: at least 2 x | 225 /s | Other, recorded, not of this run: 100 /s | 2.25 |"
                + " 1.50 - 3.00 | met |"),
        table);
    assertTrue(table.contains("| held: at least 11 files | 10.0 files | | | | missed |"), table);
  }

  @Test
  void outputOfOtherProgramsIsUnderstood() {
    Redis.Result redis =
        Redis.parse(
            """
            "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
            "GET","1802378.38","0.066","0.008","0.055","0.111","0.159","1.215"
            """);
    assertEquals(1802378.38, redis.perSecond());
    assertEquals(55, redis.p50Micros(), 0.001);
    assertEquals(159, redis.p99Micros(), 0.001);
    assertThrows(IllegalArgumentException.class, () -> Redis.parse("\"SET\",\"1\"\n"));
    assertThrows(
        IllegalArgumentException.class, () -> Redis.parse("\"test\",\"rps\"\n\"GET\",\"1\"\n"));
    assertEquals(
        3305.375,
        Iperf.parse(
            "[  5]   0.00-2.00   sec  6.17 GBytes  26489 Mbits/sec   91             sender\n"
                + "[  5]   0.00-2.00   sec  6.17 GBytes  26443 Mbits/sec            receiver\n"));
    assertThrows(IllegalArgumentException.class, () -> Iperf.parse("connect failed"));
    assertEquals(
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n",
        new String(Redis.command("SET", "k", "vv"), StandardCharsets.US_ASCII));
    assertEquals(
        915_672,
        Redis.usedBytes("$1000\r\n# Memory\r\nused_memory:915672\r\nused_memory_rss:7\r\n"));
  }

  @Test
  void programsAreRunStartedAndEnded() throws Exception {
    Process server;
    try (Programs programs = new Programs(directory)) {
      assertEquals("hello\n", programs.run(List.of("echo", "hello")));
      IOException thrown =
          assertThrows(
              IOException.class, () -> programs.run(List.of("sh", "-c", "echo why >&2; exit 3")));
      assertTrue(thrown.getMessage().contains("exit code 3"), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("why"), thrown.getMessage());
      assertEquals(
          "port 7", programs.startAndReadLine(List.of("sh", "-c", "echo port 7; exec sleep 60")));
      server = programs.last();
      assertTrue(server.isAlive());
    }
    assertTrue(!server.isAlive(), "a server has outlived its owner");
  }

  @Test
  void aServerThatDoesNotServeSaysWhy() throws Exception {
    try (Programs programs = new Programs(directory)) {
      IOException ended =
          assertThrows(
              IOException.class,
              () -> programs.startAndReadLine(List.of("sh", "-c", "echo why >&2; exit 3")));
      assertTrue(ended.getMessage().contains("exit code 3"), ended.getMessage());
      assertTrue(ended.getMessage().contains("\nwhy"), ended.getMessage());
      assertNull(programs.last(), "it has ended");
      IOException silent =
          assertThrows(
              IOException.class,
              () ->
                  programs.startAndReadLine(List.of("sh", "-c", "printf half; exec sleep 60"), 1));
      assertTrue(silent.getMessage().contains("no line in 1 s"), silent.getMessage());
      assertNull(programs.last(), "it has been ended");
    }
  }

  @Test
  void reportsLinesAsTheyCome() throws Exception {
    try (Programs programs = new Programs(directory)) {
      Path mark = directory.resolve("mark");
      List<String> seen = new ArrayList<>();
      // The second line comes only after the first has been read.
      String wait = "echo one; while [ ! -e " + mark + " ]; do sleep 0.01; done; echo two";
      String text =
          programs.run(
              List.of("timeout", "60", "sh", "-c", wait),
              line -> {
                seen.add(line);
                try {
                  Files.writeString(mark, line);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      assertEquals("one\ntwo\n", text);
      assertEquals(List.of("one", "two"), seen);
      IOException thrown =
          assertThrows(
              IOException.class,
              () -> programs.run(List.of("sh", "-c", "echo why >&2; exit 3"), line -> {}));
      assertTrue(thrown.getMessage().contains("exit code 3"), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("why"), thrown.getMessage());
    }
  }

  @Test
  void timeOfServersCountsFromTheBeginOfTheLastExperiment() throws Exception {
    Process self = new ProcessBuilder("sh", "-c", "while :; do :; done").start();
    try {
      ServerTime time = new ServerTime(List.of(self), 1);
      assertThrows(IOException.class, time::seconds);
      awaitSeconds(self, 0.2);
      double before = Machine.processorSeconds(self.pid());
      time.accept("starting benchmark...");
      awaitSeconds(self, Machine.processorSeconds(self.pid()) + 0.05);
      time.accept("execution time 0.05 s");
      double after = Machine.processorSeconds(self.pid());
      time.accept("summary of 2 experiments");
      awaitSeconds(self, after + 0.2);
      time.accept("execution time 0.10 s");
      double seconds = time.seconds();
      assertTrue(seconds > 0.045 && seconds < after - before + 0.005, "it took " + seconds);
      assertEquals(0, time.connections());
    } finally {
      self.destroyForcibly();
    }
  }

  private static void awaitSeconds(Process process, double seconds) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (Machine.processorSeconds(process.pid()) < seconds) {
      assertTrue(System.nanoTime() - deadline < 0, "it gets no time");
      Thread.sleep(5);
    }
  }

  @Test
  void connectionsOfAPortAreCounted() throws Exception {
    assertEquals(
        1,
        Machine.connectionsTo(
            0x1F90,
            List.of(
                "  sl  local_address rem_address   st tx_queue",
                "   0: 0100007F:1F90 00000000:0000 0A 00000000",
                "   1: 0100007F:1F90 0100007F:D431 01 00000000",
                "   2: 0100007F:D431 0100007F:1F90 01 00000000",
                "   3: 0100007F:1F90 0100007F:D432 06 00000000")));
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Socket one = new Socket(listener.getInetAddress(), listener.getLocalPort());
        Socket accepted = listener.accept()) {
      assertEquals(1, Machine.connectionsTo(listener.getLocalPort()), one + " " + accepted);
    }
  }

  @Test
  void aProgramThatIsWaitedForEndsWhenTheRunIsClosed() throws Exception {
    Programs programs = new Programs(directory);
    FutureTask<String> run =
        new FutureTask<>(() -> programs.run(List.of("sh", "-c", "echo $$; exec sleep 60")));
    new Thread(run, "run").start();
    Path output = directory.resolve("run-1.out");
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!Files.exists(output) || !Files.readString(output).endsWith("\n")) {
      assertTrue(System.nanoTime() - deadline < 0, "the program has not begun");
      Thread.sleep(5);
    }
    long process = Long.parseLong(Files.readString(output).trim());
    programs.close();
    ExecutionException ended =
        assertThrows(ExecutionException.class, () -> run.get(60, TimeUnit.SECONDS));
    assertTrue(ended.getCause() instanceof IOException, ended.toString());
    assertTrue(ProcessHandle.of(process).isEmpty(), "a program has outlived its owner");
    assertThrows(IOException.class, () -> programs.run(List.of("true")));
  }

  @Test
  void anHdfsThatDoesNotStartSaysWhy() throws Exception {
    try (Programs programs = new Programs(directory)) {
      IOException thrown =
          assertThrows(IOException.class, () -> Hdfs.start(programs, directory, directory));
      assertTrue(thrown.getMessage().contains("MiniDFSClusterManager"), thrown.getMessage());
    }
  }

  @Test
  void theMachineIsDescribed() throws Exception {
    assertTrue(Machine.describe().contains("Linux"), Machine.describe());
    double busy = Machine.busyProcessors(50);
    assertTrue(busy >= 0 && busy <= Runtime.getRuntime().availableProcessors(), "busy " + busy);
  }

  @Test
  void theTimeOfAProcessIsFound() throws Exception {
    double before = Machine.processorSeconds(ProcessHandle.current().pid());
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (Machine.processorSeconds(ProcessHandle.current().pid()) < before + 0.05) {
      assertTrue(System.nanoTime() - deadline < 0, "it does not grow");
    }
  }

  @Test
  void aKernelThatTakesIdleTimeBackIsBelieved() {
    assertEquals(0.25, Machine.busyShare(new long[] {100, 50}, new long[] {108, 56}));
    assertEquals(1, Machine.busyShare(new long[] {100, 50}, new long[] {108, 49}));
    assertEquals(0, Machine.busyShare(new long[] {100, 50}, new long[] {108, 60}));
    assertEquals(0, Machine.busyShare(new long[] {100, 50}, new long[] {99, 49}));
  }
}
