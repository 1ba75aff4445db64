/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.nvmf.Fate;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A sync makes bytes on flash durable, if the store is configured so. */
@Tag("once")
class FlashSyncTest {
  private static final int MIB = 1 << 20;
  private static final int SECTOR = 4096;
  private static final int FLUSH = 0;

  private NvmeTarget target;
  private TestCluster cluster;

  @BeforeEach
  void start() throws Exception {
    target =
        new NvmeTarget(
            new TargetOptions(),
            new TargetNamespace(1, 9 * MIB / SECTOR, SECTOR),
            new TargetNamespace(2, 9 * MIB / SECTOR, SECTOR));
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .tiers("nvmf")
                .storage(16 * MIB)
                .set("crail.storage.nvmf.allocationsize", "8m")
                .set("crail.storage.nvmf.targets", target.text())
                .start());
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    target.close();
    assertEquals(List.of(), target.complaints());
  }

  private long flushes() {
    return target.namespace(1).flushes() + target.namespace(2).flushes();
  }

  @Test
  void onlyAConfiguredStoreFlushes() throws Exception {
    CrailStore store = cluster.newStore();
    CrailOutputStream output = Bytes.createFile(store, "/usual").getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[10_000])).get();
    output.sync().get();
    output.close();
    assertEquals(0, flushes());
  }

  @Test
  void aSyncFlushesWhatWasWrittenSinceTheLastOne() throws Exception {
    CrailStore store = cluster.newStore("crail.client.durablesync=true");
    CrailOutputStream output = Bytes.createFile(store, "/durable").getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[10_000])).get();
    assertEquals(0, flushes());
    output.sync().get();
    assertEquals(1, flushes());
    output.sync().get();
    assertEquals(1, flushes());
    // Regions of both namespaces.
    for (int i = 0; i < 12; i++) {
      output.write(Bytes.buffer(new byte[MIB])).get();
    }
    output.sync().get();
    assertTrue(target.namespace(1).flushes() > 0 && target.namespace(2).flushes() > 0);
    output.close();
  }

  @Test
  void aFlushThatFailsFailsTheSyncAndIsTriedAgain() throws Exception {
    CrailStore store = cluster.newStore("crail.client.durablesync=true");
    CrailOutputStream output = Bytes.createFile(store, "/failing").getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[10_000])).get();
    target.plan(
        (queue, opcode, number) -> queue > 0 && opcode == FLUSH ? Fate.FAILED : Fate.NORMAL);
    ExecutionException failure = assertThrows(ExecutionException.class, () -> output.sync().get());
    assertEquals(ErrorCode.UNAVAILABLE, ((CrailException) failure.getCause()).code());
    assertEquals(0, store.lookup("/failing").get().getCapacity(), "it is not said to be there");
    target.plan((queue, opcode, number) -> Fate.NORMAL);
    output.sync().get();
    assertEquals(1, flushes());
    output.close();
  }
}
