/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.model.Units;
import io.crail.tool.Ran;
import io.crail.tool.system.ReplacingProgram.Way;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the other processes when one is killed, restarted or stopped, and when the store is full.
 */
@Tag("once")
class FaultsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  /** Far more than the deadlines below, for a busy machine, and far less than without end. */
  private static final Duration IN_TIME = Duration.ofSeconds(60);

  private static final int MIB = 1 << 20;

  /** Long enough to be killed in the middle of. */
  private static final int REPLACED = 8 * MIB;

  /** What takes many seconds in production, but short; a pause of a few seconds does no harm. */
  private static Map<String, String> quick() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.lease", "6s");
    settings.put("crail.namenode.freemargin", "200ms");
    settings.put("crail.storage.keepalive", "800ms");
    return settings;
  }

  private static CrailStore open(ProcessCluster cluster, boolean mapped) throws Exception {
    return open(cluster, mapped, "60s");
  }

  private static CrailStore open(ProcessCluster cluster, boolean mapped, String dataTimeout)
      throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration(
                "crail.storage.localmap",
                String.valueOf(mapped),
                "crail.datatimeout",
                dataTimeout)));
  }

  private static CrailFile create(CrailStore store, String path, CrailStorageClass storageClass)
      throws Exception {
    return store
        .create(path, CrailNodeType.DATAFILE, storageClass, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS)
        .asFile();
  }

  private static void write(CrailFile file, int length) throws Exception {
    byte[] bytes = new byte[length];
    java.util.Arrays.fill(bytes, (byte) 5);
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(length)) {
      out.write(bytes);
    }
  }

  private static byte[] read(CrailFile file) throws Exception {
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      return in.readAllBytes();
    }
  }

  private static ErrorCode codeOf(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CrailException crail) {
        return crail.code();
      }
    }
    throw new AssertionError("no typed error", failure);
  }

  /** Bytes of the columns of {@code crail df --bytes}: capacity, used, free, waiting. */
  private static long[] usage(ProcessCluster cluster) throws Exception {
    String table = cluster.run("df", "--bytes").stdout();
    long[] sums = new long[4];
    for (String line : table.lines().skip(1).toList()) {
      String[] words = line.strip().split("\\s+");
      if (words.length == 6) {
        for (int i = 0; i < sums.length; i++) {
          sums[i] += Long.parseLong(words[i + 1]);
        }
      }
    }
    assertEquals(sums[0], sums[1] + sums[2] + sums[3], "free + used + waiting\n" + table);
    return sums;
  }

  @Test
  void spaceOfAKilledWriterComesBackAndItsFileCanBeAppendedTo() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, quick())) {
      long usedBefore = usage(cluster)[1];
      CrailProcess writer =
          CrailProcess.program(
              WriterProgram.class,
              cluster.directory().resolve("crail-site.conf").toString(),
              "/victim",
              String.valueOf(MIB),
              String.valueOf(9 * MIB));
      writer.await("written", PATIENCE);
      assertTrue(usage(cluster)[1] >= usedBefore + 9 * MIB);
      writer.kill();

      Await.until(
          "the space after the committed size is free",
          PATIENCE,
          () -> {
            long[] now = usage(cluster);
            return now[1] <= usedBefore + 2 * MIB && now[3] == 0;
          });
      CrailStore store = open(cluster, true);
      try {
        CrailFile file = store.lookup("/victim").get(60, TimeUnit.SECONDS).asFile();
        assertEquals(MIB, file.getCapacity());
        write(file, 10);
        byte[] bytes = read(store.lookup("/victim").get(60, TimeUnit.SECONDS).asFile());
        assertEquals(MIB + 10, bytes.length);
        assertEquals(7, bytes[MIB - 1]);
        assertEquals(5, bytes[MIB]);
      } finally {
        store.close();
      }
    }
  }

  /**
   * A client is killed while it replaces a value, or a file by one that it writes aside. The old
   * bytes stay, others replace them at once, and no space is lost.
   */
  @Test
  void aKilledClientReplacesNothingByHalf() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    Map<String, String> settings = quick();
    // What was begun is free after that.
    settings.put("crail.lease", "4s");
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, settings);
        CrailStore store = open(cluster, false)) {
      for (String top : List.of("/PUT", "/RENAME")) {
        CrailNodeType type = top.equals("/PUT") ? CrailNodeType.TABLE : CrailNodeType.DIRECTORY;
        store
            .create(top, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
            .get(60, TimeUnit.SECONDS);
      }
      for (Way way : Way.values()) {
        boolean mapped = random.nextBoolean();
        System.out.println(way + ", mapped " + mapped);
        killInTheMiddle(cluster, store, random, way, mapped);
      }
      Await.until(
          "all space is free", PATIENCE, () -> store.getSpace().freeBytes() == capacity(store));
    }
  }

  private static long capacity(CrailStore store) throws Exception {
    return store.getSpace().capacityBytes();
  }

  private static void killInTheMiddle(
      ProcessCluster cluster, CrailStore store, Random random, Way way, boolean mapped)
      throws Exception {
    String top = "/" + way;
    String path = top + "/mapped-" + mapped;
    ByteBuffer bytes = ByteBuffer.allocateDirect(REPLACED);
    way.replace(store, path, ReplacingProgram.filled(bytes, Units.id(1, 1)));
    long usedBefore = store.getSpace().usedBytes();
    CrailProcess program =
        CrailProcess.program(
            ReplacingProgram.class,
            cluster.directory().resolve("crail-site.conf").toString(),
            String.valueOf(mapped),
            way.name(),
            path,
            String.valueOf(REPLACED),
            "2");
    long old;
    try {
      program.await("^replacing$", PATIENCE);
      Await.until(
          "it is stopped while the new bytes take space",
          PATIENCE,
          () -> {
            // It repeats this until it is killed, so any moment will do.
            TimeUnit.MICROSECONDS.sleep(random.nextInt(30_000));
            program.signal("STOP");
            boolean takes = store.getSpace().usedBytes() >= usedBefore + MIB;
            if (!takes) {
              program.signal("CONT");
            }
            return takes;
          });
      old = replacementAt(store, path);
      assertEquals(2, Units.writerOf(old));
    } finally {
      program.kill();
    }
    assertEquals(old, replacementAt(store, path));
    way.replace(store, path, ReplacingProgram.filled(bytes, Units.id(1, 2)));
    assertEquals(Units.id(1, 2), replacementAt(store, path));
    Await.until(
        "the space of what was begun and of what was replaced is free",
        PATIENCE,
        () -> {
          CrailSpace space = store.getSpace();
          return space.usedBytes() <= usedBefore && space.waitingBytes() == 0;
        });
    assertEquals(Units.id(1, 2), replacementAt(store, path));
    store.delete(path, false).get(60, TimeUnit.SECONDS);
  }

  /** The one replacement whose bytes are there, all of them. */
  private static long replacementAt(CrailStore store, String path) throws Exception {
    CrailNode node = store.lookup(path).get(60, TimeUnit.SECONDS);
    boolean isValue = node.getType() == CrailNodeType.KEYVALUE;
    CrailFile file = isValue ? node.asKeyValue() : node.asFile();
    byte[] found;
    try (CrailBufferedInputStream in = file.getBufferedInputStream(REPLACED)) {
      found = in.readAllBytes();
    }
    assertEquals(REPLACED, found.length, path);
    ByteBuffer bytes = ByteBuffer.wrap(found);
    Units.Unit first = Units.at(bytes, 0);
    assertNotNull(first, Units.describe(bytes, 0));
    int wrong = Units.mismatch(bytes, 0, REPLACED, first.file(), first.file(), 0);
    assertTrue(wrong < 0, path + " at " + wrong + ": " + Units.describe(bytes, Math.max(0, wrong)));
    return first.file();
  }

  @Test
  void killedDatanodeGivesTypedErrorsInTimeWhileOthersGoOn() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, quick())) {
      int second = cluster.startDatanode("64m", 1);
      CrailStore store = open(cluster, false);
      try {
        CrailFile onFirst = create(store, "/first", CrailStorageClass.get(0).strict());
        CrailFile onSecond = create(store, "/second", CrailStorageClass.get(1).strict());
        write(onFirst, 3 * MIB);
        write(onSecond, 3 * MIB);
        CrailFile lost = store.lookup("/second").get(60, TimeUnit.SECONDS).asFile();
        assertEquals(3 * MIB, read(lost).length);

        cluster.datanode(second).kill();
        long begin = System.nanoTime();
        ErrorCode code = null;
        try {
          read(lost);
        } catch (Exception e) {
          code = codeOf(e);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        assertNotNull(code, "bytes of a killed datanode were read");
        assertTrue(
            code == ErrorCode.UNAVAILABLE
                || code == ErrorCode.TIMED_OUT
                || code == ErrorCode.DATA_LOST,
            code.toString());
        assertTrue(took.compareTo(IN_TIME) < 0, "after " + took);

        assertEquals(
            3 * MIB, read(store.lookup("/first").get(60, TimeUnit.SECONDS).asFile()).length);
        Await.until(
            "the datanode is offline",
            PATIENCE,
            () -> Ran.run(cluster.directory(), "datanodes").stdout().contains("offline"));
        CrailFile fresh = create(store, "/fresh", CrailStorageClass.get(0));
        write(fresh, 3 * MIB);
        assertEquals(
            3 * MIB, read(store.lookup("/fresh").get(60, TimeUnit.SECONDS).asFile()).length);
      } finally {
        store.close();
      }
    }
  }

  /** The repeated work of a writer, each time with space that no byte was written to. */
  private interface Repeated {
    /** Writes something new; the number makes its name. */
    void write(CrailStore store, int number) throws Exception;
  }

  private static void writeAtOnce(CrailStore store, int number) throws Exception {
    CrailFile file = create(store, "/at-once-" + number, CrailStorageClass.DEFAULT);
    CrailOutputStream out = file.getDirectOutputStream(0);
    out.write(OffHeapBuffer.wrap(ByteBuffer.allocateDirect(2 * MIB))).get(60, TimeUnit.SECONDS);
    out.close();
    store.delete(file.getPath(), false).get(60, TimeUnit.SECONDS);
  }

  private static void writeSlices(CrailStore store, int number) throws Exception {
    CrailFile file = create(store, "/sliced-" + number, CrailStorageClass.DEFAULT);
    // Of one slice each, so that no two writes meet in an extent.
    write(file, 512 << 10);
    store.delete(file.getPath(), false).get(60, TimeUnit.SECONDS);
  }

  private static void put(CrailStore store, int number) throws Exception {
    store
        .put("/table/" + number % 4, OffHeapBuffer.wrap(ByteBuffer.allocateDirect(64 << 10)))
        .get(60, TimeUnit.SECONDS);
  }

  /**
   * A datanode is killed and not offline yet: who writes to new space goes on at the other one.
   *
   * @param mapped whether its memory is mapped; then what is under way at the kill may fail, since
   *     bytes of it may be lost that were written before
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void writersGoOnElsewhereWhenADatanodeIsKilled(boolean mapped) throws Exception {
    Map<String, String> settings = quick();
    // It would be offline after 40 s.
    settings.put("crail.storage.keepalive", "5s");
    Repeated[] kinds = {
      FaultsSystemTest::writeAtOnce, FaultsSystemTest::writeSlices, FaultsSystemTest::put
    };
    try (ProcessCluster cluster = ProcessCluster.start(1, 2, settings);
        CrailStore store = open(cluster, mapped)) {
      store
          .create(
              "/table",
              CrailNodeType.TABLE,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get(60, TimeUnit.SECONDS);
      AtomicBoolean stop = new AtomicBoolean();
      AtomicInteger[] done = new AtomicInteger[kinds.length];
      List<Future<Duration>> writers = new ArrayList<>();
      ExecutorService threads = Executors.newFixedThreadPool(kinds.length);
      try {
        for (int i = 0; i < kinds.length; i++) {
          Repeated kind = kinds[i];
          AtomicInteger count = new AtomicInteger();
          done[i] = count;
          writers.add(threads.submit(() -> repeat(kind, store, mapped, count, stop)));
        }
        awaitMore(done, 20);
        cluster.datanode(1).kill();
        long killed = System.nanoTime();
        // So that each of them meets it.
        Await.until("some time", PATIENCE, () -> System.nanoTime() - killed > 2_000_000_000L);
        awaitMore(done, 20);
        assertTrue(
            Ran.run(cluster.directory(), "df").stdout().contains("2 of 2 datanodes online"),
            "the namenode does not know yet");
      } finally {
        stop.set(true);
        threads.shutdown();
      }
      for (Future<Duration> writer : writers) {
        Duration longest = writer.get(90, TimeUnit.SECONDS);
        System.out.println("mapped " + mapped + ": the longest write took " + longest);
        assertTrue(longest.compareTo(IN_TIME) < 0, longest.toString());
      }
      // Written and read where something is left.
      CrailFile file = create(store, "/last", CrailStorageClass.DEFAULT);
      write(file, 3 * MIB);
      byte[] expected = new byte[3 * MIB];
      java.util.Arrays.fill(expected, (byte) 5);
      assertArrayEquals(expected, read(store.lookup("/last").get(60, TimeUnit.SECONDS).asFile()));
    }
  }

  /** The longest that one of them took. */
  private static Duration repeat(
      Repeated kind, CrailStore store, boolean mapped, AtomicInteger count, AtomicBoolean stop)
      throws Exception {
    long longest = 0;
    boolean mayFail = mapped;
    while (!stop.get()) {
      long begin = System.nanoTime();
      try {
        kind.write(store, count.get());
      } catch (Exception e) {
        if (!mayFail || codeOf(e) != ErrorCode.UNAVAILABLE) {
          throw e;
        }
        mayFail = false;
      }
      longest = Math.max(longest, System.nanoTime() - begin);
      count.incrementAndGet();
    }
    return Duration.ofNanos(longest);
  }

  private static void awaitMore(AtomicInteger[] counts, int more) throws Exception {
    int[] goals = new int[counts.length];
    for (int i = 0; i < counts.length; i++) {
      goals[i] = counts[i].get() + more;
    }
    Await.until(
        "all have written " + more + " times more",
        PATIENCE,
        () -> {
          boolean all = true;
          for (int i = 0; i < counts.length; i++) {
            all &= counts[i].get() >= goals[i];
          }
          return all;
        });
  }

  /** What was in use before a restart of the namenode rests first. */
  private static void awaitSpaceAfterRest(CrailStore store) throws Exception {
    int[] tries = new int[1];
    Await.until(
        "there is space",
        PATIENCE,
        () -> {
          try {
            write(create(store, "/probe-" + tries[0]++, CrailStorageClass.DEFAULT), MIB);
            return true;
          } catch (Exception e) {
            assertEquals(ErrorCode.NO_SPACE, codeOf(e));
            return false;
          }
        });
  }

  @Test
  void datanodeRegistersAgainAfterARestartOfTheNamenode() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 2, quick())) {
      CrailStore store = open(cluster, true);
      try {
        write(create(store, "/before", CrailStorageClass.DEFAULT), MIB);
        cluster.restartNamenode(0);
        Await.until(
            "both datanodes are online",
            PATIENCE,
            () -> Ran.run(cluster.directory(), "df").stdout().contains("2 of 2 datanodes online"));
        awaitSpaceAfterRest(store);
        // The same store goes on with the new namenode, which knows nothing of the old one's nodes.
        assertNull(store.lookup("/before").get(60, TimeUnit.SECONDS));
        write(create(store, "/after", CrailStorageClass.DEFAULT), 3 * MIB);
        assertEquals(
            3 * MIB, read(store.lookup("/after").get(60, TimeUnit.SECONDS).asFile()).length);
      } finally {
        store.close();
      }
      assertTrue(cluster.datanode(0).isAlive());
    }
  }

  @Test
  void fullStoreSaysSoAndServesOn() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 0, quick())) {
      cluster.startDatanode("8m", -1);
      CrailStore store = open(cluster, true);
      try {
        List<String> whole = new ArrayList<>();
        ErrorCode code = null;
        for (int i = 0; code == null; i++) {
          assertTrue(i < 20, "8 MiB hold 20 files of 1 MiB");
          CrailFile file = create(store, "/full-" + i, CrailStorageClass.DEFAULT);
          try {
            write(file, MIB);
            whole.add("/full-" + i);
          } catch (Exception e) {
            code = codeOf(e);
          }
        }
        assertEquals(ErrorCode.NO_SPACE, code);
        for (String path : whole) {
          assertEquals(MIB, read(store.lookup(path).get(60, TimeUnit.SECONDS).asFile()).length);
        }
        for (String path : whole) {
          store.delete(path, false).get(60, TimeUnit.SECONDS);
        }
        Await.until(
            "there is space again",
            PATIENCE,
            () -> {
              CrailNode old = store.lookup("/again").get(60, TimeUnit.SECONDS);
              if (old != null) {
                store.delete("/again", false).get(60, TimeUnit.SECONDS);
              }
              try {
                write(create(store, "/again", CrailStorageClass.DEFAULT), 4 * MIB);
                return true;
              } catch (Exception e) {
                assertEquals(ErrorCode.NO_SPACE, codeOf(e));
                return false;
              }
            });
        byte[] expected = new byte[4 * MIB];
        java.util.Arrays.fill(expected, (byte) 5);
        assertArrayEquals(
            expected, read(store.lookup("/again").get(60, TimeUnit.SECONDS).asFile()));
        usage(cluster);
      } finally {
        store.close();
      }
    }
  }

  @Test
  void aStoppedDatanodeDelaysNoOneBeyondTheDeadline() throws Exception {
    Map<String, String> settings = quick();
    // Else the namenode, asked again where the bytes lie, might say that the datanode is offline.
    settings.put("crail.lease", "60s");
    settings.put("crail.storage.keepalive", "30s");
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, settings)) {
      CrailStore store = open(cluster, false, "3s");
      try (CrailStore patient = open(cluster, false)) {
        write(create(patient, "/slow", CrailStorageClass.DEFAULT), MIB);
        CrailFile file = store.lookup("/slow").get(60, TimeUnit.SECONDS).asFile();
        cluster.datanode(0).signal("STOP");
        long begin = System.nanoTime();
        ErrorCode code = null;
        try {
          read(file);
        } catch (Exception e) {
          code = codeOf(e);
        } finally {
          cluster.datanode(0).signal("CONT");
        }
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        assertEquals(ErrorCode.TIMED_OUT, code);
        assertTrue(took.compareTo(IN_TIME) < 0, "after " + took);
        Await.until(
            "the datanode serves again",
            PATIENCE,
            () -> {
              try {
                return read(store.lookup("/slow").get(60, TimeUnit.SECONDS).asFile()).length == MIB;
              } catch (Exception e) {
                codeOf(e);
                return false;
              }
            });
      } finally {
        store.close();
      }
    }
  }
}
