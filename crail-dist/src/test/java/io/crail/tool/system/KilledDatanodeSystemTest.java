/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.tool.Ran;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that map the memory of a datanode which is killed, or only stopped. */
@Tag("once")
class KilledDatanodeSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  /** What is acknowledged later than this after the end of the process is not lost. */
  private static final long GRACE_NANOS = 20_000_000;

  /** How long the writers continue after the kill. */
  private static final long AFTER_NANOS = 500_000_000;

  private static final int ROUNDS =
      Integer.getInteger("crail.test.rounds", Boolean.getBoolean("crail.test.long") ? 20 : 3);
  private static final int LENGTH = 16 << 10;

  /** How many files of a writer are left before the kill. */
  private static final int LEFT = 50;

  private static final Map<String, String> SETTINGS =
      Map.of("crail.lease", "6s", "crail.namenode.freemargin", "200ms");

  /** Something that was acknowledged. */
  private record Acknowledged(String path, long nanos, int mark) {}

  /** One write of something new. */
  private interface Work {
    void write(CrailStore store, String path, ByteBuffer bytes) throws Exception;
  }

  private static CrailFile create(CrailStore store, String path, CrailStorageClass storageClass)
      throws Exception {
    return store
        .create(path, CrailNodeType.DATAFILE, storageClass, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS)
        .asFile();
  }

  private static void writeDirect(CrailStore store, String path, ByteBuffer bytes)
      throws Exception {
    CrailOutputStream out =
        create(store, path, CrailStorageClass.DEFAULT).getDirectOutputStream(LENGTH);
    try {
      out.write(OffHeapBuffer.wrap(bytes.duplicate())).get(60, TimeUnit.SECONDS);
    } finally {
      out.close();
    }
  }

  private static void writeBuffered(CrailStore store, String path, ByteBuffer bytes)
      throws Exception {
    byte[] all = new byte[LENGTH];
    bytes.duplicate().get(all);
    try (CrailBufferedOutputStream out =
        create(store, path, CrailStorageClass.DEFAULT).getBufferedOutputStream(LENGTH)) {
      out.write(all);
    }
  }

  private static void put(CrailStore store, String path, ByteBuffer bytes) throws Exception {
    store.put(path, OffHeapBuffer.wrap(bytes.duplicate())).get(60, TimeUnit.SECONDS);
  }

  private static ErrorCode codeOf(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CrailException crail) {
        return crail.code();
      }
    }
    throw new AssertionError("no typed error", failure);
  }

  private static List<Acknowledged> repeat(
      Work work,
      CrailStore store,
      String name,
      AtomicInteger count,
      AtomicBoolean killed,
      AtomicBoolean stop)
      throws Exception {
    ArrayDeque<Acknowledged> all = new ArrayDeque<>();
    ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH);
    for (int i = 0; !stop.get(); i++) {
      String path = name + "-" + i;
      bytes.putInt(0, i).putInt(LENGTH - Integer.BYTES, i);
      // Before the write: after it, this thread may wait for a processor.
      long nanos = System.nanoTime();
      try {
        work.write(store, path, bytes);
        all.add(new Acknowledged(path, nanos, i));
        count.incrementAndGet();
        while (all.size() > LEFT && !killed.get()) {
          store.delete(all.pollFirst().path, false).get(60, TimeUnit.SECONDS);
        }
      } catch (Exception e) {
        assertEquals(ErrorCode.UNAVAILABLE, codeOf(e), () -> path + ": " + e);
      }
    }
    return List.copyOf(all);
  }

  /** Whether all bytes of something are there; fails when they are wrong, or an error is slow. */
  private static boolean isThere(CrailStore store, String path, int mark) throws Exception {
    CrailNode node = store.lookup(path).get(60, TimeUnit.SECONDS);
    assertNotNull(node, path);
    ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH);
    OffHeapBuffer buffer = OffHeapBuffer.wrap(bytes);
    try {
      CrailInputStream in =
          (path.startsWith("/table/") ? node.asKeyValue() : node.asFile())
              .getDirectInputStream(LENGTH);
      try {
        while (buffer.remaining() > 0) {
          assertTrue(in.read(buffer).get(60, TimeUnit.SECONDS).getLen() > 0, path);
        }
      } finally {
        in.close();
      }
    } catch (Exception e) {
      ErrorCode code = codeOf(e);
      assertTrue(code == ErrorCode.UNAVAILABLE || code == ErrorCode.DATA_LOST, path + ": " + e);
      return false;
    }
    assertEquals(mark, bytes.getInt(0), path);
    assertEquals(mark, bytes.getInt(LENGTH - Integer.BYTES), path);
    return true;
  }

  @Test
  void writesAcknowledgedAfterTheKillAreThere() throws Exception {
    Map<String, Work> kinds =
        Map.of(
            "/direct", KilledDatanodeSystemTest::writeDirect,
            "/buffered", KilledDatanodeSystemTest::writeBuffered,
            "/table/put", KilledDatanodeSystemTest::put);
    long latestNanos = Long.MIN_VALUE;
    int lost = 0;
    try (ProcessCluster cluster = ProcessCluster.start(1, 0, SETTINGS);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      store
          .create(
              "/table",
              CrailNodeType.TABLE,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get(60, TimeUnit.SECONDS);
      cluster.startDatanode("512m", -1);
      for (int round = 0; round < ROUNDS; round++) {
        final int victim = cluster.startDatanode("256m", -1);
        ExecutorService threads = Executors.newFixedThreadPool(kinds.size());
        AtomicBoolean killed = new AtomicBoolean();
        AtomicBoolean stop = new AtomicBoolean();
        List<Future<List<Acknowledged>>> writers = new ArrayList<>();
        List<AtomicInteger> counts = new ArrayList<>();
        long killedNanos;
        try {
          for (Map.Entry<String, Work> kind : kinds.entrySet()) {
            AtomicInteger count = new AtomicInteger();
            counts.add(count);
            String name = kind.getKey() + round;
            writers.add(
                threads.submit(() -> repeat(kind.getValue(), store, name, count, killed, stop)));
          }
          Await.until(
              "all write",
              PATIENCE,
              () -> counts.stream().allMatch(count -> count.get() > 2 * LEFT));
          killed.set(true);
          long beforeNanos = System.nanoTime();
          cluster.datanode(victim).kill();
          // A process needs a processor to end, too.
          killedNanos = System.nanoTime();
          System.out.println("the end took " + (killedNanos - beforeNanos) / 1000 + " us");
          long end = killedNanos + AFTER_NANOS;
          Await.until("some time", PATIENCE, () -> System.nanoTime() - end > 0);
        } finally {
          stop.set(true);
          threads.shutdown();
        }
        for (Future<List<Acknowledged>> writer : writers) {
          boolean goesOn = false;
          for (Acknowledged each : writer.get(90, TimeUnit.SECONDS)) {
            String path = each.path;
            long afterNanos = each.nanos - killedNanos;
            goesOn |= afterNanos > GRACE_NANOS;
            if (!isThere(store, path, each.mark)) {
              lost++;
              latestNanos = Math.max(latestNanos, afterNanos);
              assertTrue(
                  afterNanos < GRACE_NANOS,
                  () -> path + " is lost, begun " + afterNanos / 1000 + " us after");
            }
            store.delete(path, false).get(60, TimeUnit.SECONDS);
          }
          assertTrue(goesOn, "a writer goes on elsewhere");
        }
      }
    }
    assertTrue(lost > 0, "no datanode was hit");
    System.out.println(
        lost + " lost, the latest begun " + latestNanos / 1000 + " us after the end");
  }

  private static CrailStore open(ProcessCluster cluster, boolean mapped) throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration("crail.storage.localmap", String.valueOf(mapped))));
  }

  private static ByteBuffer marked(int mark) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH);
    return bytes.putInt(0, mark).putInt(LENGTH - Integer.BYTES, mark);
  }

  @Test
  void dataOfADeadDatanodeCannotBeReachedInAnyWay() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, SETTINGS);
        CrailStore earlier = open(cluster, true)) {
      writeDirect(earlier, "/file", marked(1));
      assertTrue(isThere(earlier, "/file", 1));
      cluster.datanode(0).kill();
      assertEquals(1, cluster.leftovers().size(), "its files are left");
      try (CrailStore later = open(cluster, true);
          CrailStore remote = open(cluster, false)) {
        List<CrailStore> all = List.of(earlier, later, remote);
        for (CrailStore store : all) {
          assertFalse(isThere(store, "/file", 1));
        }
        String address = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
        assertEquals(0, Ran.run(cluster.directory(), "removeDatanode", address).code());
        for (CrailStore store : all) {
          assertFalse(isThere(store, "/file", 1));
        }
      }
    }
  }

  /** Also when no byte was written since a sync that was right at its time. */
  @Test
  void eachLaterSyncSaysThatBytesAreLost() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, SETTINGS);
        CrailStore store = open(cluster, true)) {
      CrailOutputStream out =
          create(store, "/synced", CrailStorageClass.DEFAULT).getDirectOutputStream(LENGTH);
      out.write(OffHeapBuffer.wrap(marked(1))).get(60, TimeUnit.SECONDS);
      out.sync().get(60, TimeUnit.SECONDS);
      cluster.datanode(0).kill();
      Await.until("the end is noticed", PATIENCE, () -> isLost(out));
      assertTrue(isLost(out), "said again");
      assertEquals(ErrorCode.UNAVAILABLE, codeOf(assertThrows(CrailException.class, out::close)));
    }
  }

  private static boolean isLost(CrailOutputStream out) throws Exception {
    try {
      out.sync().get(60, TimeUnit.SECONDS);
      return false;
    } catch (ExecutionException e) {
      assertEquals(ErrorCode.UNAVAILABLE, codeOf(e), e::toString);
      return true;
    }
  }

  @Test
  void aStoppedDatanodeServesItsHost() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, SETTINGS);
        CrailStore earlier = open(cluster, true)) {
      writeDirect(earlier, "/before", marked(1));
      cluster.datanode(0).signal("STOP");
      try (CrailStore later = open(cluster, true)) {
        for (CrailStore store : List.of(earlier, later)) {
          assertTrue(isThere(store, "/before", 1));
          writeDirect(store, "/stopped", marked(2));
          assertTrue(isThere(store, "/stopped", 2));
          store.delete("/stopped", false).get(60, TimeUnit.SECONDS);
        }
      } finally {
        cluster.datanode(0).signal("CONT");
      }
      assertTrue(isThere(earlier, "/before", 1));
    }
  }
}
