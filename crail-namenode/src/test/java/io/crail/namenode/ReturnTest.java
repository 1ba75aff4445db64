/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Change;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.DrainStanding;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A datanode that keeps its bytes, whose process ends, and another one that comes with them. */
class ReturnTest {
  private static final UUID KEEPER = new UUID(7, 7);

  private final List<Change> records = new ArrayList<>();
  private final TestStore store;

  ReturnTest() throws Exception {
    store = new TestStore(new ManualClock(), records::add);
  }

  private static RegisterDatanode.Request process(long uuid, UUID keeper, long start, int port) {
    return new RegisterDatanode.Request(
        keeper, start, TestStore.registration(uuid, "host", port, 0, false).description());
  }

  private static int register(TestStore store, long uuid, UUID keeper, long start, int port)
      throws Exception {
    return store
        .call(NameNodeOperations.REGISTER_DATANODE, process(uuid, keeper, start, port))
        .datanode();
  }

  private static void region(TestStore store, int id, long start, int index, long key)
      throws Exception {
    store.call(
        NameNodeOperations.REGISTER_REGION,
        new RegisterRegion.Request(
            id, start, index, 2L * TestStore.BLOCK, 1L << 40 | index << 24, key, 0));
  }

  private static KeepAlive.Response life(TestStore store, int id, long start) throws Exception {
    return store.call(
        NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(id, start, false, 0, 0, -1, -1));
  }

  private static DescribeDatanode.Response describe(TestStore store, int id) throws Exception {
    return store.call(NameNodeOperations.DESCRIBE_DATANODE, new DescribeDatanode.Request(id, 0));
  }

  private int first(long key) throws Exception {
    int id = register(store, 1, KEEPER, 1, 1001);
    region(store, id, 1, 0, key);
    region(store, id, 1, 1, key);
    return id;
  }

  private static Extent extent(TestStore store, String path) throws Exception {
    long id = store.create(NodeType.DATAFILE, path, 9).id();
    return store.extend(id, 9, 0, 100).get(0);
  }

  /** Lets all datanodes be silent for long. */
  private static void silence(TestStore store) {
    store.clock.advanceMillis(store.namenode.options().offlineNanos() / 1_000_000 + 1);
  }

  private static DatanodeState stateOf(TestStore store, int id) throws Exception {
    return store
        .call(NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(-1))
        .datanodes()
        .stream()
        .filter(each -> each.id() == id)
        .findAny()
        .orElseThrow()
        .state();
  }

  @Test
  void anotherProcessTakesItsPlaceWhenItHasAllRegions() throws Exception {
    int id = first(5);
    Extent extent = extent(store, "/f");
    assertEquals(id, extent.place().datanode());
    silence(store);

    assertEquals(id, register(store, 2, KEEPER, 2, 1002));
    assertEquals(1, describe(store, id).uuidLow(), "its keys are not known yet");
    region(store, id, 2, 0, 6);
    life(store, id, 2);
    assertEquals(1, describe(store, id).uuidLow());
    region(store, id, 2, 1, 6);

    DescribeDatanode.Response now = describe(store, id);
    assertEquals(2, now.uuidLow());
    assertEquals(1002, now.port());
    assertTrue(now.keeps());
    assertTrue(now.online());
    assertTrue(now.regions().stream().allMatch(each -> each.key() == 6), now.toString());
    assertEquals(id, extent(store, "/g").place().datanode(), "has the rest of its space");
    refused(ErrorCode.UNKNOWN_DATANODE, () -> life(store, id, 1));
  }

  /** Its address and key are those of a process that has ended. */
  @Test
  void aLateRegionOfTheProcessBeforeIsRefused() throws Exception {
    int id = first(5);
    silence(store);
    register(store, 2, KEEPER, 2, 1002);
    region(store, id, 2, 0, 6);
    refused(ErrorCode.UNKNOWN_DATANODE, () -> region(store, id, 1, 1, 5));
    assertEquals(1, describe(store, id).uuidLow(), "a region is missing");
    region(store, id, 2, 1, 6);
    refused(ErrorCode.UNKNOWN_DATANODE, () -> region(store, id, 1, 1, 5));
    DescribeDatanode.Response now = describe(store, id);
    assertEquals(2, now.uuidLow());
    assertTrue(now.regions().stream().allMatch(each -> each.key() == 6), now.toString());
  }

  @Test
  void theRecordsSayTheSame() throws Exception {
    int id = first(5);
    extent(store, "/f");
    silence(store);
    register(store, 2, KEEPER, 2, 1002);
    region(store, id, 2, 0, 6);
    region(store, id, 2, 1, 6);

    TestStore next = store.replayed(records);
    assertEquals(describe(store, id), describe(next, id));
    life(next, id, 2);
    silence(next);
    assertEquals(id, register(next, 3, KEEPER, 3, 1003));
  }

  /** The namenode restarts while a process comes back: that one has to begin anew. */
  @Test
  void aReturnThatWasInterruptedBeginsAnew() throws Exception {
    int id = first(5);
    silence(store);
    register(store, 2, KEEPER, 2, 1002);
    region(store, id, 2, 0, 6);
    TestStore next = store.replayed(records);
    refused(ErrorCode.UNKNOWN_DATANODE, () -> region(next, id, 2, 1, 6));
    refused(ErrorCode.UNKNOWN_DATANODE, () -> life(next, id, 2));
    assertEquals(id, register(next, 2, KEEPER, 2, 1002));
    region(next, id, 2, 0, 6);
    region(next, id, 2, 1, 6);
    assertEquals(2, describe(next, id).uuidLow());
  }

