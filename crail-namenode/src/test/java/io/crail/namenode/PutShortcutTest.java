/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationServer;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Puts of small values straight from the requests, beside the general way. */
class PutShortcutTest {
  private static final int MOST = 100;
  private static final int KEPT_BYTES = 104 + 24 + 16 + MOST + 4;

  private static final String[] TABLES = {
    "/t", "/d/t", "/d/other", "/d", "/d/file", "/none", "", "/t/k1"
  };

  private static TestStore store(int namenodes, String memory) throws CrailException {
    TestStore store =
        new TestStore(
            new ManualClock(),
            0,
            namenodes,
            "crail.namenode.smallvalue",
            String.valueOf(MOST),
            "crail.namenode.smallvalues",
            memory,
            "crail.namenode.maxnodes",
            "40");
    store.datanode(1 << 20);
    return store;
  }

  private static void prepare(TestStore store) throws CrailException {
    store.create(NodeType.TABLE, "/t", 0);
    store.mkdir("/d");
    store.create(NodeType.TABLE, "/d/t", 0);
    store.create(NodeType.TABLE, "/d/other", 0);
    store.file("/d/file");
  }

  private static Create.Request put(
      String path, int permissions, int storageClass, long token, long wanted, String host, int n) {
    byte[] value = new byte[n];
    new Random(n).nextBytes(value);
    return new Create.Request(
        NodeType.KEYVALUE,
        n % 2 == 0,
        n % 3 == 0,
        false,
        n % 5 != 0,
        permissions,
        storageClass,
        token,
        wanted,
        Utf8.of(path),
        Utf8.of(host),
        SmallValue.of(value));
  }

  private static Create.Request any(Random random) {
    boolean odd = random.nextInt(20) == 0;
    String table = odd ? TABLES[random.nextInt(TABLES.length)] : TABLES[random.nextInt(2)];
    String name = "k" + random.nextInt(12);
    String path =
        switch (random.nextInt(40)) {
          case 0 -> "/";
          case 1 -> table + "//" + name;
          case 2 -> table + "/" + name + "/";
          case 3 -> table + "/..";
          case 4 -> table + "/" + name.repeat(100);
          case 5, 6, 7 -> table + "/" + name.repeat(9);
          case 8 -> table + "/\u00e4" + name;
          default -> table + "/" + name;
        };
    return put(
        path,
        random.nextInt(30) == 0 ? 010000 : 0640,
        random.nextInt(20) == 0 ? random.nextInt(12) - 2 : Create.PARENT_CLASS,
        random.nextInt(10) == 0 ? 0 : random.nextLong(),
        random.nextInt(30) - 1,
        random.nextInt(10) == 0 ? "host" : random.nextBoolean() ? "" : "*",
        random.nextInt(MOST + 20));
  }

  /** All but the id, which an attempt may use up. */
  private static NodeInfo withoutId(NodeInfo info) {
    return new NodeInfo(
        0,
        info.size(),
        info.modifiedMillis(),
        info.accessedMillis(),
        info.childCount(),
        info.storageClass(),
        info.type(),
        info.flags(),
        info.permissions(),
        info.owner(),
        info.group());
  }

  private static String told(Object answer) {
    if (answer instanceof CrailException failure) {
      return failure.code() + " " + failure.detail();
    }
    return answer instanceof Create.Response created
        ? withoutId(created.node()) + " " + created.extents().size()
        : withoutId(((Lookup.Response) answer).node())
            + " "
            + ((Lookup.Response) answer).extents().size()
            + " "
            + java.util.Arrays.toString(((Lookup.Response) answer).value().bytes());
  }

  private static Object generally(TestStore store, int user, Create.Request request) {
    try {
      return store.namenode.create(request, TestStore.CLIENT, user);
    } catch (CrailException e) {
      return e;
    }
  }

  private static Object lookup(TestStore store, String path) {
    try {
      return store.lookup(path);
    } catch (CrailException e) {
      return e;
    }
  }

