/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static io.crail.namenode.TestStore.registration;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TierTraits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Datanodes: registration, signs of life, removal and replacement. */
class DatanodeTest {
  private static KeepAlive.Response keepAlive(TestStore store, int id) throws Exception {
    return store.call(
        NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(id, false, 0, 0, -1, -1));
  }

  private static DescribeDatanode.Response describe(TestStore store, int id) throws Exception {
    return store.call(NameNodeOperations.DESCRIBE_DATANODE, new DescribeDatanode.Request(id, 0));
  }

  private static List<Integer> ids(TestStore store) throws Exception {
    return store.call(NameNodeOperations.LIST_DATANODES, new ListDatanodes.Request(-1)).ids();
  }

  private static RemoveDatanode.Response remove(TestStore store, String host, int port)
      throws Exception {
    return store.call(
        NameNodeOperations.REMOVE_DATANODE, new RemoveDatanode.Request(true, port, Utf8.of(host)));
  }

  private static List<ReportDatanodes.Datanode> report(TestStore store) throws Exception {
    return store
        .call(NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(-1))
        .datanodes();
  }

  @Test
  void aReportSaysHowEachDatanodeStands() throws Exception {
    TestStore store = new TestStore();
    int silent = store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/f", BLOCK);
    int leaving = store.datanode(2, "::1", 0, true, 4L << 20);
    store.write("/g", 4 * BLOCK);
    int well = store.datanode(3, "c", 1, true, 8L << 20);
    remove(store, "::1", 1002);
    store.pass(10_000);
    keepAlive(store, leaving);
    keepAlive(store, well);
    store.pass(7_000);
    List<ReportDatanodes.Datanode> report = report(store);
    assertEquals(List.of(silent, leaving, well), report.stream().map(each -> each.id()).toList());
    assertEquals(
        List.of(DatanodeState.OFFLINE, DatanodeState.DRAINING, DatanodeState.ONLINE),
        report.stream().map(ReportDatanodes.Datanode::state).toList());
    assertEquals(List.of(17_000L, 7_000L, 7_000L), silence(report));
    assertEquals(5 * BLOCK, report.get(0).usedBytes() + report.get(1).usedBytes());
    assertEquals(0, report.get(0).freeBytes() + report.get(1).freeBytes());
    assertEquals(8L << 20, report.get(2).freeBytes());
    assertEquals(4L << 20, report.get(1).lentBytes());
    assertEquals("::1", report.get(1).host().toString());
    List<ReportDatanodes.Datanode> rest =
        store
            .call(NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(silent))
            .datanodes();
    assertEquals(report.subList(1, 3), rest);
  }

  /** What a drain waits for is seen, also while the datanode is silent. */
  @Test
  void aReportSaysWhichDatanodesAreBeingRemoved() throws Exception {
    TestStore store = new TestStore();
    int leaving = store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/f", BLOCK);
    int well = store.datanode(2, "b", 0, true, 4L << 20);
    remove(store, "a", 1001);
    assertEquals(List.of(true, false), draining(store));
    store.pass(17_000);
    keepAlive(store, well);
    assertEquals(DatanodeState.OFFLINE, report(store).get(0).state());
    assertEquals(List.of(true, false), draining(store));
    // What it held is given up then.
    remove(store, "a", 1001);
    assertEquals(leaving, report(store).get(0).id());
    assertEquals(DatanodeState.LOST, report(store).get(0).state());
    assertEquals(List.of(false, false), draining(store));
  }

  private static void impaired(TestStore store, int id, boolean impaired) throws Exception {
    store.call(NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(id, impaired, 0, 0, -1, -1));
  }

