/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NoSpaceException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests that requests that take long do a bounded piece of work in each turn, and leave the rest.
 */
class TurnsTest {
  private static final int MANY = 10_000;

  /** Nodes that one turn takes apart at the most, and those of the batch that it ends in. */
  private static final int MOST_IN_A_TURN = 512;

  private static Remove.Request removal(boolean recursive, String path) {
    return new Remove.Request(recursive, Utf8.of(path));
  }

  @Test
  void recursiveRemovesTakeTurnsAndOthersDoNot() throws Exception {
    TestStore store = new TestStore();
    List<Remove.Request> recursive = new ArrayList<>();
    List<Remove.Request> plain = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      store.mkdir("/d" + i);
      for (int j = 0; j < 300; j++) {
        store.file("/d" + i + "/f" + j);
      }
      store.file("/f" + i);
      recursive.add(removal(true, "/d" + i));
      plain.add(removal(false, "/f" + i));
    }
    long before = store.namenode.tree().size();
    assertEquals(3, store.wire.callInTurns(NameNodeOperations.REMOVE, recursive, 3).size());
    long after = store.namenode.tree().size();
    assertTrue(before - after <= 3 * MOST_IN_A_TURN, before + " nodes, then " + after);
    store.lookup("/d3");
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/d2"));
    assertEquals(8, store.wire.callInTurns(NameNodeOperations.REMOVE, plain, 0).size());
  }

  @Test
  void renewalsOfFewLeasesDoNotWait() throws Exception {
    TestStore store = new TestStore();
    RenewLeases.Lease lease =
        new RenewLeases.Lease(store.create(NodeType.DATAFILE, "/f", 9).id(), 9);
    for (int count : new int[] {64, 65}) {
      List<RenewLeases.Request> requests =
          List.of(new RenewLeases.Request(Collections.nCopies(count, lease)));
      assertEquals(
          count == 64 ? 1 : 0,
          store.wire.callInTurns(NameNodeOperations.RENEW_LEASES, requests, 0).size());
    }
  }

  /** A store whose space has a file that is the last of a big removed tree to be taken apart. */
  private static TestStore full() throws Exception {
    TestStore store = new TestStore("crail.namenode.freemargin", "0s");
    store.datanode(TestStore.BLOCK);
    store.create(NodeType.DATAFILE, "/empty", 7);
    store.mkdir("/big");
    store.write("/big/all", TestStore.BLOCK);
    fill(store, "/big/");
    return store;
  }

  private static void fill(TestStore store, String prefix) throws Exception {
    for (int i = 0; i < MANY; i++) {
      store.file(prefix + i);
    }
  }

  /** Asks in turns until there is an answer, which is given; no turn may do much. */
  private static <Q, R> Object inTurns(TestStore store, Operation<Q, R> operation, Q request)
      throws Exception {
    int rounds = 0;
    while (true) {
      long before = store.namenode.tree().size();
      List<Object> answers = store.wire.callInTurns(operation, List.of(request), 1);
      long done = before - store.namenode.tree().size();
      assertTrue(done <= MOST_IN_A_TURN, done + " nodes in a turn");
      // What others ask for meanwhile.
      store.lookup("/empty");
      if (!answers.isEmpty()) {
        assertTrue(rounds >= MANY / MOST_IN_A_TURN, "answered in round " + rounds);
        return answers.get(0);
      }
      assertTrue(++rounds < MANY, "no answer");
    }
  }

  @Test
  void anExtensionOfAFileFindsTheSpaceOfABigRemovedTree() throws Exception {
    TestStore store = full();
    store.remove("/big", true);
    long id = store.lookup("/empty").node().id();
    Object answer =
        inTurns(
            store, NameNodeOperations.EXTEND, new Extend.Request(id, 7, 0, TestStore.BLOCK, -1));
    assertTrue(answer instanceof Extend.Response, answer.toString());
    store.namenode.verify();
  }

  @Test
  void aPutFindsTheSpaceOfABigRemovedTree() throws Exception {
    TestStore store = full();
    store.create(NodeType.TABLE, "/table", 0);
    Put.Request request = TestStore.put("/table/new", 5, TestStore.BLOCK);
    // Nothing can be freed yet.
    List<Object> answers =
        store.wire.callInTurns(NameNodeOperations.PUT, List.of(request), Integer.MAX_VALUE);
    assertTrue(answers.get(0) instanceof NoSpaceException, "" + answers);
    store.remove("/big", true);
    Object answer = inTurns(store, NameNodeOperations.PUT, request);
    assertTrue(answer instanceof Put.Response, answer.toString());
    NodeInfo node = store.lookup("/table/new").node();
    assertEquals(node.id(), ((Put.Response) answer).node().id());
    store.namenode.verify();
  }
}