  /** Whatever comes, the answers and what is there afterwards are those of the general way. */
  @Test
  void isTheGeneralWayInShort() throws Exception {
    Random random = new Random(TestStore.seed());
    for (int run = 0; run < 10; run++) {
      int namenodes = 1;
      String memory = run % 2 == 0 ? "1m" : "1500";
      TestStore quick = store(namenodes, memory);
      TestStore general = store(namenodes, memory);
      prepare(quick);
      prepare(general);
      int user = general.namenode.users().number(Utf8.of("tester"));
      for (int round = 0; round < 60; round++) {
        List<Create.Request> requests = new ArrayList<>();
        for (int i = random.nextInt(RequestBatch.TOGETHER); i >= 0; i--) {
          requests.add(any(random));
        }
        List<Object> answers = quick.wire.callAll(NameNodeOperations.CREATE, requests);
        for (int i = 0; i < requests.size(); i++) {
          Create.Request request = requests.get(i);
          assertEquals(
              told(generally(general, user, request)), told(answers.get(i)), request::toString);
        }
        String gone = TABLES[random.nextInt(2)] + "/k" + random.nextInt(12);
        for (TestStore each : List.of(quick, general)) {
          if (lookup(each, gone) instanceof Lookup.Response) {
            each.remove(gone, true);
          }
          each.pass(100);
          each.namenode.verify();
        }
        for (int key = 0; key < 12; key++) {
          for (int table = 0; table < 2; table++) {
            String path = TABLES[table] + "/k" + key;
            assertEquals(told(lookup(general, path)), told(lookup(quick, path)), path);
          }
        }
        assertEquals(general.namenode.usage(), quick.namenode.usage());
      }
    }
  }

  @Test
  void leavesOtherNamenodesTheirPaths() throws Exception {
    TestStore store = store(7, "1m");
    int refused = 0;
    for (int i = 0; i < 70; i++) {
      Create.Request request = put("/t" + i + "/k", 0644, Create.PARENT_CLASS, 9, 8, "*", 8);
      Object answer = store.wire.callAll(NameNodeOperations.CREATE, List.of(request)).get(0);
      ErrorCode code = ((CrailException) answer).code();
      assertTrue(code == ErrorCode.WRONG_NAMENODE || code == ErrorCode.PARENT_NOT_FOUND);
      refused += code == ErrorCode.WRONG_NAMENODE ? 1 : 0;
    }
    assertTrue(refused > 30 && refused < 70, refused + " of 70");
  }

  @Test
  void aBugFailsItsRequestAlone() throws Exception {
    OperationServer server =
        OperationServer.builder(
                Map.of(
                    NameNodeOperations.HELLO.number(), NameNodeOperations.HELLO,
                    NameNodeOperations.CREATE.number(), NameNodeOperations.CREATE),
                NameNodeOperations.HELLO)
            .handle(
                NameNodeOperations.HELLO,
                (request, session) -> {
                  session.attach("somebody");
                  throw ErrorCode.LIMIT_EXCEEDED.exception("welcome all the same");
                })
            .handle(
                NameNodeOperations.CREATE,
                (request, session) -> {
                  throw ErrorCode.NO_SPACE.exception("the general way");
                },
                (batch, index, responses) -> {
                  if (index == 1) {
                    throw new IllegalStateException("a bug");
                  }
                  return false;
                })
            .build();
    Wire wire = new Wire(server);
    Hello.Request hello =
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            Hello.ROLE_CLIENT,
            1,
            Utf8.EMPTY,
            Utf8.EMPTY);
    assertThrows(CrailException.class, () -> wire.call(NameNodeOperations.HELLO, hello));
    Create.Request put = put("/t/k", 0644, Create.PARENT_CLASS, 9, MOST, "*", MOST);
    assertEquals(
        List.of(ErrorCode.NO_SPACE, ErrorCode.INTERNAL, ErrorCode.NO_SPACE),
        wire.callAll(NameNodeOperations.CREATE, List.of(put, put, put)).stream()
            .map(answer -> ((CrailException) answer).code())
            .toList());
  }

  @Test
  void allocatesWhatStays() throws Exception {
    TestStore store = store(1, "1m");
    prepare(store);
    Session session = new Session("test");
    SessionUser user = new SessionUser(store.namenode.users(), Utf8.EMPTY);
    PutShortcut puts = new PutShortcut(store.namenode);
    RequestBatch batch = new RequestBatch(session);
    ByteBuffer in = RequestBatches.memory(1 << 16);
    batch.reset(in);
    int at = 0;
    for (int i = 0; i < 8; i++) {
      Create.Request request = put("/d/t/k" + i, 0644, Create.PARENT_CLASS, 9, MOST, "*", MOST);
      at = RequestBatches.add(batch, in, at, NameNodeOperations.CREATE, request);
    }
    ResponseWriter sink = RequestBatches.forgetting();
    long least =
        RequestBatches.leastAllocated(
            () -> {
              for (int i = 0; i < 200; i++) {
                for (int put = 0; put < 8; put++) {
                  assertTrue(puts.serve(batch, put, sink, user));
                }
              }
            });
    // The smallest object besides would be 16 bytes more; half a slot now and then is the table's.
    assertTrue(least / 1600.0 < KEPT_BYTES + 8, least / 1600.0 + " bytes for a put");
    store.namenode.verify();
  }
}