  /** Its own class and its own host do not count then, and what is there stays. */
  @Test
  void anImpairedDatanodeGetsNewDataOnlyWhereNoOtherHasRoom() throws Exception {
    TestStore store = new TestStore();
    int flash = store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/before", BLOCK);
    int other = store.datanode(2, "b", 1, true, 2L << 20);
    impaired(store, flash, true);
    assertEquals(DatanodeState.IMPAIRED, report(store).get(0).state());
    assertEquals(List.of(1, 0, 1, 0, 0), states(store));
    store.write("/while", BLOCK);
    // Each sign of life says it again.
    impaired(store, flash, true);
    store.write("/still", BLOCK);
    assertEquals(List.of(BLOCK, 2 * BLOCK), used(store));
    store.write("/room", BLOCK);
    assertEquals(List.of(2 * BLOCK, 2 * BLOCK), used(store), "nothing is refused");
    store.pass(17_000);
    keepAlive(store, other);
    assertEquals(DatanodeState.OFFLINE, report(store).get(0).state());
    remove(store, "b", 1002);
    impaired(store, flash, false);
    assertEquals(DatanodeState.ONLINE, report(store).get(0).state());
    store.write("/after", BLOCK);
    assertEquals(List.of(3 * BLOCK, 2 * BLOCK), used(store));
    impaired(store, flash, true);
    remove(store, "a", 1001);
    assertEquals(DatanodeState.IMPAIRED, report(store).get(0).state());
    assertEquals(List.of(true, true), draining(store));
  }

  /** Though it is the emptiest of all, and the next one in order must not get everything. */
  @Test
  void theMostFreeOfTheOthersIsChosen() throws Exception {
    TestStore store = new TestStore("crail.namenode.blockselection", "mostfree");
    int flash = store.datanode(1, "a", 0, true, 8L << 20);
    store.datanode(2, "b", 0, true, 4L << 20);
    store.datanode(3, "c", 0, true, 4L << 20);
    impaired(store, flash, true);
    for (int i = 0; i < 4; i++) {
      store.write("/f" + i, BLOCK);
    }
    assertEquals(List.of(0, 2 * BLOCK, 2 * BLOCK), used(store));
  }

  private static List<Integer> used(TestStore store) throws Exception {
    return report(store).stream().map(each -> (int) each.usedBytes()).toList();
  }

  private static List<Boolean> draining(TestStore store) throws Exception {
    return report(store).stream().map(ReportDatanodes.Datanode::draining).toList();
  }

