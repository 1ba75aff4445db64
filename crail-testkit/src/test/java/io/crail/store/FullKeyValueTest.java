/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.CrailTable;
import io.crail.common.error.CrailException;
import io.crail.common.error.LimitExceededException;
import io.crail.protocol.NameNodeOperations;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Values that would be small, but for the namenode, which has memory for next to none. */
@EachTier(ifLong = Tier.RDMA)
@Tag("repeat")
class FullKeyValueTest extends KeyValueContract {
  FullKeyValueTest() {
    super("crail.namenode.smallvalue=1k", "crail.namenode.smallvalues=60");
  }

  @Override
  boolean lostWithItsStore() {
    return true;
  }

  @Test
  void aPutThatIsNotKeptHasItsSpaceWithTheSameRequest() throws Exception {
    CrailTable table = table("/full");
    long before = cluster().operations(NameNodeOperations.PUT);
    for (int i = 0; i < 20; i++) {
      table.put("k", Bytes.buffer(value(100, i))).get();
    }
    assertEquals(20, cluster().operations(NameNodeOperations.PUT) - before);
    store().delete("/full", true).get();
  }

  @Test
  void anInterruptedCloseGivesItsLeaseBack() throws Exception {
    // Who is interrupted before the namenode has refused the value gives the lease back without
    // it; when its bytes are on their way to a datanode the lease runs out; or they were there. A
    // close that finds each answer there before it looks is not interrupted at all.
    try (TestCluster brief =
        TestCluster.start(
            tier(),
            1,
            1,
            "crail.namenode.smallvalue=1k",
            "crail.namenode.smallvalues=60",
            "crail.lease=5s")) {
      CrailStore reader = brief.newStore();
      Bytes.create(reader, "/interrupted", CrailNodeType.TABLE);
      CrailStore writer = brief.newStore();
      CrailOutputStream output = create(writer, "/interrupted/k").getDirectOutputStream(0);
      output.write(Bytes.buffer(value(100, 1))).get();
      // It makes the store renew whatever leases it still has.
      CrailOutputStream other = create(writer, "/interrupted/other").getDirectOutputStream(0);
      Thread.currentThread().interrupt();
      boolean closed = false;
      try {
        output.close();
        closed = true;
      } catch (InterruptedException e) {
        assertFalse(Thread.currentThread().isInterrupted());
      }
      assertEquals(closed, Thread.interrupted());
      CrailKeyValue found = reader.lookup("/interrupted/k").get().asKeyValue();
      CrailOutputStream next = SimulatedCluster.takeOver(found);
      long arrived = next.position();
      assertTrue(arrived == 100 || arrived == 0 && !closed, arrived + " bytes");
      next.write(Bytes.buffer(value(100, 2))).get();
      next.close();
      ByteBuffer expected = ByteBuffer.allocate((int) arrived + 100);
      if (arrived > 0) {
        expected.put(value(100, 1));
      }
      assertArrayEquals(expected.put(value(100, 2)).array(), read(reader, "/interrupted/k"));
      other.close();
      reader.delete("/interrupted", true).get();
      TestCluster.await("space is free", () -> brief.usage().usedBytes() == 0);
    }
  }

  @Test
  void aStoreThatIsClosedWithAnOpenStreamGivesItsLeaseBack() throws Exception {
    table("/closed");
    CrailStore writer = cluster().newStore();
    CrailOutputStream output = create(writer, "/closed/k").getDirectOutputStream(0);
    output.write(Bytes.buffer(value(100, 1))).get();
    writer.close();
    // At once: the store has waited for it, and the lease would last for a minute.
    CrailKeyValue found = store().lookup("/closed/k").get().asKeyValue();
    found.getDirectOutputStream(0).close();
    assertThrows(CrailException.class, output::close);
    store().delete("/closed", true).get();
  }

  @Test
  void aStoreThatHasLentAllItsBuffersWritesSmallValuesAllTheSame() throws Exception {
    table("/lent");
    CrailStore writer =
        cluster().newStore("crail.buffersize=4k", "crail.slicesize=4k", "crail.cachelimit=4k");
    CrailBuffer lent = writer.allocateBuffer();
    byte[] value = value(100, 1);
    write(writer, "/lent/k", value);
    assertArrayEquals(value, read(store(), "/lent/k"));
    assertThrows(LimitExceededException.class, writer::allocateBuffer);
    writer.freeBuffer(lent);
    store().delete("/lent", true).get();
  }
}
