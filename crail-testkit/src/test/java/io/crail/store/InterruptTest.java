/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Threads that are interrupted while they use a stream: an interrupt ends a wait, and nothing else.
 * Neither a file nor a connection suffers from it. Each way that bytes take adds a subclass.
 */
@EachTier(and = Tier.MAPPED)
class InterruptTest {
  /** As long as a region, so that there is always one that is used for the first time. */
  private static final int PART = 1 << 20;

  private static final int PARTS = 6;

  private final Tier tier;
  private final byte[] bytes;
  private TestCluster cluster;
  private CrailStore store;

  InterruptTest(Tier tier) {
    this.tier = tier;
    this.bytes = Bytes.random(new Random(Bytes.seed("interrupts")), PARTS * PART);
  }

  @BeforeEach
  void start() throws Exception {
    String map = "crail.storage.localmap=" + tier.isMapped();
    cluster =
        TestCluster.start(
            tier,
            1,
            1,
            map,
            "crail.storage.tcp.allocationsize=1m",
            "crail.storage.rdma.allocationsize=1m");
    store = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    Thread.interrupted();
    cluster.close();
  }

  private CrailFile lookup() throws Exception {
    return store.lookup("/f").get().asFile();
  }

  /** Ends the time as an interrupted thread. */
  private static void assertStillInterrupted() {
    assertTrue(Thread.interrupted(), "the interrupt got lost");
  }

  @Test
  void directWritesAndReads() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(bytes.length);
    List<Future<CrailResult>> writes = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += PART) {
      CrailBuffer part = Bytes.buffer(Arrays.copyOfRange(bytes, at, at + PART));
      Thread.currentThread().interrupt();
      writes.add(output.write(part));
      assertStillInterrupted();
      // With its location known, the next one is written in this thread.
      writes.get(writes.size() - 1).get();
    }
    output.close();
    assertArrayEquals(bytes, Bytes.read(lookup()));
    // Another client's first access.
    store = cluster.newStore();
    CrailInputStream input = lookup().getDirectInputStream(bytes.length);
    CrailBuffer target = Bytes.empty(bytes.length);
    while (target.position() < bytes.length) {
      target.limit(target.position() + PART);
      Thread.currentThread().interrupt();
      Future<CrailResult> read = input.read(target);
      // This thread drives the loop, and finds the way to the datanode.
      TestCluster.poll("the read", read::isDone);
      assertStillInterrupted();
      assertEquals(PART, read.get().getLen());
    }
    input.seek(0);
    target.clear().limit(PART);
    input.read(target).get();
    input.close();
    byte[] found = new byte[bytes.length];
    target.clear().get(found);
    assertArrayEquals(bytes, found);
    // A region that is here is not reached over the network for all that.
    String counters = store.getStatistics().describe("core/input");
    assertEquals(tier.isMapped(), counters.contains("remoteOps 0"), counters);
    assertEquals(!tier.isMapped(), counters.contains("localOps 0"), counters);
  }

  @Test
  void bufferedWritesAndReads() throws Exception {
    CrailFile file = Bytes.createFile(store, "/f");
    CrailBufferedOutputStream output = file.getBufferedOutputStream(bytes.length);
    int written = 0;
    while (written < bytes.length) {
      Thread.currentThread().interrupt();
      try {
        output.write(bytes, written, bytes.length - written);
        written = bytes.length;
      } catch (InterruptedIOException e) {
        written += e.bytesTransferred;
      }
      assertStillInterrupted();
      output.purge().get();
    }
    output.close();
    assertArrayEquals(bytes, Bytes.read(lookup()));
    store = cluster.newStore();
    CrailBufferedInputStream input = lookup().getBufferedInputStream(bytes.length);
    byte[] found = new byte[bytes.length];
    int at = 0;
    while (at < found.length) {
      Thread.currentThread().interrupt();
      try {
        int count = input.read(found, at, found.length - at);
        assertTrue(count > 0, () -> "read " + count);
        at += count;
        assertStillInterrupted();
      } catch (InterruptedIOException e) {
        at += e.bytesTransferred;
        assertStillInterrupted();
        // Uninterrupted it goes on from there.
        found[at++] = (byte) input.read();
      }
      assertEquals(at, input.position());
    }
    assertEquals(-1, input.read());
    input.close();
    assertArrayEquals(bytes, found);
  }
}