  @Test
  void onlyOneProcessHasTheBytes() throws Exception {
    int id = first(5);
    refused(ErrorCode.ADDRESS_TAKEN, () -> register(store, 2, KEEPER, 2, 1002));
    silence(store);
    assertEquals(id, register(store, 2, KEEPER, 2, 1002));
    region(store, id, 2, 0, 6);
    region(store, id, 2, 1, 6);
    silence(store);
    refused(ErrorCode.INVALID_ARGUMENT, "are a copy", () -> register(store, 3, KEEPER, 2, 1003));
    refused(ErrorCode.INVALID_ARGUMENT, "are a copy", () -> register(store, 1, KEEPER, 1, 1001));
  }

  private static DrainDatanode.Response drain(TestStore store, UUID uuid, DrainAction action)
      throws Exception {
    return store.call(
        NameNodeOperations.DRAIN_DATANODE,
        new DrainDatanode.Request(
            uuid.getMostSignificantBits(), uuid.getLeastSignificantBits(), action));
  }

  @Test
  void aDrainGoesOnWithTheNextProcess() throws Exception {
    int id = first(5);
    Extent extent = extent(store, "/f");
    assertEquals(KEEPER, drain(store, new UUID(1, 1), DrainAction.BEGIN).keeper());
    silence(store);
    assertEquals(
        DrainStanding.SILENT, drain(store, KEEPER, DrainAction.LOOK).standing(), "it is away");
    register(store, 2, KEEPER, 2, 1002);
    region(store, id, 2, 0, 6);
    region(store, id, 2, 1, 6);
    DrainDatanode.Response now = drain(store, KEEPER, DrainAction.LOOK);
    assertEquals(DrainStanding.DRAINING, now.standing());
    assertEquals(extent.length(), now.usedBytes());
    assertEquals(now, drain(store, new UUID(2, 2), DrainAction.LOOK));
    assertTrue(life(store, id, 2).draining());
    refused(ErrorCode.NO_SPACE, () -> extent(store, "/g"));
    assertEquals(DrainStanding.ACTIVE, drain(store, KEEPER, DrainAction.CANCEL).standing());
    extent(store, "/h");
  }

  /** Other namenodes may still need it, or it was killed before it has heard that it may end. */
  @Test
  void oneThatMayEndMayEndAfterAStartToo() throws Exception {
    int id = first(5);
    drain(store, KEEPER, DrainAction.BEGIN);
    assertTrue(life(store, id, 1).stop());
    silence(store);
    assertEquals(id, register(store, 2, KEEPER, 2, 1001));
    assertTrue(life(store, id, 2).stop());
    region(store, id, 2, 0, 6);
    region(store, id, 2, 1, 6);
    assertTrue(life(store, id, 2).stop());
    assertEquals(DrainStanding.LET_GO, drain(store, KEEPER, DrainAction.LOOK).standing());
  }

  @Test
  void oneThatBeginsEmptyIsAnotherOne() throws Exception {
    int id = first(5);
    extent(store, "/f");
    silence(store);
    int next = register(store, 2, new UUID(8, 8), 1, 1001);
    assertNotEquals(id, next);
    assertFalse(describe(store, id).keeps(), "its data are lost");
    assertEquals(DatanodeState.LOST, stateOf(store, id));
    assertNotEquals(id, register(store, 3, KEEPER, 2, 1003), "its bytes are given up");
  }

  /** Datanodes may exchange their addresses while all of them are away. */
  @Test
  void oneThatReturnsTakesOnlyTheAddressOfAnother() throws Exception {
    int one = first(5);
    int other = register(store, 2, new UUID(8, 8), 1, 1002);
    region(store, other, 1, 0, 5);
    extent(store, "/f");
    extent(store, "/g");
    silence(store);
    assertEquals(one, register(store, 3, KEEPER, 2, 1002));
    region(store, one, 2, 0, 6);
    region(store, one, 2, 1, 6);
    assertEquals(other, register(store, 4, new UUID(8, 8), 2, 1001));
    region(store, other, 2, 0, 6);
    assertEquals(1002, describe(store, one).port());
    assertEquals(1001, describe(store, other).port());
  }

  /** Others have had its space meanwhile. */
  @Test
  void oneThatWasLentElsewhereHasLostItsData() throws Exception {
    int id = first(5);
    extent(store, "/f");
    silence(store);
    register(store, 2, KEEPER, 2, 1002);
    refused(
        ErrorCode.UNKNOWN_DATANODE,
        () ->
            store.call(
                NameNodeOperations.REGISTER_REGION,
                new RegisterRegion.Request(id, 2, 0, 2L * TestStore.BLOCK, 0, 0, 1L << 40)));
    assertNotEquals(id, register(store, 2, KEEPER, 2, 1002));
  }

  @Test
  void anEmptyOneIsForgottenAndRegistersAnew() throws Exception {
    int id = first(5);
    store.clock.advanceMillis(store.namenode.options().forgottenNanos() / 1_000_000 + 1);
    store.namenode.tick();
    assertNotEquals(id, register(store, 2, KEEPER, 2, 1002));
  }
}
