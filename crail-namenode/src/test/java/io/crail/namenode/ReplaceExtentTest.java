/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.TierTraits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that a writer that cannot write to its extent gets other space, depending on the reason.
 */
class ReplaceExtentTest {
  private static final long TOKEN = 9;
  private static final long OTHER_CLIENT = 500;

  private TestStore store;
  private Wire otherWire;
  private int first;
  private int second;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.namenode.freemargin", "500ms");
    otherWire = Wire.connect(store.server, Hello.ROLE_CLIENT, OTHER_CLIENT);
    first = store.datanode(1, "one", 0, true, 24L << 20);
    second = store.datanode(2, "two", 0, true, 24L << 20);
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  private List<Extent> replace(long id, long token, Extent extent, int reason)
      throws CrailException {
    return store
        .call(
            NameNodeOperations.REPLACE_EXTENT,
            new ReplaceExtent.Request(
                id, token, extent.fileOffset(), extent.length(), extent.place(), reason))
        .extents();
  }

  private List<Extent> replace(long id, Extent extent) throws CrailException {
    return replace(id, TOKEN, extent, ReplaceExtent.UNREACHABLE);
  }

  /** A new file with space of this many blocks. */
  private List<Extent> begin(String path, int blocks) throws CrailException {
    long id = store.create(NodeType.DATAFILE, path, TOKEN).id();
    return store.extend(id, TOKEN, 0, (long) blocks * BLOCK);
  }

  private long id(String path) throws CrailException {
    return store.lookup(path).node().id();
  }

