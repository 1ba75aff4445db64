/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Tests clients that flood a namenode, or never read, or never complete a request. The lookups of
 * an honest client must not be affected.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("once")
class AbuseSystemTest {
  private static final int FILES = 5_000;
  private static final long MIB = 1 << 20;
  private static final long PATIENCE_NANOS = 60_000_000_000L;
  private static final String WRITTEN = "/written";
  private static final int LOOKUPS_PER_SECOND = 1_000;

  /** A small namenode: what others hold of it, it soon misses. */
  private static final String HEAP = "-Xmx256m";

  /** Of the same namenode's direct memory, half. */
  private static final long HELD_LIMIT = 128 * MIB;

  /** Heap, direct memory and what a JVM needs beside them. */
  private static final long MOST_RESIDENT_BYTES = 256 * MIB + HELD_LIMIT + 256 * MIB;

  /** For a machine on which others run as well; the long tests are for one on which none do. */
  private static final long SHORT_P99_NANOS = 200_000_000;

  private static final long LONG_P99_NANOS = 20_000_000;

  /** By how much what one client asks for may delay another one's lookups. */
  private static final long HEAVY_NANOS = 5_000_000;

  /** From here on a lookup is reported. */
  private static final long STALL_NANOS = 20_000_000;

  private ProcessCluster cluster;

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  private void start(Map<String, String> settings) throws Exception {
    cluster = ProcessCluster.startSmall(HEAP, settings);
    CrailStore store = open();
    try {
      ArrayDeque<Upcoming<CrailNode>> creating = new ArrayDeque<>();
      for (int i = 0; i < FILES; i++) {
        creating.add(make(store, path(i), CrailNodeType.DATAFILE));
        if (creating.size() > 100) {
          creating.poll().get(60, TimeUnit.SECONDS);
        }
      }
      for (Upcoming<CrailNode> last : creating) {
        last.get(60, TimeUnit.SECONDS);
      }
    } finally {
      store.close();
    }
  }

  private CrailStore open() throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  private static String path(int number) {
    return "/a-file-with-a-name-of-some-length-" + number;
  }

  @Test
  void manyOfAllKinds() throws Exception {
    start(Map.of("crail.tcp.stalltimeout", "1s"));
    attack(
        5,
        SHORT_P99_NANOS,
        "SILENT=40",
        "DUMPS=20",
        "TRICKLE=20",
        "LOOKUPS=6",
        "HALF=50",
        "IDLE=500");
  }

  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void manyOfAllKindsForAMinute() throws Exception {
    start(Map.of());
    attack(Integer.getInteger("crail.test.seconds", 60), LONG_P99_NANOS, "SILENT=400", "DUMPS=400");
  }

  /** What each request of one client takes is for that client to wait for, not for another one. */
  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void heavyRequestsOfOne() throws Exception {
    start(Map.of());
    CrailStore store = open();
    try {
      long alone = measure(store, "alone");
      List<String> slower = new ArrayList<>();
      for (String heavy : List.of("DUMPS=1", "LISTINGS=1")) {
        try (CrailProcess program = attacker(heavy)) {
          slower.addAll(compare(alone, measure(store, heavy), heavy));
          program.kill();
        }
      }
      AtomicBoolean isOver = new AtomicBoolean();
      CompletableFuture<Integer> removals =
          CompletableFuture.supplyAsync(() -> removeTrees(isOver));
      try {
        slower.addAll(compare(alone, measure(store, "removals"), "removals"));
      } finally {
        isOver.set(true);
      }
      assertTrue(removals.get(60, TimeUnit.SECONDS) > 0, "no tree was removed");
      assertEquals(List.of(), slower);
    } finally {
      store.close();
    }
  }

  /** The 99th percentile of ten seconds of lookups, in nanoseconds, when all code is compiled. */
  private static long measure(CrailStore store, String beside) throws Exception {
    lookups(store, 5);
    long[] nanos = lookups(store, 10);
    print(beside, nanos);
    return percentile(nanos, 0.99);
  }

