/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationServer;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Puts of small values, as they lie in requests. */
class PutTest {
  private static final int MOST = 100;
  private static final int KEPT_BYTES = 104 + 32;

  private static TestStore store(int namenodes, String memory) throws CrailException {
    TestStore store =
        new TestStore(
            new ManualClock(),
            0,
            namenodes,
            "crail.namenode.smallvalue",
            String.valueOf(MOST),
            "crail.namenode.smallvalues",
            memory);
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

  @Test
  void leavesOtherNamenodesTheirPaths() throws Exception {
    TestStore store = store(7, "1m");
    int refused = 0;
    for (int i = 0; i < 70; i++) {
      Put.Request request = TestStore.put("/t" + i + "/k", 9, new byte[8]);
      Object answer = store.wire.callAll(NameNodeOperations.PUT, List.of(request)).get(0);
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
                    NameNodeOperations.PUT.number(), NameNodeOperations.PUT),
                NameNodeOperations.HELLO)
            .handle(
                NameNodeOperations.HELLO,
                (request, session) -> {
                  session.accept(TestStore.caller(""));
                  throw ErrorCode.LIMIT_EXCEEDED.exception("welcome all the same");
                })
            .handle(
                NameNodeOperations.PUT,
                (batch, index) -> index,
                (index, batch, same, responses) -> {
                  if (index == 1) {
                    throw new IllegalStateException("a bug");
                  }
                  throw ErrorCode.NO_SPACE.exception("nowhere");
                },
                null)
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
    Put.Request put = TestStore.put("/t/k", 9, new byte[MOST]);
    assertEquals(
        List.of(ErrorCode.NO_SPACE, ErrorCode.INTERNAL, ErrorCode.NO_SPACE),
        wire.callAll(NameNodeOperations.PUT, List.of(put, put, put)).stream()
            .map(answer -> ((CrailException) answer).code())
            .toList());
  }

  @Test
  void allocatesWhatStays() throws Exception {
    TestStore store = store(1, "1m");
    prepare(store);
    Session session = new Session("test");
    ClientActivity activity = store.namenode.activity().begin(1, Utf8.EMPTY, Utf8.EMPTY);
    Caller caller = TestStore.caller("");
    session.attach(
        ClientSession.of(
            store.namenode, new SessionUser(store.namenode.users(), caller), activity));
    session.accept(caller);
    RequestBatch batch = new RequestBatch(session);
    ByteBuffer in = RequestBatches.memory(1 << 16);
    batch.reset(in);
    int at = 0;
    for (int i = 0; i < 8; i++) {
      Put.Request request = TestStore.put("/d/t/k" + i, 9, new byte[MOST]);
      at = RequestBatches.add(batch, in, at, NameNodeOperations.PUT, request);
    }
    ResponseWriter sink = RequestBatches.forgetting();
    long least =
        RequestBatches.leastAllocated(
            () -> {
              for (int i = 0; i < 200; i++) {
                store.server.serve(batch, sink);
              }
            });
    // The smallest object besides would be 16 bytes more; half a slot now and then is the table's.
    assertTrue(least / 1600.0 < KEPT_BYTES + 8, least / 1600.0 + " bytes for a put");
    store.namenode.verify();
  }
}
