/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.DrainStanding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what a namenode knows of the drain of a datanode, and how a drain is undone. */
class DrainStandingTest {
  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    datanode = store.datanode(1, "one", 0, true, 8L << 20);
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  private DrainDatanode.Response ask(DrainAction action) throws Exception {
    return store.call(NameNodeOperations.DRAIN_DATANODE, new DrainDatanode.Request(1, 1, action));
  }

  private DrainStanding standing() throws Exception {
    return ask(DrainAction.LOOK).standing();
  }

  private KeepAlive.Response alive() throws Exception {
    return store.call(
        NameNodeOperations.KEEP_ALIVE,
        new KeepAlive.Request(datanode, false, 0, Long.MAX_VALUE, -1, -1));
  }

  @Test
  void aDatanodeIsRememberedAfterItWasLetGo() throws Exception {
    assertEquals(DrainStanding.ACTIVE, standing());
    store.write("/f", 100);
    DrainDatanode.Response begun = ask(DrainAction.BEGIN);
    assertEquals(DrainStanding.DRAINING, begun.standing());
    assertEquals(datanode, begun.datanode());
    assertEquals(4096, begun.usedBytes());
    store.passAlive(1000, datanode);
    assertEquals(1000, ask(DrainAction.BEGIN).drainMillis());
    assertFalse(alive().stop());
    store.remove("/f", false);
    store.passAlive(100, datanode);
    assertTrue(alive().stop());
    assertEquals(DrainStanding.LET_GO, standing());
    // As long as it lives, since another namenode needs it, and a little longer.
    store.passAlive(60_000, datanode);
    assertEquals(DrainStanding.LET_GO, standing());
    store.pass(15_000);
    assertEquals(DrainStanding.LET_GO, standing());
    store.pass(2000);
    assertEquals(DrainStanding.UNKNOWN, standing());
  }

  @Test
  void aDrainIsCancelled() throws Exception {
    store.write("/f", 100);
    ask(DrainAction.BEGIN);
    // A young namenode expects more datanodes.
    store.passAlive(20_000, datanode);
    refused(ErrorCode.NO_SPACE, () -> store.write("/g", 100));
    assertEquals(DrainStanding.ACTIVE, ask(DrainAction.CANCEL).standing());
    assertFalse(alive().draining());
    store.write("/h", 100);
    // After the other way to begin one, too.
    store.call(
        NameNodeOperations.REMOVE_DATANODE, new RemoveDatanode.Request(true, 1001, Utf8.of("one")));
    assertEquals(DrainStanding.DRAINING, standing());
    assertEquals(DrainStanding.ACTIVE, ask(DrainAction.CANCEL).standing());
    assertEquals(DrainStanding.ACTIVE, ask(DrainAction.CANCEL).standing());
  }

  @Test
  void aDatanodeThatWasLetGoAndLivesIsUsedAgain() throws Exception {
    ask(DrainAction.BEGIN);
    assertTrue(alive().stop());
    assertEquals(DrainStanding.ACTIVE, ask(DrainAction.CANCEL).standing());
    KeepAlive.Response answer = alive();
    assertFalse(answer.stop());
    assertFalse(answer.draining());
    assertEquals(8, answer.totalBlocks());
    store.write("/f", 100);
  }

  @Test
  void aSilentDatanodeIsNeitherDrainedNorBroughtBack() throws Exception {
    store.pass(17_000);
    assertEquals(DrainStanding.SILENT, ask(DrainAction.BEGIN).standing());
    store.passAlive(100, datanode);
    assertEquals(DrainStanding.ACTIVE, standing());
    ask(DrainAction.BEGIN);
    store.pass(17_000);
    assertEquals(DrainStanding.SILENT, ask(DrainAction.CANCEL).standing());
    store.passAlive(100, datanode);
    assertTrue(alive().stop());
  }

  @Test
  void lostBytesAreReportedWithThePresentStanding() throws Exception {
    store.write("/f", 100);
    store.pass(17_000);
    store.call(
        NameNodeOperations.REMOVE_DATANODE, new RemoveDatanode.Request(true, 1001, Utf8.of("one")));
    DrainDatanode.Response lost = ask(DrainAction.CANCEL);
    assertEquals(DrainStanding.LOST, lost.standing());
    assertEquals(4096, lost.usedBytes());
    assertEquals(-1, lost.datanode());
    store.remove("/f", false);
    store.pass(100);
    assertEquals(
        DrainStanding.UNKNOWN,
        store
            .call(
                NameNodeOperations.DRAIN_DATANODE,
                new DrainDatanode.Request(2, 2, DrainAction.BEGIN))
            .standing());
  }
}