  /** As the reports say them, so that figures and reports use the same words. */
  @Test
  void statesAreCountedAsReported() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/f", BLOCK);
    int well = store.datanode(2, "b", 0, true, 4L << 20);
    assertEquals(List.of(2, 0, 0, 0, 0), states(store));
    store.pass(17_000);
    keepAlive(store, well);
    assertEquals(List.of(1, 0, 0, 1, 0), states(store));
    remove(store, "a", 1001);
    assertEquals(List.of(1, 0, 0, 0, 1), states(store));
    remove(store, "b", 1002);
    assertEquals(List.of(0, 1, 0, 0, 1), states(store));
  }

  /** Online, draining, impaired, offline, lost. */
  private static List<Integer> states(TestStore store) {
    return List.copyOf(store.namenode.datanodes().states().values());
  }

  private static List<Long> silence(List<ReportDatanodes.Datanode> report) {
    return report.stream().map(ReportDatanodes.Datanode::silentMillis).toList();
  }

  /** More than fit into one answer come in several, each of them once. */
  @Test
  void aReportOfManyDatanodesComesInPages() throws Exception {
    TestStore store = new TestStore();
    String host = "h".repeat(250);
    for (int i = 1; i <= 400; i++) {
      store.call(NameNodeOperations.REGISTER_DATANODE, registration(i, host, 1000 + i, 0, true));
    }
    List<Integer> ids = new ArrayList<>();
    int pages = 0;
    for (int after = -1; ; after = ids.get(ids.size() - 1)) {
      List<ReportDatanodes.Datanode> page =
          store
              .call(NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(after))
              .datanodes();
      if (page.isEmpty()) {
        break;
      }
      page.forEach(each -> ids.add(each.id()));
      pages++;
    }
    assertEquals(ids(store), ids);
    assertTrue(pages > 1, pages + " pages");
  }

  /** As after a restart of the namenode. */
  @Test
  void aDatanodeThatWasBeingRemovedGetsNothingAndMayEnd() throws Exception {
    TestStore store = new TestStore();
    RegisterDatanode.Description known = registration(1, "a", 1001, 0, true).description();
    RegisterDatanode.Request draining =
        new RegisterDatanode.Request(
            known.uuidHigh(),
            known.uuidLow(),
            known.storageClass(),
            known.port(),
            true,
            true,
            known.tier(),
            known.host(),
            known.traits());
    assertFalse(store.call(NameNodeOperations.USAGE, new Usage.Request()).successor());
    int id = store.call(NameNodeOperations.REGISTER_DATANODE, draining).datanode();
    assertTrue(store.call(NameNodeOperations.USAGE, new Usage.Request()).successor());
    assertEquals(
        id, store.call(NameNodeOperations.REGISTER_DATANODE, draining).datanode(), "said again");
    store.region(id, 0, 4L << 20);
    assertEquals(DatanodeState.DRAINING, report(store).get(0).state());
    long file = store.create(NodeType.DATAFILE, "/f", 9).id();
    refused(ErrorCode.SPACE_TO_COME, "no datanode takes data", () -> store.extend(file, 9, 0, 1));
    KeepAlive.Response answer = keepAlive(store, id);
    assertTrue(answer.stop() && answer.draining(), answer::toString);
  }

  @Test
  void registeringTwiceChangesNothing() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(1, "host", 0, true, 4L << 20);
    assertEquals(id, store.datanode(1, "host", 0, true, 4L << 20));
    assertEquals(4, store.region(id, 0, 4L << 20));
    assertEquals(4L << 20, store.usage(0).capacityBytes());
    assertEquals(List.of(id), ids(store));
    KeepAlive.Response alive = keepAlive(store, id);
    assertEquals(4, alive.totalBlocks());
    assertEquals(4, alive.freeBlocks());
    assertFalse(alive.stop());
    DescribeDatanode.Response described = describe(store, id);
    assertEquals("host", described.host().toString());
    assertEquals(1001, described.port());
    assertTrue(described.online() && described.traits().checksGeneration());
    assertEquals(1, described.regions().size());
    assertEquals(4L << 20, described.regions().get(0).length());
  }

  @Test
  void refusesWhatCannotBe() throws Exception {
    TestStore store = new TestStore("crail.storage.classes", "2");
    int id = store.datanode(4L << 20);
    refused(ErrorCode.INVALID_ARGUMENT, "class 2", () -> store.datanode(2, "host", 2, true, BLOCK));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "other values",
        () ->
            store.call(
                NameNodeOperations.REGISTER_DATANODE, registration(1, "host", 1001, 1, true)));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "port 0",
        () ->
            store.call(NameNodeOperations.REGISTER_DATANODE, registration(7, "host", 0, 1, true)));
    refused(ErrorCode.INVALID_ARGUMENT, "region 0", () -> store.region(id, 0, 8L << 20));
    refused(ErrorCode.INVALID_ARGUMENT, "region 1", () -> store.region(id, 1, BLOCK + 1));
    refused(ErrorCode.INVALID_ARGUMENT, "region 1", () -> store.region(id, 1, 0));
    refused(ErrorCode.INVALID_ARGUMENT, "region 1", () -> store.region(id, 1, -BLOCK));
    refused(ErrorCode.INVALID_ARGUMENT, "region -1", () -> store.region(id, -1, BLOCK));
    refused(ErrorCode.INVALID_ARGUMENT, "region 1", () -> store.region(id, 1, 1L << 62));
    refused(ErrorCode.UNKNOWN_DATANODE, () -> store.region(id + 1, 1, BLOCK));
    refused(ErrorCode.UNKNOWN_DATANODE, () -> keepAlive(store, id + 1));
    refused(ErrorCode.UNKNOWN_DATANODE, () -> describe(store, id + 1));
    refused(ErrorCode.UNKNOWN_DATANODE, "elsewhere:1", () -> remove(store, "elsewhere", 1));
    assertEquals(4L << 20, store.usage(0).capacityBytes());
  }

  @Test
  void overlappingRegionsAreRefused() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(BLOCK);
    RegisterRegion.Request first = new RegisterRegion.Request(id, 1, 4 * BLOCK, 1 << 30, 7, 0);
    store.call(NameNodeOperations.REGISTER_REGION, first);
    for (long address : new long[] {1 << 30, (1 << 30) + 3 * BLOCK, (1 << 30) - BLOCK + 1}) {
      refused(
          ErrorCode.INVALID_ARGUMENT,
          "overlaps region 1",
          () ->
              store.call(
                  NameNodeOperations.REGISTER_REGION,
                  new RegisterRegion.Request(id, 2, BLOCK, address, 7, 0)));
    }
    store.call(
        NameNodeOperations.REGISTER_REGION,
        new RegisterRegion.Request(id, 2, BLOCK, (1 << 30) + 4 * BLOCK, 7, 0));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "other values",
        () ->
            store.call(
                NameNodeOperations.REGISTER_REGION,
                new RegisterRegion.Request(id, 1, 4 * BLOCK, 1 << 29, 7, 0)));
  }

  @Test
  void aNamenodeTakesItsOwnShareOfRegions() throws Exception {
    TestStore store = new TestStore(new ManualClock(), 1, 2);
    int id =
        store
            .call(NameNodeOperations.REGISTER_DATANODE, registration(1, "host", 1001, 0, true))
            .datanode();
    assertEquals(1, Integer.remainderUnsigned(id, 2));
    refused(ErrorCode.WRONG_NAMENODE, "region 0", () -> store.region(id, 0, BLOCK));
    assertEquals(1, store.region(id, 1, BLOCK));
  }

  @Test
  void longListsOfRegionsComeInPages() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(BLOCK);
    for (int i = 1; i < 5000; i++) {
      store.region(id, i, BLOCK);
    }
    List<Integer> seen = new ArrayList<>();
    int total = Integer.MAX_VALUE;
    while (seen.size() < total) {
      DescribeDatanode.Response page =
          store.call(
              NameNodeOperations.DESCRIBE_DATANODE, new DescribeDatanode.Request(id, seen.size()));
      total = page.totalRegions();
      assertFalse(page.regions().isEmpty());
      page.regions().forEach(region -> seen.add(region.index()));
    }
    for (int i = 0; i < 5000; i++) {
      assertEquals(i, seen.get(i));
    }
  }

  @Test
  void aNamenodeWithoutDatanodesExpectsSomeAtFirst() throws Exception {
    TestStore store = new TestStore();
    long file = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.clock.advanceMillis(15_900);
    refused(ErrorCode.SPACE_TO_COME, "no datanode takes data", () -> store.extend(file, 9, 0, 1));
    // One without regions has just come.
    store.call(
        NameNodeOperations.REGISTER_DATANODE, TestStore.registration(1, "host", 1001, 0, true));
    refused(ErrorCode.SPACE_TO_COME, "storage class 0", () -> store.extend(file, 9, 0, 1));
    store.clock.advanceMillis(200);
    long late = store.create(NodeType.DATAFILE, "/g", 9).id();
    refused(ErrorCode.NO_SPACE, "storage class 0", () -> store.extend(late, 9, 0, 1));
  }

  /** It would otherwise delay the error of a store that is full from the beginning. */
  @Test
  void aNamenodeWithNewDatanodesExpectsNoMore() throws Exception {
    TestStore store = new TestStore();
    store.datanode(BLOCK);
    store.write("/old", BLOCK);
    long file = store.create(NodeType.DATAFILE, "/f", 9).id();
    refused(ErrorCode.NO_SPACE, () -> store.extend(file, 9, 0, 1));
  }

  @Test
  void aSilentDatanodeGetsNothingUntilItIsHeardOfAgain() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(4L << 20);
    store.write("/old", BLOCK);
    store.pass(15_900);
    assertTrue(describe(store, id).online());
    store.pass(200);
    assertFalse(describe(store, id).online());
    assertEquals(0, store.call(NameNodeOperations.USAGE, new Usage.Request()).onlineDatanodes());
    long file = store.create(NodeType.DATAFILE, "/f", 9).id();
    refused(ErrorCode.NO_SPACE, () -> store.extend(file, 9, 0, 1));
    // Freeing its space is no sign of life.
    store.remove("/old", false);
    assertFalse(describe(store, id).online());
    refused(ErrorCode.NO_SPACE, () -> store.extend(file, 9, 0, 1));
    assertEquals(0, store.usage(0).largestFreeExtentBytes());
    store.namenode.verify();
    keepAlive(store, id);
    assertEquals(1, store.extend(file, 9, 0, 1).size());
  }

  @Test
  void freeSpaceOfASilentDatanodeDoesNotCount() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(4L << 20);
    store.write("/f", BLOCK);
    store.pass(16_100);
    assertEquals(0, store.usage(0).freeBytes());
    assertEquals(BLOCK, store.usage(0).usedBytes());
    assertEquals(BLOCK, store.usage(0).capacityBytes());
    store.namenode.verify();
    keepAlive(store, id);
    assertEquals(3 * BLOCK, store.usage(0).freeBytes());
    assertEquals(4 * BLOCK, store.usage(0).capacityBytes());
  }

  @Test
  void aDatanodeThatFallsSilentWhileItEmptiesGoesOnWhenItIsBack() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/f", BLOCK);
    remove(store, "a", 1001);
    store.pass(16_200);
    assertEquals(List.of(id), ids(store));
    assertEquals(BLOCK, store.usage(0).usedBytes());
    assertEquals(0, store.usage(0).lostBytes());
    KeepAlive.Response back = keepAlive(store, id);
    assertTrue(back.draining());
    assertFalse(back.stop());
    assertEquals(1, store.lookup("/f").extents().size());
    store.remove("/f", false);
    assertTrue(keepAlive(store, id).stop());
    store.namenode.verify();
  }

  @Test
  void aSilentDatanodeThatIsRemovedIsBuried() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/f", BLOCK);
    store.pass(16_200);
    assertEquals(List.of(id), ids(store));
    assertEquals(new RemoveDatanode.Response(id, true, BLOCK), remove(store, "a", 1001));
    assertEquals(List.of(), ids(store));
    assertEquals(BLOCK, store.usage(0).lostBytes());
    refused(ErrorCode.UNKNOWN_DATANODE, "a:1001", () -> remove(store, "a", 1001));
    store.namenode.verify();
    // Should it have been cut off only, it ends.
    assertTrue(keepAlive(store, id).stop());
    assertEquals(id, store.datanode(1, "a", 0, true, 4L << 20));
    assertTrue(keepAlive(store, id).stop());
    store.remove("/f", false);
    store.pass(200);
    assertEquals(List.of(), store.namenode.datanodes().usage());
    refused(ErrorCode.UNKNOWN_DATANODE, () -> describe(store, id));
  }

  @Test
  void aSilentDatanodeWithoutDataIsForgotten() throws Exception {
    TestStore store = new TestStore();
    int ghost = store.datanode(1, "a", 0, true, 4L << 20);
    int holder = store.datanode(2, "b", 0, true, 4L << 20);
    long id = store.write("/f", 1).id();
    while (store.find(id, 0).extents().get(0).place().datanode() == ghost) {
      store.remove("/f", false);
      id = store.write("/f", 1).id();
    }
    store.pass(150_000);
    assertEquals(List.of(ghost, holder), ids(store));
    store.pass(20_000);
    assertEquals(List.of(holder), ids(store));
    refused(ErrorCode.UNKNOWN_DATANODE, () -> keepAlive(store, ghost));
    assertEquals(0, store.usage(0).freeBytes());
    store.namenode.verify();
    int again = store.datanode(1, "a", 0, true, 4L << 20);
    assertNotEquals(ghost, again);
    assertEquals(4L << 20, store.usage(0).freeBytes());
  }

  @Test
  void hostNamesOfClientsKeepNoDatanodeOut() throws Exception {
    TestStore store = new TestStore();
    for (int i = 0; i < 70_000; i++) {
      store.call(
          NameNodeOperations.CREATE,
          new Create.Request(
              NodeType.DATAFILE,
              true,
              false,
              false,
              0644,
              Create.PARENT_CLASS,
              0,
              Utf8.of("/f" + i),
              Utf8.of("client" + i)));
    }
    store.datanode(1, "one", 0, true, 4L << 20);
    int id = store.datanode(2, "two", 0, true, 4L << 20);
    for (int i = 0; i < 3; i++) {
      long file =
          store
              .call(
                  NameNodeOperations.CREATE,
                  new Create.Request(
                      NodeType.DATAFILE,
                      true,
                      false,
                      false,
                      0644,
                      Create.PARENT_CLASS,
                      9,
                      Utf8.of("/near" + i),
                      Utf8.of("TWO")))
              .node()
              .id();
      assertEquals(id, store.extend(file, 9, 0, 1).get(0).place().datanode());
    }
  }

  @Test
  void aLivingDatanodeKeepsItsAddress() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(1, "host", 0, true, 4L << 20);
    for (int i = 0; i < 20; i++) {
      refused(
          ErrorCode.ADDRESS_TAKEN,
          "host:1001",
          () ->
              store.call(
                  NameNodeOperations.REGISTER_DATANODE, registration(2, "host", 1001, 0, true)));
      store.pass(2_000);
      keepAlive(store, id);
    }
    assertEquals(List.of(id), ids(store));
    // A real restart takes over soon after the last sign of life.
    store.pass(4_000);
    int next =
        store
            .call(NameNodeOperations.REGISTER_DATANODE, registration(2, "host", 1001, 0, true))
            .datanode();
    assertEquals(List.of(next), ids(store));
  }

  /** Wherever the processes run, they would lend the same bytes. */
  @Test
  void aLivingDatanodeKeepsItsForeignDevices() throws Exception {
    TestStore store = new TestStore();
    int id = onDevices(store, 1, "target#1");
    assertNotEquals(id, onDevices(store, 2, "target#2"));
    refused(ErrorCode.ADDRESS_TAKEN, "target#1", () -> onDevices(store, 3, "target#1"));
    store.pass(4_000);
    keepAlive(store, id);
    refused(ErrorCode.ADDRESS_TAKEN, "target#1", () -> onDevices(store, 3, "target#1"));
    store.pass(8_000);
    onDevices(store, 3, "target#1");
    assertFalse(ids(store).contains(id));
    // At the address of one, and on the devices of another.
    store.pass(8_000);
    assertEquals(List.of(onDevices(store, 4, "host2", "target#1")), ids(store));
  }

  private static int onDevices(TestStore store, int uuid, String devices) throws Exception {
    return onDevices(store, uuid, "host" + uuid, devices);
  }

  private static int onDevices(TestStore store, int uuid, String host, String devices)
      throws Exception {
    TierTraits traits = new TierTraits(512, FenceKind.REST, 0, true, Utf8.EMPTY, Utf8.of(devices));
    return store
        .call(
            NameNodeOperations.REGISTER_DATANODE,
            TestStore.registration(uuid, host, 1000, 0, traits))
        .datanode();
  }

  @Test
  void aRemovedDatanodeDrainsAndEnds() throws Exception {
    TestStore store = new TestStore();
    int leaving = store.datanode(1, "a", 0, true, 4L << 20);
    store.write("/f", 2 * BLOCK);
    int staying = store.datanode(2, "b", 0, true, 4L << 20);
    RemoveDatanode.Response removed = remove(store, "a", 1001);
    assertEquals(leaving, removed.datanode());
    assertEquals(2 * BLOCK, removed.usedBytes());
    assertFalse(removed.givenUp());
    assertEquals(leaving, remove(store, "a", 1001).datanode(), "said again");
    assertEquals(6L << 20, store.usage(0).capacityBytes(), "what is free there is out of reach");
    store.namenode.verify();
    long id = store.create(NodeType.DATAFILE, "/g", 9).id();
    for (Extent extent : store.extend(id, 9, 0, 10 * BLOCK)) {
      assertEquals(staying, extent.place().datanode());
    }
    store.setSize(id, 9, 1, SetSize.END);
    assertFalse(keepAlive(store, leaving).stop());
    assertTrue(keepAlive(store, leaving).draining());
    assertFalse(keepAlive(store, staying).draining());
    assertEquals(2, store.lookup("/f").extents().size(), "still readable");
    store.remove("/f", false);
    assertTrue(keepAlive(store, leaving).stop());
    assertTrue(keepAlive(store, leaving).stop(), "the same answer when it got lost");
    assertEquals(List.of(staying), ids(store));
    assertEquals(4L << 20, store.usage(0).capacityBytes());
    store.namenode.verify();
    store.passAlive(20_000, staying);
    refused(ErrorCode.UNKNOWN_DATANODE, () -> keepAlive(store, leaving));
    // A new process at its address is welcome.
    assertNotEquals(leaving, store.datanode(1, "a", 0, true, BLOCK));
  }

  /**
   * So that the process ends, whatever it missed, and the one that took its place is not harmed.
   */
  @Test
  void aReplacedProcessThatMayEndIsAskedToEndAgain() throws Exception {
    TestStore store = new TestStore();
    int former = store.datanode(1, "host", 0, true, 4L << 20);
    remove(store, "host", 1001);
    assertTrue(keepAlive(store, former).stop());
    int next =
        store
            .call(NameNodeOperations.REGISTER_DATANODE, registration(2, "host", 1001, 0, true))
            .datanode();
    store.region(next, 0, 4L << 20);
    assertEquals(former, store.datanode(1, "host", 0, true, 4L << 20));
    KeepAlive.Response answer = keepAlive(store, former);
    assertTrue(answer.stop() && !answer.draining(), answer::toString);
    store.write("/f", BLOCK);
    assertEquals(List.of(next), report(store).stream().map(each -> each.id()).toList());
    assertEquals(List.of(BLOCK), used(store));
    assertFalse(keepAlive(store, next).stop());
    store.pass(100);
    // Forgotten, it is a process like any other, and the place is taken.
    refused(ErrorCode.UNKNOWN_DATANODE, () -> keepAlive(store, former));
    refused(
        ErrorCode.ADDRESS_TAKEN,
        () ->
            store.call(
                NameNodeOperations.REGISTER_DATANODE, registration(1, "host", 1001, 0, true)));
  }

  @Test
  void anotherProcessAtTheAddressMeansTheDataIsLost() throws Exception {
    TestStore store = new TestStore();
    int old = store.datanode(1, "host", 0, false, 4L << 20);
    store.write("/f", 2 * BLOCK);
    store.write("/g", BLOCK);
    store.remove("/g", false);
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    store.pass(4_000);
    int fresh =
        store
            .call(NameNodeOperations.REGISTER_DATANODE, registration(2, "host", 1001, 0, false))
            .datanode();
    assertNotEquals(old, fresh);
    store.region(fresh, 0, 8L << 20);
    assertEquals(List.of(fresh), ids(store));
    refused(ErrorCode.UNKNOWN_DATANODE, () -> keepAlive(store, old));
    store.namenode.verify();
    assertEquals(8L << 20, store.usage(0).capacityBytes());
    assertEquals(0, store.usage(0).usedBytes());
    assertEquals(2 * BLOCK, store.usage(0).lostBytes());
    assertEquals(
        List.of(old + " lost 2097152", fresh + " online 0"),
        report(store).stream()
            .map(each -> each.id() + " " + each.state() + " " + each.usedBytes())
            .toList());
    // Readers of lost extents can still find out whom they belonged to.
    assertEquals(old, store.lookup("/f").extents().get(0).place().datanode());
    assertFalse(describe(store, old).online());
    long id = store.create(NodeType.DATAFILE, "/h", 9).id();
    assertEquals(fresh, store.extend(id, 9, 0, 1).get(0).place().datanode());
    store.setSize(id, 9, 0, SetSize.END);
    store.remove("/f", false);
    store.passAlive(17_000, fresh);
    store.namenode.verify();
    assertEquals(8L << 20, store.usage(0).capacityBytes());
    assertEquals(0, store.usage(0).lostBytes());
    assertEquals(1, report(store).size());
    refused(ErrorCode.UNKNOWN_DATANODE, () -> describe(store, old));
  }

  @Test
  void onlySessionsOfDatanodesMayRegister() throws Exception {
    TestStore store = new TestStore();
    int id = store.datanode(BLOCK);
    refused(
        ErrorCode.ACCESS_DENIED,
        "needs the right to lend",
        () ->
            store.wire.call(
                NameNodeOperations.REGISTER_DATANODE, registration(2, "host", 1002, 0, true)));
    refused(
        ErrorCode.ACCESS_DENIED,
        "needs the right to lend",
        () ->
            store.wire.call(
                NameNodeOperations.REGISTER_REGION,
                new RegisterRegion.Request(id, 1, BLOCK, 0, 0, 0)));
    refused(
        ErrorCode.ACCESS_DENIED,
        "needs the right to lend",
        () ->
            store.wire.call(
                NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(id, false, 0, 0, -1, -1)));
    assertEquals(List.of(id), ids(store));
    assertEquals(BLOCK, store.usage(0).capacityBytes());
  }

  @Test
  void textsOfADatanodeCanBeShown() throws Exception {
    TestStore store = new TestStore();
    for (String host : List.of("a b", "a\n", "\u001b[2J", "a;b", "\u00e4", "%eth0", "a/b")) {
      refused(ErrorCode.INVALID_ARGUMENT, "host '", () -> register(store, "tcp", host, "/data"));
    }
    for (String tier : List.of("TCP", "t\n", "a b", "\u001b")) {
      refused(ErrorCode.INVALID_ARGUMENT, "tier '", () -> register(store, tier, "host", "/data"));
    }
    for (String path : List.of("data", "/a\nb", "/\u001b")) {
      refused(ErrorCode.INVALID_ARGUMENT, "directory '", () -> register(store, "tcp", "a", path));
    }
    for (int granularity : List.of(0, -1, 3, 513, 8192, Integer.MIN_VALUE)) {
      TierTraits traits =
          new TierTraits(granularity, FenceKind.REST, 0, true, Utf8.EMPTY, Utf8.EMPTY);
      refused(
          ErrorCode.INVALID_ARGUMENT,
          "granularity " + granularity,
          () ->
              store.call(
                  NameNodeOperations.REGISTER_DATANODE,
                  TestStore.registration(1, "host", 1000, 0, traits)));
    }
    TierTraits unprintable = new TierTraits(1, FenceKind.REST, 0, true, Utf8.EMPTY, Utf8.of("a\n"));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "details '",
        () ->
            store.call(
                NameNodeOperations.REGISTER_DATANODE,
                TestStore.registration(1, "host", 1000, 0, unprintable)));
    assertEquals(List.of(), ids(store));
    register(store, "nvmf-2", "node-1.example.org", "/mnt/my data");
    register(store, "tcp", "10.0.0.1", "");
    register(store, "tcp", "fe80::1%eth0.2", "/");
    assertEquals(3, ids(store).size());
  }

  private static void register(TestStore store, String tier, String host, String path)
      throws Exception {
    long uuid = store.clock.nanoTime() + host.hashCode();
    store.call(
        NameNodeOperations.REGISTER_DATANODE,
        new RegisterDatanode.Request(
            uuid,
            1,
            0,
            1000,
            false,
            false,
            Utf8.of(tier),
            Utf8.of(host),
            TierTraits.ofMemory(FenceKind.GENERATION, true, path)));
  }
}
