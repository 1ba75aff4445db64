/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A client that is stopped in the middle of its writes, for longer than lease and margin, while
 * others delete its files, get the space and close what they write there. When it goes on, it and
 * its device go on where they were.
 */
@Tag("rdma")
class RdmaSleepingWriterTest {
  private static final int MIB = 1 << 20;

  /** A device tries again each 8.6 s, seven times in all, so for 60 s. */
  private static final int ACK_TIMEOUT = 21;

  private static final long TWO_TRIES_NANOS = 18_000_000_000L;
  private static final int THREADS = 4;
  private static final boolean LONG = Boolean.getBoolean("crail.test.long");

  /** How often the writer is stopped while its device has posted. */
  private static final int POSTED_ROUNDS = LONG ? 20 : 1;

  private static final int RANDOM_ROUNDS = 2;

  private final long seed = Bytes.seed("sleeping writer");
  private final Random random = new Random(seed);
  private TestCluster cluster;
  private CrailStore others;

  @BeforeEach
  void start() throws Exception {
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .storage(16 * MIB)
                .mapped(false)
                .set("crail.storage.types", "rdma")
                .set("crail.storage.rdma.interface", RdmaHost.SERVER)
                .set("crail.rdma.acktimeout", String.valueOf(ACK_TIMEOUT))
                .set("crail.lease", "10s")
                .set("crail.namenode.freemargin", "500ms")
                .set("crail.storage.keepalive", "500ms")
                // The test machine may be emulated.
                .set("crail.rpctimeout", "60s")
                .set("crail.datatimeout", "60s")
                .set("crail.storage.rdma.connecttimeout", "20s")
                // The datanode must not end a connection because of the cable.
                .set("crail.storage.rdma.keepalive", "10m")
                .start());
    // Has no need of the cable.
    others = cluster.newStore("crail.storage.localmap=true");
    others.lookup("/").get();
  }

  @AfterEach
  void stop() throws Exception {
    RdmaHost.hear(true);
    cluster.close();
  }

  private SleepingWriter startWriter(String what) throws Exception {
    return SleepingWriter.start(
        what,
        "crail.namenode.address=" + cluster.configuration().texts().get("crail.namenode.address"),
        "crail.storage.types=rdma",
        "crail.storage.localmap=false",
        "crail.rdma.acktimeout=" + ACK_TIMEOUT,
        "crail.storage.rdma.connecttimeout=20s",
        "crail.rpctimeout=60s",
        "crail.datatimeout=60s");
  }

  /** Deletes what the sleeper writes, and takes all space as soon as it is free. */
  private List<byte[]> takeAllSpace() throws Exception {
    List<String> slept = new ArrayList<>();
    Iterator<String> children = others.lookup("/").get().asDirectory().listEntries();
    children.forEachRemaining(
        path -> {
          if (path.startsWith("/slept")) {
            slept.add(path);
          }
        });
    assertTrue(!slept.isEmpty(), "the writer has written nothing");
    for (String path : slept) {
      others.delete(path, false).get();
    }
    TestCluster.await("all space is free", () -> cluster.usage().waitingBytes() == 0);
    List<byte[]> contents = new ArrayList<>();
    for (long free = cluster.usage().freeBytes(); free >= MIB; free -= MIB) {
      contents.add(Bytes.random(random, MIB));
      Bytes.write(others, "/full-" + (contents.size() - 1), contents.get(contents.size() - 1));
    }
    assertTrue(contents.size() > 8, contents.size() + " MiB were free");
    assertUntouched(contents);
    return contents;
  }

  private void assertUntouched(List<byte[]> contents) throws Exception {
    for (int i = 0; i < contents.size(); i++) {
      String path = "/full-" + i;
      assertArrayEquals(contents.get(i), Bytes.read(others.lookup(path).get().asFile()), path);
    }
  }

  private void remove(List<byte[]> contents) throws Exception {
    for (int i = 0; i < contents.size(); i++) {
      others.delete("/full-" + i, false).get();
    }
    TestCluster.await("all space is free", () -> cluster.usage().waitingBytes() == 0);
  }

  @Test
  @TwoHosts
  void postedWritesOfACutOffDeviceGoNowhere() throws Exception {
    int rounds = 0;
    for (int attempts = 0; rounds < POSTED_ROUNDS; attempts++) {
      assertTrue(attempts <= 2 * POSTED_ROUNDS, "its device gives up before all is taken");
      if (attempts > 0) {
        stop();
        start();
      }
      if (stopItWhenItHasPosted()) {
        rounds++;
        System.out.println("round " + rounds + " of " + POSTED_ROUNDS + ": nothing was changed");
      }
    }
  }

  /** Does a round; false when its device had given up before anybody could see what it does. */
  private boolean stopItWhenItHasPosted() throws Exception {
    try (SleepingWriter writer = startWriter("once")) {
      writer.await("ready");
      final int connections = RdmaHost.connections("rxe0");
      RdmaHost.hear(false);
      writer.proceed();
      assertEquals("", writer.await("posted"));
      writer.stop();
      List<byte[]> contents = takeAllSpace();
      boolean isTrying = connections == RdmaHost.connections("rxe0");
      RdmaHost.hear(true);
      if (!isTrying) {
        assertUntouched(contents);
        return false;
      }
      // The process still stands; its device tries again.
      long end = System.nanoTime() + TWO_TRIES_NANOS;
      while (System.nanoTime() - end < 0) {
        assertUntouched(contents);
        // What has been placed stays, so a look now and then is enough.
        Thread.sleep(1000);
      }
      others.delete("/full-0", false).get();
      others.delete("/full-1", false).get();
      contents.set(0, null);
      contents.set(1, null);
      TestCluster.await("there is space", () -> cluster.usage().waitingBytes() == 0);
      writer.resume();
      assertEquals("4", writer.await("failed"));
      writer.await("awake");
      for (int i = 2; i < contents.size(); i++) {
        String path = "/full-" + i;
        assertArrayEquals(contents.get(i), Bytes.read(others.lookup(path).get().asFile()), path);
      }
      assertEquals(MIB, others.lookup("/awake").get().getCapacity());
      return true;
    }
  }

  /** By chance, and slow on an emulated machine. */
  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void whereverItIsStoppedItChangesNothingOfOthers() throws Exception {
    try (SleepingWriter writer = startWriter(String.valueOf(THREADS))) {
      for (int round = 0; round < RANDOM_ROUNDS; round++) {
        for (int i = 0; i < 2 * THREADS + random.nextInt(THREADS); i++) {
          writer.await("wrote");
        }
        writer.stop();
        List<byte[]> contents = takeAllSpace();
        writer.resume();
        for (int i = 0; i < THREADS; i++) {
          writer.await("failed " + i);
        }
        assertUntouched(contents);
        remove(contents);
      }
    }
  }
}
