/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.ClientActivity;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a namenode says of its clients and of the nodes that they look up. */
class NameNodeActivityTest {
  private final TestStore store;
  private final List<ClientActivity> connections = new ArrayList<>();

  NameNodeActivityTest() throws Exception {
    store = new TestStore();
  }

  private ReportActivity.Response ask(long after, int nodes) throws Exception {
    return store.call(NameNodeOperations.REPORT_ACTIVITY, new ReportActivity.Request(after, nodes));
  }

  private List<ReportActivity.Client> clients() throws Exception {
    return ask(ReportActivity.FIRST, 0).clients();
  }

  private static Lookup.Request lookup(String path) {
    return new Lookup.Request(Utf8.of(path));
  }

  /** So that a new operation is given its kind on purpose. */
  @Test
  void allButTheseAreLookupsOrChanges() {
    List<String> others =
        NameNodeOperations.all().values().stream()
            .filter(each -> NameNodeActivity.kind(each) == ClientActivity.Kind.OTHER)
            .map(Operation::name)
            .sorted()
            .toList();
    assertEquals(
        List.of(
            "announce-space",
            "ask-peer",
            "check-shares",
            "describe-datanode",
            "drain-datanode",
            "dump",
            "examine",
            "hello",
            "keep-alive",
            "lead",
            "lend-quota",
            "list-datanodes",
            "list-extents",
            "list-shares",
            "login",
            "names",
            "ping",
            "register-datanode",
            "register-region",
            "remove-datanode",
            "renew-leases",
            "report-activity",
            "report-datanodes",
            "set-share",
            "usage"),
        others);
  }

  @Test
  void operationsAndBytesAreCountedByClient() throws Exception {
    store.datanode(64L * TestStore.BLOCK);
    store.mkdir("/d");
    store.write("/d/f", 5000);
    store.create(NodeType.TABLE, "/t", 0);
    store.call(NameNodeOperations.PUT, TestStore.put("/t/k", 9, new byte[100]));
    ReportActivity.Client writer = clients().get(0);
    assertEquals(TestStore.CLIENT, writer.id());
    assertEquals("tester", writer.user().toString());
    assertEquals(5100, writer.committedBytes());
    assertTrue(writer.changes() >= 4, writer::toString);

    // A file's places come with a lookup or with a question for its extents; a value comes itself.
    Wire reader = Wire.connect(store.server, 1000);
    long id = reader.call(NameNodeOperations.LOOKUP, lookup("/d/f")).node().id();
    reader.call(NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(id, 1000, 10));
    reader.call(NameNodeOperations.LOOKUP, lookup("/t/k"));
    reader.call(NameNodeOperations.LOOKUP, lookup("/d"));
    reader.callAll(NameNodeOperations.LOOKUP, List.of(lookup("/no")));
    List<ReportActivity.Client> clients = clients();
    assertEquals(2, clients.size(), clients::toString);
    ReportActivity.Client reading = clients.get(1);
    assertEquals(1000, reading.id());
    assertEquals(5000 + 4000 + 100, reading.locatedBytes());
    assertEquals(
        List.of(5L, 0L, 1L), List.of(reading.lookups(), reading.changes(), reading.others()));
    assertEquals(0, reading.committedBytes());

    Usage.Response usage = store.call(NameNodeOperations.USAGE, new Usage.Request());
    assertEquals(5100, usage.committedBytes());
    assertTrue(usage.locatedBytes() >= 9100, usage::toString);
    reader.close();
    assertEquals(1, clients().size());
    assertEquals(usage.locatedBytes(), again().locatedBytes(), "those of clients that are gone");
  }

  private Usage.Response again() throws Exception {
    return store.call(NameNodeOperations.USAGE, new Usage.Request());
  }

