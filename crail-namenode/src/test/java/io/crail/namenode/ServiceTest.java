/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The service as a peer sees it: handshake, malformed requests, batches, text. */
class ServiceTest {
  private static Hello.Request hello(int magic, int minVersion, int maxVersion, int role) {
    return new Hello.Request(magic, minVersion, maxVersion, role, 1, Utf8.EMPTY, Utf8.EMPTY);
  }

  @Test
  void theHandshakeTellsAndChecks() throws Exception {
    TestStore store = new TestStore("crail.blocksize", "64k", "crail.lease", "3");
    Hello.Response response =
        new Wire(store.server)
            .call(
                NameNodeOperations.HELLO,
                hello(Hello.MAGIC, 1, Frame.VERSION, Hello.ROLE_DATANODE));
    assertEquals(Frame.VERSION, response.version());
    assertEquals(65_536, response.blockSize());
    assertEquals(Extent.MIN_LENGTH, response.minExtentSize());
    assertEquals(3000, response.leaseMillis());
    assertEquals("crail", response.cluster().toString());
    assertEquals(store.lookup("/").node().id(), response.rootId());
    Wire stranger = new Wire(store.server);
    Operation<Hello.Request, Hello.Response> operation = NameNodeOperations.HELLO;
    int version = Frame.VERSION;
    refused(ErrorCode.PROTOCOL, () -> stranger.call(operation, hello(7, version, version, 0)));
    for (int[] spoken : new int[][] {{version + 1, version + 2}, {0, version - 1}}) {
      refused(
          ErrorCode.UNSUPPORTED,
          () -> stranger.call(operation, hello(Hello.MAGIC, spoken[0], spoken[1], 0)));
    }
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "role 3",
        () -> stranger.call(operation, hello(Hello.MAGIC, version, version, 3)));
    refused(ErrorCode.PROTOCOL, () -> stranger.call(NameNodeOperations.PING, new Ping.Request(1)));
  }

  @Test
  void malformedRequestsAreRefusedWhole() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1 << 20);
    store.file("/f");
    Random random = new Random(TestStore.seed());
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      for (int length = 0; length < 64; length++) {
        byte[] body = new byte[length];
        for (int round = 0; round < 20; round++) {
          random.nextBytes(body);
          try {
            // Either it is a request by chance and gets an answer, or the connection ends.
            ByteBuffer answer = store.wire.sendRaw(operation.number(), List.of(body)).get(0);
            assertTrue(Frame.code(answer, 0) != ErrorCode.INTERNAL.number(), operation.name());
          } catch (CrailException e) {
            assertEquals(ErrorCode.PROTOCOL, e.code(), operation + ": " + e);
          }
        }
      }
    }
    refused(ErrorCode.PROTOCOL, () -> store.wire.sendRaw(200, List.of(new byte[0])));
    assertEquals("/f", "/" + store.list(store.lookup("/").node().id(), 10).get(0));
    store.namenode.verify();
  }

  @Test
  void malformedLookupsAreRefused() throws Exception {
    TestStore store = new TestStore();
    int lookup = NameNodeOperations.LOOKUP.number();
    List<byte[]> bodies =
        List.of(
            new byte[0],
            new byte[1],
            new byte[] {0, 0},
            new byte[] {2, 0, '/'},
            new byte[] {1, 0, '/', 'x'},
            new byte[] {(byte) 0xff, (byte) 0xff, '/'});
    for (byte[] body : bodies) {
      refused(ErrorCode.PROTOCOL, () -> store.wire.sendRaw(lookup, List.of(body)));
    }
    byte[] noUtf8 = {3, 0, '/', (byte) 0xc3, '('};
    ByteBuffer answer = store.wire.sendRaw(lookup, List.of(noUtf8)).get(0);
    assertEquals(ErrorCode.INVALID_PATH.number(), Frame.code(answer, 0));
  }

  @Test
  void batchesAnswerEachRequestInOrder() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    Random random = new Random(TestStore.seed());
    List<NodeInfo> files = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      files.add(store.write("/f" + i, random.nextInt(100_000)));
    }
    for (int round = 0; round < 100; round++) {
      List<Lookup.Request> lookups = new ArrayList<>();
      List<FindExtents.Request> finds = new ArrayList<>();
      List<NodeInfo> expected = new ArrayList<>();
      for (int i = random.nextInt(RequestBatch.CAPACITY); i >= 0; i--) {
        int file = random.nextInt(330);
        NodeInfo info = file < 300 ? files.get(file) : null;
        expected.add(info);
        lookups.add(new Lookup.Request(Utf8.of("/f" + file)));
        finds.add(new FindExtents.Request(info == null ? 4711 : info.id(), 0, 9));
      }
      List<Object> found = store.wire.callAll(NameNodeOperations.LOOKUP, lookups);
      List<Object> extents = store.wire.callAll(NameNodeOperations.FIND_EXTENTS, finds);
      for (int i = 0; i < expected.size(); i++) {
        if (expected.get(i) == null) {
          assertEquals(ErrorCode.NODE_NOT_FOUND, ((CrailException) found.get(i)).code());
          assertEquals(ErrorCode.STALE_NODE, ((CrailException) extents.get(i)).code());
        } else {
          Lookup.Response lookup = (Lookup.Response) found.get(i);
          FindExtents.Response find = (FindExtents.Response) extents.get(i);
          assertEquals(expected.get(i), lookup.node());
          assertEquals(lookup.extents(), find.extents().subList(0, lookup.extents().size()));
          assertEquals(expected.get(i).size(), find.size());
        }
      }
    }
  }

  @Test
  void lookupsAndExtentsAllocateNothing() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    store.mkdir("/d");
    int count = 64;
    Session session = new Session("test");
    ClientActivity activity = store.namenode.activity().begin(1, Utf8.EMPTY, Utf8.EMPTY);
    Caller caller = TestStore.caller("");
    session.attach(
        ClientSession.of(
            store.namenode, new SessionUser(store.namenode.users(), caller), activity));
    session.accept(caller);
    RequestBatch lookups = new RequestBatch(session);
    RequestBatch finds = new RequestBatch(session);
    ByteBuffer in = RequestBatches.memory(1 << 16);
    lookups.reset(in);
    finds.reset(in);
    int at = 0;
    for (int i = 0; i < count; i++) {
      String path = "/d/" + "n".repeat(1 + i) + i;
      long id = store.write(path, 10_000L * i).id();
      at =
          RequestBatches.add(
              lookups, in, at, NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(path)));
      at =
          RequestBatches.add(
              finds, in, at, NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(id, 0, 9));
    }
    ResponseWriter sink = RequestBatches.forgetting();
    long least =
        RequestBatches.leastAllocated(
            () -> {
              for (int i = 0; i < 100; i++) {
                store.server.serve(lookups, sink);
                store.server.serve(finds, sink);
              }
            });
    // The measurement itself allocates a little; a byte a request would be 12,800.
    assertTrue(least < 1000, least + " bytes for 12,800 requests");
  }

  @Test
  void locationsOfARange() throws Exception {
    TestStore store = new TestStore("crail.blocksize", "4k");
    store.datanode(1 << 20);
    NodeInfo file = store.write("/f", 10 * 4096 + 1);
    List<Extent> all = locations(store, file.id(), 0, Long.MAX_VALUE);
    assertEquals(11, all.size());
    assertEquals(all.subList(1, 3), locations(store, file.id(), 5000, 4096));
    assertEquals(all.subList(10, 11), locations(store, file.id(), 40960, 99));
    assertEquals(List.of(), locations(store, file.id(), 40961, 99));
    assertEquals(List.of(), locations(store, file.id(), 0, 0));
    assertEquals(List.of(), locations(store, file.id(), Long.MAX_VALUE, Long.MAX_VALUE));
    refused(ErrorCode.OUT_OF_RANGE, () -> locations(store, file.id(), -1, 5));
    refused(ErrorCode.OUT_OF_RANGE, () -> locations(store, file.id(), 0, -5));
    long directory = store.mkdir("/d").id();
    assertEquals(List.of(), locations(store, directory, 0, 5));
  }

  private static List<Extent> locations(TestStore store, long id, long position, long length)
      throws CrailException {
    return store
        .call(NameNodeOperations.LOCATIONS, new Locations.Request(id, position, length))
        .extents();
  }

  @Test
  void theDumpShowsEveryNodeInPagesOfWholeLines() throws Exception {
    TestStore store = new TestStore();
    for (int i = 0; i < 700; i++) {
      store.datanode(i + 1, "host-" + i, i % 8, true, 1 << 20);
    }
    store.create(NodeType.TABLE, "/table", 0);
    for (int i = 0; i < 2000; i++) {
      store.create(NodeType.KEYVALUE, "/table/\u00e4-key-" + i, 0);
    }
    StringBuilder text = new StringBuilder();
    int pages = 0;
    for (long cursor = 0; cursor >= 0; pages++) {
      Dump.Response page = store.call(NameNodeOperations.DUMP, new Dump.Request(cursor));
      assertTrue(page.text().toString().endsWith("\n"));
      assertTrue(page.next() != cursor, "goes on");
      text.append(page.text());
      cursor = page.next();
    }
    assertTrue(pages > 4, pages + " pages");
    List<String> lines = text.toString().lines().toList();
    assertEquals(700, lines.stream().filter(line -> line.startsWith("datanode ")).count());
    assertEquals(2000, lines.stream().filter(line -> line.startsWith("KEYVALUE ")).count());
    assertTrue(lines.stream().anyMatch(line -> line.startsWith("TABLE /table ")));
    assertTrue(lines.stream().anyMatch(line -> line.equals("operation create 2001")));
    Dump.Response beyond = store.call(NameNodeOperations.DUMP, new Dump.Request(Long.MAX_VALUE));
    assertEquals(-1, beyond.next());
    for (long cursor : new long[] {1L << 31, 0xffff_ffffL, (1L << 60) + 0xffff_ffffL, 1L << 61}) {
      store.call(NameNodeOperations.DUMP, new Dump.Request(cursor));
    }
    Dump.Response negative = store.call(NameNodeOperations.DUMP, new Dump.Request(-5));
    assertFalse(negative.text().toString().isEmpty());
  }

  @Test
  void usageCountsNodesAndClasses() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1, "a", 0, true, 2 << 20);
    store.datanode(2, "a", 3, true, 1 << 20);
    store.write("/f", 1);
    Usage.Response usage = store.call(NameNodeOperations.USAGE, new Usage.Request());
    assertEquals(2, usage.nodes());
    assertEquals(2, usage.datanodes());
    assertEquals(List.of(0, 3), usage.classes().stream().map(c -> c.storageClass()).toList());
    assertEquals(4096, usage.classes().get(0).usedBytes());
    assertEquals(1 << 20, usage.classes().get(0).largestFreeExtentBytes());
  }
}
