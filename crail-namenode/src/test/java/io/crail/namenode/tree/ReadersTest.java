/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.namenode.space.NodeSpace;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the answers to readers when a node changes in the meantime. Every possible change happens
 * between any two reads of the node.
 */
class ReadersTest {
  private interface Change {
    void run() throws CrailException;
  }

  /** A node that changes directly before it is read for the nth time. */
  private static final class Watched extends Node {
    private int looksLeft = -1;
    private Change change;
    private boolean happened;

    Watched(Node node) {
      super(
          node.id(),
          node.type(),
          node.storageClass(),
          node.host(),
          node.flags(),
          node.attributes(),
          node.modifiedMillis());
    }

    void beforeLook(int number, Change newChange) {
      looksLeft = number;
      change = newChange;
      happened = false;
    }

    @Override
    public NodeSpace space() {
      if (looksLeft-- == 0) {
        happened = true;
        try {
          change.run();
        } catch (CrailException e) {
          throw new AssertionError(e);
        }
      }
      return super.space();
    }
  }

  /** The answer to a reader. */
  private record Answer(long size, List<Extent> extents) {}

  private interface Reader {
    Answer ask(long id) throws CrailException;
  }

  private TestStore store;
  private int datanode;
  private Wire reader;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    datanode = store.datanode(64L << 20);
    reader = Wire.connect(store.server, 5);
  }

  private Answer lookup() throws CrailException {
    Lookup.Response answer =
        reader.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of("/f")));
    return new Answer(answer.node().size(), answer.extents());
  }

  private Answer find(long id) throws CrailException {
    FindExtents.Response answer =
        reader.call(NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(id, 0, 64));
    return new Answer(answer.size(), answer.extents());
  }

  private Answer locations(long id) throws CrailException {
    Locations.Response answer =
        reader.call(NameNodeOperations.LOCATIONS, new Locations.Request(id, 0, 1 << 20));
    return new Answer(answer.size(), answer.extents());
  }

  /** A file whose writer has committed {@code size} bytes, and holds space after them. */
  private Watched written(long size, long space) throws CrailException {
    Node made = store.namenode.tree().require(store.file("/f").id());
    Watched node = new Watched(made);
    ByteBuffer name = ByteBuffer.wrap(new byte[] {'f'});
    node.place(made.parent(), name, 0, 1, made.sequence());
    store.namenode.tree().names().replace(made, node);
    store.namenode.tree().ids().replace(made, node);
    Container.of(made).replace(made, node, 0);
    store.acquire(node.id(), 8);
    store.extend(node.id(), 8, 0, space);
    store.setSize(node.id(), 8, size, SetSize.KEEP);
    return node;
  }

  /** The writer vanishes, and the next one goes on after the seal. */
  private void writeBehindSeal(long id, long from, long to) throws CrailException {
    store.passAlive(10_200, datanode);
    store.acquire(id, 7);
    store.extend(id, 7, from, to - from);
    store.setSize(id, 7, to, SetSize.END);
  }

  private void readersSeeOneMoment(int space, Reader asks) throws Exception {
    boolean happened = true;
    for (int look = 0; happened; look++) {
      Watched node = written(1_000, space);
      Answer before = asks.ask(node.id());
      node.beforeLook(look, () -> writeBehindSeal(node.id(), 1_000, 4_000));
      Answer raced = asks.ask(node.id());
      happened = node.happened;
      assertTrue(happened || look > 0, "no thread looks");
      node.beforeLook(-1, null);
      if (happened) {
        Answer after = asks.ask(node.id());
        assertEquals(1_000, before.size);
        assertEquals(4_000, after.size);
        assertTrue(
            raced.equals(before) || raced.equals(after), before + ", " + raced + ", " + after);
      }
      store.remove("/f", false);
    }
  }

  @Test
  void bytesBehindASealAreNotReported() throws Exception {
    for (int space : new int[] {4096, 3 << 20}) {
      readersSeeOneMoment(space, id -> lookup());
      readersSeeOneMoment(space, this::find);
      readersSeeOneMoment(space, this::locations);
    }
    store.passAlive(17_000, datanode);
    store.namenode.verify();
  }

  @Test
  void aLookupDuringARemovalReturnsWhatWasThere() throws Exception {
    for (Reader asks : List.<Reader>of(id -> lookup(), this::find, this::locations)) {
      boolean happened = true;
      for (int look = 0; happened; look++) {
        Watched node = written(1_000, 4096);
        Answer before = asks.ask(node.id());
        assertEquals(1, before.extents.size());
        node.beforeLook(look, () -> store.remove("/f", false));
        assertEquals(before, asks.ask(node.id()));
        happened = node.happened;
        node.beforeLook(-1, null);
        if (!happened) {
          store.remove("/f", false);
        }
      }
    }
    store.passAlive(17_000, datanode);
    store.namenode.verify();
  }
}