  @Test
  void connectionsOfAClientAreOneAndPagesMissNone() throws Exception {
    int many = 3 * NameNodeActivity.MOST_CONNECTIONS;
    for (int i = 0; i < many; i++) {
      connect(100_000 + i / 2);
    }
    List<Long> ids = new ArrayList<>();
    long after = ReportActivity.FIRST;
    for (int pages = 0; pages < 100; pages++) {
      List<ReportActivity.Client> page = ask(after, 0).clients();
      if (page.isEmpty()) {
        break;
      }
      for (ReportActivity.Client each : page) {
        ids.add(each.id());
        assertEquals(each.id() == TestStore.CLIENT ? 1 : 2, each.connections(), each::toString);
      }
      after = ids.get(ids.size() - 1);
    }
    assertEquals(1 + many / 2, ids.size());
    assertEquals(ids.stream().sorted().distinct().toList(), ids);

    // One with more connections than a page looks at does not hold up the pages.
    for (int i = 0; i < 2 * NameNodeActivity.MOST_CONNECTIONS; i++) {
      connect(5);
    }
    ReportActivity.Client greedy = clients().get(0);
    assertEquals(
        List.of(5, NameNodeActivity.MOST_CONNECTIONS),
        List.of((int) greedy.id(), greedy.connections()));
    assertEquals(TestStore.CLIENT, ask(5, 0).clients().get(0).id());
    connections.forEach(each -> store.namenode.activity().end(each));
    assertEquals(1, clients().size());
  }

  private void connect(long clientId) {
    ClientActivity made = store.namenode.activity().begin(clientId, Utf8.EMPTY, Utf8.EMPTY);
    store.namenode.activity().list(made);
    connections.add(made);
  }

  @Test
  void aConnectionStaysThatOfTheClientWhoHasLoggedIn() throws Exception {
    Wire wire = Wire.connect(store.server, 1000);
    Hello.Request other =
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            Hello.ROLE_CLIENT,
            2000,
            Utf8.of("there"),
            Utf8.EMPTY);
    CrailException refusal =
        assertThrows(CrailException.class, () -> wire.call(NameNodeOperations.HELLO, other));
    assertEquals(ErrorCode.PROTOCOL, refusal.code());
    List<ReportActivity.Client> clients = clients();
    assertEquals(
        List.of(TestStore.CLIENT, 1000L), clients.stream().map(each -> each.id()).toList());
  }

  @Test
  void hotNodesHaveTheirPathsAndThoseThatAreGoneAreLeftOut() throws Exception {
    store.mkdir("/d");
    store.mkdir("/d/hot");
    store.mkdir("/d/gone");
    store.namenode.tick();
    for (int i = 0; i < 400; i++) {
      store.wire.call(NameNodeOperations.LOOKUP, lookup("/d/hot"));
      store.wire.call(NameNodeOperations.LOOKUP, lookup("/d/gone"));
      if (i % 10 == 0) {
        store.clock.advanceMillis(50);
        store.namenode.tick();
      }
    }
    assertEquals(List.of(), ask(ReportActivity.FIRST, 0).nodes(), "none is wanted");
    assertEquals(2, ask(ReportActivity.FIRST, 10).nodes().size());
    store.call(NameNodeOperations.REMOVE, new Remove.Request(false, 0, Utf8.of("/d/gone")));
    List<ReportActivity.Node> nodes = ask(ReportActivity.FIRST, 10).nodes();
    assertEquals(List.of("/d/hot"), nodes.stream().map(each -> each.path().toString()).toList());
    assertTrue(nodes.get(0).milliPerSecond() > 10_000, nodes::toString);
  }

  @Test
  void datanodesHaveRatesBetweenTheirSignsOfLife() throws Exception {
    int datanode = store.datanode(64L * TestStore.BLOCK);
    assertEquals(List.of(-1L, -1L), rates());
    seen(datanode, 1000, 0);
    assertEquals(List.of(0L, 0L), rates());
    store.clock.advanceMillis(2000);
    seen(datanode, 5000, 100);
    assertEquals(List.of(2000L, 50L), rates());
    // One that follows at once says little.
    store.clock.advanceMillis(10);
    seen(datanode, 9000, 100);
    assertEquals(List.of(2000L, 50L), rates());
    store.clock.advanceMillis(1990);
    seen(datanode, 9000, 100);
    assertEquals(List.of(2000L, 0L), rates());
    // Of one that is silent, nothing is known.
    store.clock.advanceMillis(60_000);
    assertEquals(List.of(0L, 0L), rates());
  }

  private void seen(int datanode, long read, long written) throws Exception {
    store.call(
        NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(datanode, false, 0, 0, read, written));
  }

  private List<Long> rates() throws Exception {
    ReportDatanodes.Datanode datanode =
        store
            .call(NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(-1))
            .datanodes()
            .get(0);
    return List.of(datanode.readRate(), datanode.writeRate());
  }
}