  /** How many of the extents of some new files lie at a datanode. */
  private long placedAt(int datanode, String prefix) throws CrailException {
    List<Extent> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      all.addAll(begin(prefix + i, 1));
    }
    return all.stream().filter(extent -> extent.place().datanode() == datanode).count();
  }

  @Test
  void theBytesGoElsewhereAndTheSpaceRests() throws Exception {
    List<Extent> given = begin("/f", 4);
    assertEquals(4, given.size());
    Extent bad = given.get(1);
    List<Extent> others = replace(id("/f"), bad);
    assertEquals(1, others.size());
    assertEquals(bad.fileOffset(), others.get(0).fileOffset());
    assertEquals(bad.length(), others.get(0).length());
    assertNotEquals(bad.place().datanode(), others.get(0).place().datanode());
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    // The answer was lost.
    assertEquals(others, replace(id("/f"), bad));
    assertEquals(
        List.of(given.get(0), others.get(0), given.get(2), given.get(3)),
        store.extend(id("/f"), TOKEN, 0, 1));
    store.setSize(id("/f"), TOKEN, 4 * BLOCK, SetSize.END);
    assertEquals(
        List.of(given.get(0), others.get(0), given.get(2), given.get(3)),
        store.find(id("/f"), 0).extents());
    // What is on its way there may arrive as long as the lease lasted, and its end says nothing.
    store.passAlive(10_000, first, second);
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    store.passAlive(1_000, first, second);
    assertEquals(0, store.usage(0).waitingBytes());
    assertEquals(4 * BLOCK, store.usage(0).usedBytes());
  }

  @Test
  void theOnlyExtentIsReplacedAsTheLastAndTheFirst() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", TOKEN).id();
    Extent only = store.extend(id, TOKEN, 0, 1).get(0);
    Extent other = replace(id, only).get(0);
    assertEquals(4096, other.length());
    assertNotEquals(only.place().datanode(), other.place().datanode());
    store.setSize(id, TOKEN, 100, SetSize.END);
    assertEquals(100, store.find(id, 0).extents().get(0).length());
    assertEquals(
        other.place().generation(), store.find(id, 0).extents().get(0).place().generation());
  }

  @Test
  void visibleBytesAreNotReplaced() throws Exception {
    List<Extent> given = begin("/f", 2);
    long id = id("/f");
    store.setSize(id, TOKEN, 1, SetSize.KEEP);
    refused(ErrorCode.INVALID_ARGUMENT, "/f", () -> replace(id, given.get(0)));
    replace(id, given.get(1));
    store.setSize(id, TOKEN, BLOCK + 1, SetSize.KEEP);
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "/f",
        () -> replace(id, store.extend(id, TOKEN, BLOCK, 1).get(0)));
  }

  @Test
  void onlyItsWriterMay() throws Exception {
    Extent given = begin("/f", 1).get(0);
    long id = id("/f");
    refused(
        ErrorCode.WRITE_LEASE_LOST, () -> replace(id, TOKEN + 1, given, ReplaceExtent.UNREACHABLE));
    refused(ErrorCode.INVALID_ARGUMENT, () -> replace(id, TOKEN, given, 4));
    for (long offset : new long[] {-1, BLOCK, Long.MAX_VALUE, Long.MIN_VALUE}) {
      Extent nowhere = new Extent(offset, Integer.MIN_VALUE, new Place(0, 0, 0, 0));
      refused(ErrorCode.OUT_OF_RANGE, () -> replace(id, nowhere));
    }
    // Something else is there: the answer names it, and it stays.
    Extent old = new Extent(0, -5, new Place(0, 0, 0, 0));
    assertEquals(List.of(given), replace(id, old));
    store.remove("/f", false);
    refused(ErrorCode.STALE_NODE, () -> replace(id, given));
  }

  @Test
  void anUnreachableDatanodeIsAskedLastUntilItsNextSignOfLife() throws Exception {
    Extent bad = begin("/f", 1).get(0);
    int dead = bad.place().datanode();
    int alive = dead == first ? second : first;
    replace(id("/f"), bad);
    assertEquals(0, placedAt(dead, "/a"));
    // Others get space of it as soon as it is heard of, whatever a client has said.
    Create.Request theirs = TestStore.creation(NodeType.DATAFILE, "/theirs", 1);
    long id = otherWire.call(NameNodeOperations.CREATE, theirs).node().id();
    List<Extent> before = extendAsOther(id, 0);
    assertEquals(1, before.stream().filter(extent -> extent.place().datanode() == alive).count());
    store.rule().keepAlive(TestStore.sign(dead, 0), TestStore.caller(""));
    List<Extent> after = new ArrayList<>();
    for (int i = 1; i <= 6; i++) {
      after.addAll(extendAsOther(id, (long) i * BLOCK));
    }
    assertTrue(
        after.stream().anyMatch(extent -> extent.place().datanode() == dead), after.toString());
    // The client that reported it does not, for as long as a datanode may be silent.
    assertEquals(0, placedAt(dead, "/b"));
    store.passAlive(20_000, first, second);
    store.acquire(store.write("/again", 1).id(), TOKEN);
    assertTrue(placedAt(dead, "/c") > 0);
  }

  private List<Extent> extendAsOther(long id, long position) throws CrailException {
    return otherWire
        .call(
            NameNodeOperations.EXTEND,
            new io.crail.protocol.node.Extend.Request(id, 1, position, BLOCK, -1))
        .extents();
  }

  @Test
  void withoutOtherSpaceTheNodeKeepsItsOwn() throws Exception {
    List<Extent> given = begin("/f", 48);
    assertEquals(48, given.size());
    refused(ErrorCode.NO_SPACE, "/f", () -> replace(id("/f"), given.get(3)));
    assertEquals(given, store.extend(id("/f"), TOKEN, 0, 1));
    assertEquals(0, store.usage(0).waitingBytes());
    // A last resort: only the suspected datanode has space.
    store.setSize(id("/f"), TOKEN, 0, SetSize.END);
    assertEquals(48, begin("/g", 48).size());
  }

  @Test
  void smallerPiecesTakeThePlaceOfALargeOne() throws Exception {
    // What is free elsewhere is in pieces of a quarter of a block.
    List<Extent> large = begin("/large", 16);
    List<String> small = new ArrayList<>();
    for (int i = 0; i < 128; i++) {
      String path = "/small" + i;
      long id = store.create(NodeType.DATAFILE, path, TOKEN).id();
      store.extend(id, TOKEN, 0, BLOCK / 4);
      small.add(path);
    }
    int datanode = large.get(0).place().datanode();
    for (String path : small) {
      Extent extent = store.extend(id(path), TOKEN, 0, 1).get(0);
      boolean keeps =
          extent.place().offset() % (BLOCK / 2) == 0 || extent.place().datanode() == datanode;
      if (!keeps) {
        store.setSize(id(path), TOKEN, 0, SetSize.END);
      }
    }
    List<Extent> others = replace(id("/large"), large.get(0));
    assertEquals(4, others.size());
    long end = 0;
    for (Extent each : others) {
      assertEquals(end, each.fileOffset());
      assertNotEquals(datanode, each.place().datanode());
      end = each.fileEnd();
    }
    assertEquals(BLOCK, end);
    assertEquals(others, replace(id("/large"), large.get(0)));
    assertEquals(19, store.extend(id("/large"), TOKEN, 0, 1).size());
  }

  @Test
  void aSlowDatanodeIsBetterThanNone() throws Exception {
    Extent bad = begin("/f", 1).get(0);
    Extent other = replace(id("/f"), bad).get(0);
    // What the first one had before rests there.
    refused(ErrorCode.SPACE_TO_COME, () -> replace(id("/f"), TOKEN, other, ReplaceExtent.SILENT));
    assertEquals(List.of(other), store.extend(id("/f"), TOKEN, 0, 1));
    assertEquals(bad.place().datanode(), replace(id("/f"), other).get(0).place().datanode());
  }

  /** Writes that were given up may still be executed there, so the same place is of no use. */
  @Test
  void flashGivesOtherSpaceOfItsOwnIfNoOtherDatanodeHasAny() throws Exception {
    store = new TestStore();
    TierTraits traits = new TierTraits(512, FenceKind.CUT_OFF, 7000, true, Utf8.EMPTY, Utf8.EMPTY);
    int flash =
        store
            .call(
                NameNodeOperations.REGISTER_DATANODE,
                TestStore.registration(3, "three", 1003, 0, traits))
            .datanode();
    store.region(flash, 0, 24L << 20);
    for (int reason :
        new int[] {ReplaceExtent.SILENT, ReplaceExtent.UNREACHABLE, ReplaceExtent.FULL}) {
      String path = "/flash" + reason;
      long id = store.create(NodeType.DATAFILE, path, TOKEN).id();
      Extent bad = store.extend(id, TOKEN, 0, 1).get(0);
      Extent other = replace(id, TOKEN, bad, reason).get(0);
      assertFalse(beginsAt(other, bad));
      assertEquals(List.of(other), replace(id, TOKEN, bad, reason));
    }
    begin("/full", 24);
    Extent present = store.extend(id("/full"), TOKEN, 0, 1).get(0);
    refused(
        ErrorCode.SPACE_PINNED,
        "/full",
        () -> replace(id("/full"), TOKEN, present, ReplaceExtent.SILENT));
    assertEquals(present, store.extend(id("/full"), TOKEN, 0, 1).get(0));
  }

  @Test
  void pinnedSpaceSaysNothingOfItsDatanode() throws Exception {
    Extent bad = begin("/f", 1).get(0);
    Extent other = replace(id("/f"), TOKEN, bad, ReplaceExtent.PINNED).get(0);
    assertFalse(beginsAt(other, bad));
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    assertEquals(3, placedAt(bad.place().datanode(), "/a"));
  }

  @Test
  void spaceOfAValueThatMovesIsReplaced() throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    long id = store.create(NodeType.KEYVALUE, "/t/k", TOKEN).id();
    byte[] bytes = new byte[100];
    store.call(
        NameNodeOperations.SET_SIZE,
        new SetSize.Request(id, TOKEN, 100, SetSize.END, SmallValue.of(bytes)));
    store.acquire(id, TOKEN + 1);
    Extent bad = store.extend(id, TOKEN + 1, 0, 8192).get(0);
    Extent other = replace(id, TOKEN + 1, bad, ReplaceExtent.UNREACHABLE).get(0);
    assertNotEquals(bad.place().datanode(), other.place().datanode());
    assertEquals(100, store.find(id, 0).value().length());
    store.setSize(id, TOKEN + 1, 8192, SetSize.END);
    assertEquals(List.of(other), store.find(id, 0).extents());
  }

  private static boolean beginsAt(Extent one, Extent other) {
    return one.place().datanode() == other.place().datanode()
        && one.place().region() == other.place().region()
        && one.place().offset() == other.place().offset();
  }
}
