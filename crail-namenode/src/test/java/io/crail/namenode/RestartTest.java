/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.ByteText;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.InvalidArgumentException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.node.Create;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.NodeType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests space that datanodes have lent to another namenode before, as after a restart. */
class RestartTest {
  private static final long LEASE_MILLIS = 10_000;
  private static final long MARGIN_MILLIS = 6_000;
  private static final long OFFLINE_MILLIS = 16_000;
  private static final long USED = 1L << 40;
  private static final long BYTES = 4L << 20;

  private final TestStore store;

  RestartTest() throws Exception {
    store = new TestStore();
  }

  /** A datanode whose first region was in use before. */
  private int usedDatanode(boolean checks) throws Exception {
    int id =
        store
            .call(
                NameNodeOperations.REGISTER_DATANODE,
                TestStore.registration(1, "host", 1001, 0, checks))
            .datanode();
    store.region(id, 0, BYTES, USED);
    return id;
  }

  private List<Extent> take(String path, long bytes) throws Exception {
    return store.extend(store.create(NodeType.DATAFILE, path, 9).id(), 9, 0, bytes);
  }

  private void assertRests(boolean checks, long millis) throws Exception {
    int datanode = usedDatanode(checks);
    store.passAlive(millis - 1000, datanode);
    CrailException refused = assertThrows(CrailException.class, () -> take("/early", 1));
    assertEquals(ErrorCode.SPACE_TO_COME, refused.code());
    assertTrue(refused.getMessage().contains(ByteText.of(BYTES)), refused.getMessage());
    assertTrue(refused.getMessage().endsWith("come within 1000 ms"), refused.getMessage());
    store.call(
        NameNodeOperations.CREATE,
        new Create.Request(
            NodeType.DATAFILE, true, true, false, 0644, 1, 9, Utf8.of("/s"), Utf8.EMPTY));
    long other = store.lookup("/s").node().id();
    // Its class has no datanode; one may not have noticed yet that there is a new namenode.
    refused(ErrorCode.SPACE_TO_COME, "may be on their way", () -> store.extend(other, 9, 0, 1));
    assertEquals(BYTES, store.usage(0).waitingBytes());
    assertEquals(BYTES, store.usage(0).capacityBytes());
    assertEquals(0, store.usage(0).freeBytes());
    store.namenode.verify();
    // Not even the request itself has to wait for the timer.
    store.clock.advanceMillis(1000);
    assertEquals(1, take("/late", 1).size());
    assertEquals(0, store.usage(0).waitingBytes());
    store.namenode.verify();
  }

  @Test
  void withGenerationsSpaceRestsForWritesInProgress() throws Exception {
    assertRests(true, MARGIN_MILLIS);
  }

  @Test
  void withoutChecksSpaceRestsForOtherLeasesToo() throws Exception {
    assertRests(false, LEASE_MILLIS + MARGIN_MILLIS);
  }

  @Test
  void aRegionThatWasNeverLentIsUsedAtOnce() throws Exception {
    int datanode = usedDatanode(true);
    store.region(datanode, 1, BYTES);
    for (Extent extent : take("/f", BYTES)) {
      assertEquals(1, extent.place().region());
    }
    refused(ErrorCode.SPACE_TO_COME, () -> take("/g", 1));
    store.passAlive(MARGIN_MILLIS, datanode);
    assertEquals(0, take("/h", 1).get(0).place().region());
    store.namenode.verify();
  }

  /** Any of its datanodes may be the one that had the space. */
  @Test
  void aNamenodeThatIsFullAtOnceWaitsForOtherDatanodesOfItsPredecessor() throws Exception {
    int datanode = usedDatanode(true);
    store.passAlive(MARGIN_MILLIS, datanode);
    store.write("/f", (int) BYTES);
    refused(ErrorCode.SPACE_TO_COME, "may be on their way", () -> take("/g", 1));
    store.passAlive(OFFLINE_MILLIS - MARGIN_MILLIS, datanode);
    refused(ErrorCode.NO_SPACE, () -> take("/h", 1));
  }

  @Test
  void generationsGoOnWhateverTheClockSays() throws Exception {
    long generation = 0;
    for (int restart = 0; restart < 3; restart++) {
      // Each begins at the same time of day.
      TestStore next = new TestStore();
      int datanode = next.datanode(1, "host", 0, true, BYTES);
      next.region(datanode, 1, BYTES, generation);
      next.passAlive(MARGIN_MILLIS, datanode);
      long id = next.create(NodeType.DATAFILE, "/f", 9).id();
      long end = 0;
      while (end < 2 * BYTES) {
        for (Extent extent : next.extend(id, 9, end, 2 * BYTES - end)) {
          end = extent.fileEnd();
          if (extent.place().region() == 1) {
            assertTrue(extent.place().generation() > generation);
            generation = extent.place().generation();
          }
        }
      }
    }
  }

  @Test
  void aRegistrationThatIsRepeatedChangesNothing() throws Exception {
    int datanode = usedDatanode(true);
    store.passAlive(MARGIN_MILLIS, datanode);
    Extent first = take("/f", 1).get(0);
    assertEquals(BYTES / TestStore.BLOCK, store.region(datanode, 0, BYTES, USED));
    Extent second = take("/g", 1).get(0);
    assertTrue(second.place().generation() > first.place().generation());
    assertEquals(0, store.usage(0).waitingBytes());
    store.namenode.verify();
  }

  @Test
  void spaceLentElsewhereMeanwhileIsLost() throws Exception {
    int datanode = usedDatanode(true);
    store.passAlive(MARGIN_MILLIS, datanode);
    Extent extent = take("/f", 1).get(0);
    long fence = extent.place().generation() + Generation.GAP;
    refused(ErrorCode.UNKNOWN_DATANODE, () -> store.region(datanode, 0, BYTES, fence));
    refused(
        ErrorCode.UNKNOWN_DATANODE,
        () -> store.rule().keepAlive(TestStore.sign(datanode, 0), TestStore.caller("")));
    int again = usedDatanode(true);
    assertNotEquals(datanode, again);
    refused(ErrorCode.SPACE_TO_COME, () -> take("/g", 1));
    store.passAlive(MARGIN_MILLIS, again);
    assertEquals(again, take("/h", 1).get(0).place().datanode());
    store.remove("/f", false);
    store.namenode.verify();
  }

  @Test
  void aDatanodeThatMayEndMayHaveLentElsewhere() throws Exception {
    int datanode = usedDatanode(true);
    store.call(
        NameNodeOperations.REMOVE_DATANODE,
        new RemoveDatanode.Request(true, 1001, Utf8.of("host")));
    store.passAlive(MARGIN_MILLIS, datanode);
    assertTrue(store.rule().keepAlive(TestStore.sign(datanode, 0), TestStore.caller("")).stop());
    // Behind another fence, and with another key.
    store.call(
        NameNodeOperations.REGISTER_REGION,
        new RegisterRegion.Request(datanode, 0, BYTES, 0, 7, USED + Generation.GAP));
    assertTrue(store.rule().keepAlive(TestStore.sign(datanode, 0), TestStore.caller("")).stop());
  }

  @Test
  void aGenerationWithoutASuccessorIsRefused() throws Exception {
    int datanode = store.datanode(BYTES);
    for (long lie : new long[] {-1, Generation.MAX + 1, Long.MAX_VALUE}) {
      assertThrows(InvalidArgumentException.class, () -> store.region(datanode, 1, BYTES, lie));
    }
  }
}
