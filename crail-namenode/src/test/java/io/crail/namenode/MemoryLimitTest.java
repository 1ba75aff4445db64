/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.NodeType;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A namenode whose heap is used up, whatever has used it: it refuses typed what needs more, serves
 * and removes what is there, and afterwards takes new nodes again. The heap is counted again after
 * each step.
 */
class MemoryLimitTest {
  private static final int MOST = 200_000;
  private static final String LONG = "n".repeat(240);

  private TestStore store;
  private HeapBudget budget;
  private long empty;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.user", "own", "crail.namenode.memory", "1m");
    datanode = store.datanode(1L << 30);
    budget = store.namenode.budget();
    // What is never given back: the name of the user, and lists of blocks.
    store.write("/first", 5_000_000);
    store.remove("/first", false);
    empty = budget.used();
  }

  /** Does something again and again until it is refused. */
  private interface Step {
    void run(int i) throws CrailException;
  }

  private int fill(Step step) {
    for (int i = 0; i < MOST; i++) {
      try {
        step.run(i);
      } catch (CrailException e) {
        assertEquals(ErrorCode.LIMIT_EXCEEDED, e.code(), e.toString());
        assertTrue(e.detail().contains("crail.namenode.memory"), e.detail());
        store.namenode.verify();
        assertTrue(budget.used() <= budget.most(), budget.used() + " of " + budget.capacity());
        assertTrue(i > 10, "refused at " + i);
        return i;
      }
    }
    throw new AssertionError("never refused");
  }

  /** What must work at the limit, and that all heap comes back. */
  private void serveAndEmpty(String lookedUp) throws Exception {
    store.lookup(lookedUp);
    store.list(store.lookup("/").node().id(), 1);
    store.usage(0);
    store.namenode.tick();
    store.remove("/d", true);
    for (int i = 0; i < 100; i++) {
      store.namenode.tick();
    }
    store.passAlive(20_000, datanode);
    store.namenode.verify();
    store.mkdir("/d");
    store.file("/d/" + LONG);
    store.remove("/d", true);
    store.namenode.verify();
    assertTrue(
        budget.used() < empty + (budget.capacity() >> 2),
        budget.used() + " bytes, " + empty + " when it was empty");
  }

  @Test
  void longNames() throws Exception {
    store.mkdir("/d");
    int count = fill(i -> store.file("/d/" + LONG + i));
    assertTrue(count < (1 << 20) / 240, "more names than bytes for them: " + count);
    serveAndEmpty("/d/" + LONG + 1);
  }

  @Test
  void directories() throws Exception {
    store.mkdir("/d");
    fill(i -> store.mkdir("/d/" + i));
    serveAndEmpty("/d/1");
  }

  @Test
  void longerNamesForOldNodes() throws Exception {
    store.mkdir("/d");
    fill(i -> store.file("/d/" + i));
    for (int i = 1000; i < 1200; i++) {
      store.remove("/d/" + i, false);
    }
    int renamed = fill(i -> store.rename("/d/" + i, "/d/" + i + LONG));
    // A shorter name is always possible.
    store.rename("/d/" + renamed, "/d/x");
    store.namenode.verify();
    serveAndEmpty("/d/x");
  }

  @Test
  void extents() throws Exception {
    store.mkdir("/d");
    fill(i -> store.write("/d/" + i, 20 << 10));
    serveAndEmpty("/d/1");
  }

  @Test
  void extentsOfOneFile() throws Exception {
    store = new TestStore("crail.namenode.memory", "256k", "crail.blocksize", "4k");
    datanode = store.datanode(64 << 20);
    budget = store.namenode.budget();
    store.mkdir("/d");
    long id = store.create(NodeType.DATAFILE, "/d/f", 9).id();
    fill(i -> store.extend(id, 9, i * 4096L, 4096));
    store.setSize(id, 9, 5000, 1);
    empty = budget.used();
    serveAndEmpty("/d/f");
  }

  @Test
  void leases() throws Exception {
    store.mkdir("/d");
    fill(i -> store.create(NodeType.DATAFILE, "/d/" + i, i + 1));
    serveAndEmpty("/d/1");
  }

  @Test
  void leasesOfManyClients() throws Exception {
    store = new TestStore("crail.namenode.memory", "128k");
    datanode = store.datanode(1 << 20);
    budget = store.namenode.budget();
    empty = budget.used();
    store.mkdir("/d");
    fill(
        i -> {
          Wire wire = Wire.connect(store.server, Hello.ROLE_CLIENT, 1000 + i);
          try {
            wire.call(
                NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, "/d/" + i, i + 1));
          } finally {
            // Its answer is remembered until the client gives up.
            wire.close();
          }
        });
    serveAndEmpty("/d/1");
  }

  @Test
  void smallValues() throws Exception {
    store.create(NodeType.TABLE, "/d", 0);
    fill(i -> store.call(NameNodeOperations.PUT, TestStore.put("/d/" + i, i + 1, new byte[4000])));
    // A value is replaced by one that is not longer.
    store.call(NameNodeOperations.PUT, TestStore.put("/d/1", 1, new byte[4000]));
    store.namenode.verify();
    serveAndEmpty("/d/1");
  }

  @Test
  void users() throws Exception {
    store.mkdir("/d");
    Wire wire = Wire.connect(store.server, Hello.ROLE_CLIENT, 1);
    fill(
        i -> {
          String path = "/d/" + i;
          store.file(path);
          wire.call(
              NameNodeOperations.SET_ATTRIBUTES,
              new SetAttributes.Request(
                  SetAttributes.OWNER | SetAttributes.GROUP,
                  0,
                  0,
                  0,
                  Utf8.of(path),
                  Utf8.of("u".repeat(240) + i),
                  Utf8.of("g".repeat(240) + i)));
        });
    store.namenode.verify();
    store.lookup("/d/1");
    store.remove("/d", true);
    store.namenode.tick();
    // Names keep their numbers until others need them, and leave room for other things.
    store.mkdir("/d");
    store.namenode.verify();
  }

  @Test
  void regions() throws Exception {
    fill(
        i ->
            store.call(
                NameNodeOperations.REGISTER_REGION,
                new RegisterRegion.Request(datanode, 1 + i, 1 << 20, 0, 0, 0)));
    store.lookup("/");
  }

  @Test
  void datanodes() throws Exception {
    fill(i -> store.datanode(1000 + i, "host" + i, 0, true, 1 << 20));
    store.lookup("/");
  }

  @Test
  void anyMixture() throws Exception {
    Random random = new Random(TestStore.seed());
    for (int round = 0; round < 3; round++) {
      store.mkdir("/d");
      fill(
          i -> {
            String path = "/d/" + LONG.substring(random.nextInt(LONG.length())) + i;
            switch (random.nextInt(4)) {
              case 0 -> store.mkdir(path);
              case 1 -> store.write(path, random.nextInt(100_000));
              case 2 -> store.create(NodeType.DATAFILE, path, i + 1);
              default -> store.file(path);
            }
          });
      serveAndEmpty("/d");
    }
  }
}