  private static List<String> compare(long alone, long beside, String what) {
    return beside - alone < HEAVY_NANOS ? List.of() : List.of(what + ": " + beside + " ns");
  }

  /** Makes directories with many files and removes each as a whole; how many. */
  private int removeTrees(AtomicBoolean isOver) {
    try {
      CrailStore store = open();
      int trees = 0;
      for (; !isOver.get(); trees++) {
        String tree = "/tree-" + trees;
        make(store, tree, CrailNodeType.DIRECTORY).get(60, TimeUnit.SECONDS);
        ArrayDeque<Upcoming<CrailNode>> creating = new ArrayDeque<>();
        for (int i = 0; i < FILES; i++) {
          creating.add(make(store, tree + "/" + i, CrailNodeType.DATAFILE));
          if (creating.size() > 16) {
            creating.poll().get(60, TimeUnit.SECONDS);
          }
        }
        for (Upcoming<CrailNode> last : creating) {
          last.get(60, TimeUnit.SECONDS);
        }
        store.delete(tree, true).get(60, TimeUnit.SECONDS);
      }
      store.close();
      return trees;
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }

  private static Upcoming<CrailNode> make(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    return store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  private CrailProcess attacker(String... attackers) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.add(cluster.namenodeAddress(0).getAddress().getHostAddress());
    arguments.add(String.valueOf(cluster.namenodeAddress(0).getPort()));
    arguments.addAll(List.of(attackers));
    CrailProcess program =
        CrailProcess.program(AbuseProgram.class, arguments.toArray(new String[0]));
    program.await("attacking", ProcessCluster.PATIENCE);
    return program;
  }

  private void attack(int seconds, long mostP99Nanos, String... attackers) throws Exception {
    CrailStore store = open();
    try {
      CrailOutputStream out = beginFile(store);
      long[] quiet = lookups(store, 1);
      print("alone", quiet);
      long[] attacked;
      try (CrailProcess program = attacker(attackers)) {
        attacked = lookups(store, seconds);
        print(String.join(" ", attackers), attacked);
        endFile(store, out);
        awaitEndOfSilent();
        program.kill();
      }
      long gone = System.nanoTime();
      awaitQuiet(gone);
      long[] after = lookups(store, 1);
      print("afterwards", after);
      assertTrue(
          percentile(attacked, 0.99) < mostP99Nanos,
          "lookups take " + percentile(attacked, 0.99) / 1000 + " us");
    } finally {
      store.close();
    }
    assertTrue(cluster.namenode(0).isAlive());
    assertTrue(
        cluster.namenode(0).stderr().contains("(takes-no-answers)"), cluster.namenode(0).stderr());
  }

  /** A file whose writer has written a little, and writes on when the attack has lasted. */
  private static CrailOutputStream beginFile(CrailStore store) throws Exception {
    CrailFile file =
        make(store, WRITTEN, CrailNodeType.DATAFILE).get(60, TimeUnit.SECONDS).asFile();
    CrailOutputStream out = file.getDirectOutputStream(0);
    write(out);
    return out;
  }

  private static void write(CrailOutputStream out) throws Exception {
    out.write(OffHeapBuffer.wrap(ByteBuffer.allocateDirect(4096))).get(60, TimeUnit.SECONDS);
    out.sync().get(60, TimeUnit.SECONDS);
  }

  /** The writer has its lease still, and all that it has written is there. */
  private static void endFile(CrailStore store, CrailOutputStream out) throws Exception {
    write(out);
    out.close();
    assertEquals(2 * 4096, store.lookup(WRITTEN).get(60, TimeUnit.SECONDS).asFile().getCapacity());
  }

  /** Who does not read loses its connection while the others still attack. */
  private void awaitEndOfSilent() throws Exception {
    try (NamenodeWire wire = new NamenodeWire(cluster.namenodeAddress(0))) {
      Await.until(
          "connections that take no answers are ended",
          ProcessCluster.PATIENCE,
          () -> wire.statistics().get("ended-takes-no-answers") > 0);
    }
  }

  /** What the attack has left is gone at once, and nothing was used beyond the limits. */
  private void awaitQuiet(long goneNanos) throws Exception {
    try (NamenodeWire wire = new NamenodeWire(cluster.namenodeAddress(0))) {
      Await.until(
          "memory and connections are given back",
          ProcessCluster.PATIENCE,
          () -> {
            Map<String, Long> statistics = wire.statistics();
            return statistics.get("held-bytes") == 0 && statistics.get("connections") <= 4;
          });
      long tookMillis = (System.nanoTime() - goneNanos) / 1_000_000;
      Map<String, Long> statistics = wire.statistics();
      System.out.println("quiet after " + tookMillis + " ms: " + statistics);
      assertTrue(tookMillis < 2_000, "quiet after " + tookMillis + " ms");
      assertTrue(statistics.get("peak-held-bytes") <= HELD_LIMIT + 2 * MIB, statistics.toString());
      assertEquals(0, statistics.get("ended-no-memory"), statistics.toString());
    }
    String status = Files.readString(Path.of("/proc/" + cluster.namenode(0).pid() + "/status"));
    long resident =
        status
            .lines()
            .filter(line -> line.startsWith("VmHWM:"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
            .findFirst()
            .orElseThrow();
    System.out.println("at most " + resident / MIB + " MiB resident");
    assertTrue(resident < MOST_RESIDENT_BYTES, resident + " bytes resident");
  }

  /**
   * Looks names up for some seconds, at a fixed rate; how long each took from when it was due,
   * sorted. So a stall counts for all lookups that are due meanwhile, not for one.
   */
  private static long[] lookups(CrailStore store, int seconds) throws Exception {
    Random random = new Random(1);
    long[] nanos = new long[seconds * LOOKUPS_PER_SECOND];
    long period = 1_000_000_000L / LOOKUPS_PER_SECOND;
    long begin = System.nanoTime();
    ArrayDeque<Upcoming<CrailNode>> asked = new ArrayDeque<>();
    int sent = 0;
    int answered = 0;
    while (answered < nanos.length) {
      long early =
          sent == nanos.length ? PATIENCE_NANOS : begin + sent * period - System.nanoTime();
      if (early <= 0) {
        asked.add(store.lookup(path(random.nextInt(FILES))));
        sent++;
      } else if (asked.isEmpty()) {
        LockSupport.parkNanos(early);
      } else {
        try {
          assertNotNull(asked.peek().get(early, TimeUnit.NANOSECONDS));
          asked.remove();
          nanos[answered] = System.nanoTime() - (begin + answered * period);
          answered++;
        } catch (TimeoutException e) {
          assertTrue(sent < nanos.length, "no answer");
        }
      }
    }
    printStalls(nanos, period);
    Arrays.sort(nanos);
    return nanos;
  }

  /** Prints when lookups stalled, and for how long. */
  private static void printStalls(long[] nanos, long periodNanos) {
    int next = 0;
    while (next < nanos.length) {
      if (nanos[next] < STALL_NANOS) {
        next++;
        continue;
      }
      int first = next;
      // Those that were due while the first one waited belong to the same stall.
      next += (int) Math.max(1, nanos[first] / periodNanos);
      System.out.printf(
          "  %.3f s: a stall of %.1f ms%n", first * periodNanos / 1e9, nanos[first] / 1e6);
    }
  }

  private static long percentile(long[] sorted, double part) {
    return sorted[(int) Math.min(sorted.length - 1, sorted.length * part)];
  }

  private static void print(String when, long[] sorted) {
    System.out.printf(
        "%s: %d lookups, p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, longest %.2f ms%n",
        when,
        sorted.length,
        percentile(sorted, 0.5) / 1e6,
        percentile(sorted, 0.99) / 1e6,
        percentile(sorted, 0.999) / 1e6,
        sorted[sorted.length - 1] / 1e6);
  }
}
