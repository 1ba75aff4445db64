/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.append;
import static io.crail.store.Bytes.buffer;
import static io.crail.store.Bytes.createFile;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.StaleNodeException;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.common.error.WriteLeaseLostException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.RenewLeases;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One writer at a time; what leases do when time passes is shown in virtual time. */
@EachTier
@Tag("repeat")
class WriteLeaseTest {
  private static final int MIB = 1 << 20;

  private final Tier tier;
  private final String[] settings;
  private TestCluster cluster;
  private CrailStore store;

  WriteLeaseTest(Tier tier) {
    this.tier = tier;
    this.settings =
        tier.checksGeneration()
            ? new String[0]
            // What is deleted rests for so long.
            : new String[] {"crail.lease=10s", "crail.namenode.freemargin=1s"};
  }

  @BeforeEach
  void start() throws Exception {
    cluster = TestCluster.start(tier, 1, 1, settings);
    store = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  @Test
  void aSecondWriterIsRefused() throws Exception {
    CrailFile file = createFile(store, "/one");
    CrailOutputStream output = file.getDirectOutputStream(0);
    assertThrows(WriteLeaseHeldException.class, () -> file.getDirectOutputStream(0));
    assertThrows(WriteLeaseHeldException.class, () -> file.getBufferedOutputStream(0));
    CrailFile again = store.lookup("/one").get().asFile();
    assertThrows(WriteLeaseHeldException.class, () -> again.getDirectOutputStream(0));
    CrailFile elsewhere = cluster.newStore().lookup("/one").get().asFile();
    assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
    output.write(buffer(new byte[10])).get();
    output.close();
    append(elsewhere, new byte[5]);
    append(again, new byte[5]);
    assertEquals(20, store.lookup("/one").get().getCapacity());
  }

  @Test
  void aTimerRenewsTheLeasesOfIdleStreams() throws Exception {
    // So short that an idle loop, which looks around once a second, does not do in its place.
    cluster.close();
    cluster = TestCluster.start(tier, 1, 1, "crail.lease=100ms");
    store = cluster.newStore();
    awaitRenewals("/first", 80);
    TestCluster.await("the timer sleeps", WriteLeaseTest::timersSleep);
    awaitRenewals("/second", 80);
  }

  /** True when no timer of this process waits for a time. */
  private static boolean timersSleep() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("crail-client-leases"))
        .allMatch(thread -> thread.getState() == Thread.State.WAITING);
  }

  /** Waits for renewals of a stream, of another one whenever a pause has cost its lease. */
  private void awaitRenewals(String path, int count) throws Exception {
    long before = cluster.operations(NameNodeOperations.RENEW_LEASES);
    CrailOutputStream[] output = {createFile(store, path).getDirectOutputStream(0)};
    TestCluster.await(
        count + " renewals",
        () -> {
          if (isLost(output[0])) {
            store.delete(path, false).get();
            output[0].close();
            output[0] = createFile(store, path).getDirectOutputStream(0);
          }
          return cluster.operations(NameNodeOperations.RENEW_LEASES) >= before + count;
        });
    store.delete(path, false).get();
    output[0].close();
  }

  private static boolean isLost(CrailOutputStream output) throws Exception {
    try {
      output.write(Bytes.empty(0)).get();
      return false;
    } catch (WriteLeaseLostException e) {
      return true;
    }
  }

  /** So many that a renewal takes several requests. */
  @Test
  void theLeasesOfManyStreamsAreRenewed() throws Exception {
    cluster.close();
    cluster = TestCluster.start(tier, 1, 1, "crail.lease=10s");
    store = cluster.newStore();
    List<CrailOutputStream> outputs = new ArrayList<>();
    int requests = 3;
    for (int i = 0; i < (requests - 1) * RenewLeases.MAX_LEASES + 100; i++) {
      outputs.add(createFile(store, "/many" + i).getDirectOutputStream(0));
    }
    // More than in the time of a lease.
    long enough = cluster.operations(NameNodeOperations.RENEW_LEASES) + 5L * requests;
    TestCluster.await(
        "renewals", () -> cluster.operations(NameNodeOperations.RENEW_LEASES) >= enough);
    for (CrailOutputStream output : outputs) {
      assertFalse(isLost(output));
    }
    for (CrailOutputStream output : outputs) {
      output.close();
    }
  }

  @Test
  void leasesOfUnwrittenFilesDoNotPileUp() throws Exception {
    CrailStore other = cluster.newStore();
    List<CrailFile> created = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      created.add(createFile(store, "/idle" + i));
    }
    // The first ones were given back, and later ones not even asked for.
    append(other.lookup("/idle0").get().asFile(), new byte[1]);
    append(other.lookup("/idle599").get().asFile(), new byte[1]);
    assertEquals(0, created.get(0).getToken());
    assertEquals(0, created.get(599).getToken());
    assertTrue(created.get(256).getToken() != 0);
    // Every handle can be written all the same, and then leases come with creates again.
    append(created.get(0), new byte[1]);
    append(created.get(599), new byte[1]);
    append(created.get(300), new byte[1]);
    assertTrue(createFile(store, "/busy").getToken() != 0);
  }

  @Test
  void anotherHandleOfTheStoreMayWriteWhatTheCreatorDidNot() throws Exception {
    CrailFile created = createFile(store, "/unwritten");
    append(store.lookup("/unwritten").get().asFile(), new byte[3]);
    append(created, new byte[4]);
    assertEquals(7, store.lookup("/unwritten").get().getCapacity());
    CrailOutputStream output = created.getDirectOutputStream(0);
    CrailFile second = store.lookup("/unwritten").get().asFile();
    assertThrows(WriteLeaseHeldException.class, () -> second.getDirectOutputStream(0));
    output.close();
  }

  @Test
  void aDeleteEndsTheStreamsOfItsOwnStoreAndFreesTheirSpaceAtOnce() throws Exception {
    CrailFile file = createFile(store, "/deleted");
    CrailOutputStream output = file.getDirectOutputStream(8 * MIB);
    output.write(buffer(new byte[3 * MIB]));
    store.delete("/deleted", false).get();
    assertEquals(0, cluster.usage().usedBytes());
    if (tier.checksGeneration()) {
      assertEquals(0, cluster.usage().waitingBytes());
    }
    assertThrows(StaleNodeException.class, () -> output.write(buffer(new byte[1])));
    output.close();
  }

  @Test
  void aRefusedDeleteLeavesTheStreamsBelowAlone() throws Exception {
    Bytes.create(store, "/dir", CrailNodeType.DIRECTORY);
    CrailFile file = createFile(store, "/dir/f");
    CrailOutputStream output = file.getDirectOutputStream(0);
    assertThrows(ExecutionException.class, () -> store.delete("/dir", false).get());
    output.write(buffer(new byte[10])).get();
    store.delete("/dir", true).get();
    assertThrows(StaleNodeException.class, () -> output.write(buffer(new byte[1])));
    output.close();
    assertEquals(0, cluster.usage().usedBytes());
  }

  @Test
  void aFullStoreFailsWritesTypedAndServesOn() throws Exception {
    CrailFile file = createFile(store, "/full");
    CrailOutputStream output = file.getDirectOutputStream(0);
    byte[] part = new byte[4 * MIB];
    int written = 0;
    ExecutionException failed = null;
    while (failed == null) {
      try {
        output.write(buffer(part)).get();
        written += part.length;
      } catch (ExecutionException e) {
        failed = e;
      }
    }
    assertEquals(NoSpaceException.class, failed.getCause().getClass());
    assertThrows(NoSpaceException.class, () -> output.write(buffer(part)));
    assertThrows(ExecutionException.class, () -> output.sync().get());
    assertThrows(NoSpaceException.class, output::close);
    output.close();
    CrailFile found = store.lookup("/full").get().asFile();
    assertEquals(written, found.getCapacity());
    assertArrayEquals(new byte[written], Bytes.read(found));
    CrailBufferedOutputStream buffered = createFile(store, "/buffered").getBufferedOutputStream(0);
    assertThrows(NoSpaceException.class, () -> buffered.write(new byte[20 * MIB]));
    for (int i = 0; i < 3; i++) {
      assertThrows(NoSpaceException.class, () -> buffered.write(new byte[2 * MIB]));
    }
    assertThrows(NoSpaceException.class, buffered::close);
    // Nothing of the failure stays: with space, the same handle appends on.
    CrailFile other = createFile(store, "/other");
    CrailOutputStream starved = other.getDirectOutputStream(1L << 30);
    assertThrows(ExecutionException.class, () -> starved.write(buffer(part)).get());
    assertThrows(NoSpaceException.class, starved::close);
    store.delete("/full", false).get();
    if (!tier.checksGeneration()) {
      TestCluster.await("no space rests", () -> cluster.usage().waitingBytes() == 0);
    }
    append(other, part);
    assertEquals(part.length, store.lookup("/other").get().getCapacity());
  }
}
