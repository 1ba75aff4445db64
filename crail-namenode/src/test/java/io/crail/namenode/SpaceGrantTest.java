/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Space that is given for values before they are put. */
class SpaceGrantTest {
  private static final int LENGTH = 60_000;
  private static final int EXTENT = 64 << 10;
  private static final long CAPACITY = 8L << 20;
  private static final long LEASE_MILLIS = 2000;
  private static final long MARGIN_MILLIS = 500;

  private TestStore store;
  private int datanode;
  private long nextToken = 100;

  @BeforeEach
  void start() throws Exception {
    start(true);
  }

  private void start(boolean checks) throws CrailException {
    store =
        new TestStore(
            "crail.lease", LEASE_MILLIS + "ms", "crail.namenode.freemargin", MARGIN_MILLIS + "ms");
    datanode = store.datanode(1, "host", 0, checks, CAPACITY);
    store.create(NodeType.TABLE, "/t", 0);
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  /** The space that was given ahead, and the token with which it was given. */
  private record Given(long grant, long token, Extent extent) {}

  private Put.Request request(String path, int length, Given given, int ahead) {
    return request(path, length, given, true, ahead);
  }

  private Put.Request request(String path, int length, Given given, boolean written, int ahead) {
    Put.Ahead named =
        given == null
            ? new Put.Ahead(0, 0, false, ahead)
            : new Put.Ahead(given.grant, given.token, written, ahead);
    return TestStore.put(path, nextToken++, length, named);
  }

  private Put.Response put(Put.Request request) throws CrailException {
    return store.call(NameNodeOperations.PUT, request);
  }

  private static Given given(Put.Request request, Put.Response response) {
    assertEquals(1, response.given().size());
    Put.Given given = response.given().get(0);
    return new Given(given.grant(), request.token(), given.extent());
  }

  /** Puts a value the long way, and gets space for another one. */
  private Given prepare() throws CrailException {
    Put.Request request = request("/t/first", LENGTH, null, LENGTH);
    Put.Response response = put(request);
    store.setSize(response.node().id(), request.token(), LENGTH, SetSize.END);
    return given(request, response);
  }

  /** The node has the bytes that were written to an extent, and nobody has its lease. */
  private void assertWritten(String path, Put.Response response, Extent where, int length)
      throws CrailException {
    assertEquals(length, response.node().size());
    assertEquals(List.of(), response.extents());
    Lookup.Response found = store.lookup(path);
    assertEquals(response.node().id(), found.node().id());
    assertEquals(length, found.node().size());
    assertEquals(1, found.extents().size());
    Extent lies = found.extents().get(0);
    assertEquals(where.datanode(), lies.datanode());
    assertEquals(where.generation(), lies.generation());
    assertEquals(where.regionOffset(), lies.regionOffset());
    assertEquals(length, lies.length());
    assertEquals(EXTENT, where.length());
  }

  /** Its bytes were not taken over, so it has a lease and space to write them to. */
  private void assertToBeWritten(String path, Put.Response response) throws CrailException {
    assertEquals(0, response.node().size());
    assertEquals(1, response.extents().size());
    store.remove(path, false);
  }

  private ClassUsage usage() {
    return store.usage(0);
  }

  @Test
  void aValueThatWasWrittenBeforeIsThereWithItsPut() throws Exception {
    Given given = prepare();
    assertEquals(EXTENT, usage().usedBytes());
    assertEquals(EXTENT, usage().waitingBytes());
    Put.Request request = request("/t/k", LENGTH, given, LENGTH);
    Put.Response response = put(request);
    assertWritten("/t/k", response, given.extent, LENGTH);
    assertEquals(0, store.namenode.leases().size());
    assertEquals(2 * EXTENT, usage().usedBytes());
    // And so on: with each that of the next.
    Given next = given(request, response);
    assertNotEquals(given.extent, next.extent);
    assertWritten("/t/k", put(request("/t/k", LENGTH, next, 0)), next.extent, LENGTH);
    assertEquals(2 * EXTENT, usage().usedBytes());
    assertEquals(0, usage().waitingBytes());
    // Nobody has a lease, so an append is free to come.
    store.acquire(store.lookup("/t/k").node().id(), 5);
    store.remove("/t", true);
    store.passAlive(30_000, datanode);
    assertEquals(0, usage().usedBytes() + usage().waitingBytes());
  }

  @Test
  void aValueThatIsOnItsWayHasItsSpaceAndItsWriterTheLease() throws Exception {
    Given given = prepare();
    Put.Request request = request("/t/k", LENGTH, given, false, LENGTH);
    Put.Response response = put(request);
    assertEquals(0, response.node().size());
    assertEquals(List.of(given.extent), response.extents());
    assertEquals(1, store.namenode.leases().size());
    assertEquals(2 * EXTENT, usage().usedBytes());
    assertEquals(EXTENT, usage().waitingBytes());
    assertEquals(List.of(), store.lookup("/t/k").extents());
    store.setSize(response.node().id(), request.token(), LENGTH, SetSize.END);
    assertEquals(0, store.namenode.leases().size());
    Lookup.Response found = store.lookup("/t/k");
    assertEquals(LENGTH, found.node().size());
    assertTrue(found.extents().get(0).beginsAt(given.extent));
    // And so on, written before or not.
    Given next = given(request, response);
    assertWritten("/t/k", put(request("/t/k", LENGTH, next, 0)), next.extent, LENGTH);
  }

  @Test
  void whatAWriterWasGivenAheadRestsLikeWhatItHasAskedFor() throws Exception {
    // Removed while it writes, fallen silent, and a small value in its place.
    Given given = prepare();
    Put.Request request = request("/t/k", LENGTH, given, false, 0);
    final long removed = put(request).node().id();
    store.remove("/t/k", false);
    assertEquals(EXTENT, usage().waitingBytes());
    Refusals.refused(
        ErrorCode.STALE_NODE, () -> store.setSize(removed, request.token(), LENGTH, SetSize.END));
    assertEquals(0, usage().waitingBytes());

    put(request("/t/k", LENGTH, prepare(), false, 0));
    store.passAlive(LEASE_MILLIS + 100, datanode);
    assertEquals(EXTENT, usage().usedBytes());
    assertEquals(EXTENT, usage().waitingBytes());
    store.passAlive(LEASE_MILLIS + MARGIN_MILLIS, datanode);
    assertEquals(0, usage().waitingBytes());

    Put.Request small = request("/t/s", LENGTH, prepare(), false, 0);
    long id = put(small).node().id();
    store.call(
        NameNodeOperations.SET_SIZE,
        new SetSize.Request(
            id,
            small.token(),
            10,
            SetSize.END,
            SmallValue.of(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})));
    assertEquals(EXTENT, usage().waitingBytes());
    store.passAlive(LEASE_MILLIS + MARGIN_MILLIS + 100, datanode);
    assertEquals(0, usage().waitingBytes());
  }

  @Test
  void withoutALeaseItRestsAsBefore() throws Exception {
    store =
        new TestStore(
            "crail.lease",
            LEASE_MILLIS + "ms",
            "crail.namenode.freemargin",
            MARGIN_MILLIS + "ms",
            "crail.namenode.maxleases",
            "1");
    datanode = store.datanode(1, "host", 0, true, CAPACITY);
    store.create(NodeType.TABLE, "/t", 0);
    Given given = prepare();
    put(request("/t/other", LENGTH, null, 0));
    Refusals.refused(ErrorCode.LIMIT_EXCEEDED, () -> put(request("/t/k", LENGTH, given, false, 0)));
    assertEquals(EXTENT, usage().waitingBytes());
    store.namenode.verify();
    store.remove("/t/other", false);
    // It was named once; nobody else has it meanwhile.
    assertToBeWritten("/t/k", put(request("/t/k", LENGTH, given, false, 0)));
    store.passAlive(LEASE_MILLIS + MARGIN_MILLIS + 100, datanode);
    assertEquals(0, usage().waitingBytes());
  }

  @Test
  void whatNobodyUsesIsFreeBehindALease() throws Exception {
    for (boolean checks : new boolean[] {true, false}) {
      start(checks);
      Given given = prepare();
      store.passAlive(LEASE_MILLIS, datanode);
      assertEquals(EXTENT, usage().waitingBytes(), "whoever has it may be writing");
      store.passAlive(MARGIN_MILLIS + 200, datanode);
      assertEquals(0, usage().waitingBytes());
      assertToBeWritten("/t/k", put(request("/t/k", LENGTH, given, 0)));
    }
  }

  @Test
  void whatIsNotForThisValueIsAsIfItWereNotGiven() throws Exception {
    Given given = prepare();
    List<UnaryOperator<Given>> others =
        List.of(
            right -> new Given(right.grant + 1, right.token, right.extent),
            right -> new Given(right.grant, right.token + 1, right.extent),
            right -> new Given(store.namenode.tree().rootId(), right.token, right.extent));
    for (UnaryOperator<Given> other : others) {
      assertToBeWritten("/t/k", put(request("/t/k", LENGTH, other.apply(given), 0)));
    }
    // More than lies there.
    assertToBeWritten("/t/k", put(request("/t/k", EXTENT + 1, given, 0)));
    // For a table of another class.
    store.call(
        NameNodeOperations.CREATE,
        new Create.Request(
            NodeType.TABLE, true, false, false, 0755, 1, 0, Utf8.of("/u"), Utf8.EMPTY));
    assertToBeWritten("/u/k", put(request("/u/k", LENGTH, given, 0)));
    // A put that fails has used nothing up.
    Refusals.refused(ErrorCode.PARENT_NOT_FOUND, () -> put(request("/x/k", LENGTH, given, LENGTH)));
    assertWritten("/t/k", put(request("/t/k", LENGTH, given, 0)), given.extent, LENGTH);
    // Once.
    assertToBeWritten("/t/k", put(request("/t/k", LENGTH, given, 0)));
  }

  @Test
  void whatLiesAtADatanodeThatIsToGoIsWrittenOnceMore() throws Exception {
    Given given = prepare();
    store.datanode(2, "other", 0, true, CAPACITY);
    store.call(
        NameNodeOperations.REMOVE_DATANODE,
        new RemoveDatanode.Request(true, 1001, Utf8.of("host")));
    Put.Response response = put(request("/t/k", LENGTH, given, 0));
    assertNotEquals(datanode, response.extents().get(0).datanode());
    assertToBeWritten("/t/k", response);
  }

  @Test
  void whatIsAtADatanodeThatIsSilentIsNotTaken() throws Exception {
    store = new TestStore("crail.lease", "60s");
    datanode = store.datanode(1, "host", 0, true, CAPACITY);
    store.create(NodeType.TABLE, "/t", 0);
    Given given = prepare();
    int other = store.datanode(2, "other", 0, true, CAPACITY);
    store.passAlive(20_000, other);
    for (boolean written : new boolean[] {false, true}) {
      Put.Response response = put(request("/t/k", LENGTH, given, written, 0));
      assertEquals(other, response.extents().get(0).datanode());
      store.remove("/t/k", false);
    }
    store.passAlive(2_000, datanode, other);
    assertWritten("/t/k", put(request("/t/k", LENGTH, given, 0)), given.extent, LENGTH);
  }

  @Test
  void nothingIsGivenAheadWhereLittleIsFree() throws Exception {
    store.write("/f", CAPACITY * 3 / 4);
    Put.Request request = request("/t/k", LENGTH, null, LENGTH);
    assertEquals(List.of(), put(request).given());
    store.remove("/f", false);
    store.passAlive(30_000, datanode);
    given(request, put(request));
    // Nor what no extent holds, nor for anybody without a lease.
    assertEquals(List.of(), put(request("/t/k", LENGTH, null, TestStore.BLOCK + 1)).given());
    assertEquals(List.of(), put(request("/t/k", LENGTH, null, Integer.MAX_VALUE)).given());
  }

  @Test
  void aSixteenthOfADatanodeIsGivenAheadAtMost() throws Exception {
    int given = 0;
    for (int i = 0; i < 32; i++) {
      given += put(request("/t/" + i, 4096, null, LENGTH)).given().size();
    }
    assertEquals(CAPACITY / 16 / EXTENT, given);
    assertEquals(CAPACITY / 16, usage().waitingBytes());
    store.passAlive(LEASE_MILLIS + MARGIN_MILLIS + 200, datanode);
    assertEquals(0, usage().waitingBytes());
    assertEquals(1, put(request("/t/k", LENGTH, null, LENGTH)).given().size());
  }

  @Test
  void whatOthersMayBeReadingIsNotGivenAhead() throws Exception {
    Given given = prepare();
    assertWritten("/t/k", put(request("/t/k", LENGTH, given, 0)), given.extent, LENGTH);
    Extent replaced = given.extent;
    given = prepare();
    for (int i = 0; i < 5; i++) {
      Put.Request request = request("/t/k", LENGTH, given, LENGTH);
      Put.Response response = put(request);
      assertWritten("/t/k", response, given.extent, LENGTH);
      assertNotEquals(
          replaced.regionOffset(), response.given().get(0).extent().regionOffset(), "put " + i);
      replaced = given.extent;
      given = given(request, response);
    }
  }

  @Test
  void whatIsLentByADatanodeThatGoesIsAccountedFor() throws Exception {
    prepare();
    RemoveDatanode.Request remove = new RemoveDatanode.Request(true, 1001, Utf8.of("host"));
    store.call(NameNodeOperations.REMOVE_DATANODE, remove);
    assertEquals(EXTENT, usage().waitingBytes());
    store.namenode.verify();
    // It falls silent, and is given up.
    store.pass(60_000);
    store.call(NameNodeOperations.REMOVE_DATANODE, remove);
    store.namenode.verify();
    assertEquals(
        0, store.namenode.datanodes().usage().stream().mapToLong(ClassUsage::waitingBytes).sum());
  }

  @Test
  void whatMakesNoSenseIsRefused() throws Exception {
    Given given = prepare();
    Refusals.refused(ErrorCode.INVALID_ARGUMENT, "/t/k", () -> put(request("/t/k", 0, given, 0)));
    Refusals.refused(
        ErrorCode.INVALID_ARGUMENT, "/t/k", () -> put(request("/t/k", LENGTH, null, -1)));
    // Who has no lease is writing to nothing.
    Put.Request nobody =
        TestStore.put("/t/k", 0, LENGTH, new Put.Ahead(given.grant, given.token, false, 0));
    Refusals.refused(ErrorCode.INVALID_ARGUMENT, "/t/k", () -> put(nobody));
  }

  @Test
  void itsSpaceIsNobodyElsesAsLongAsItMayBeUsed() throws Exception {
    long seed = TestStore.seed();
    Random random = new Random(seed);
    Given[] open = new Given[8];
    long[] until = new long[open.length];
    int published = 0;
    for (int i = 0; i < 3000; i++) {
      int slot = random.nextInt(open.length);
      int length = 1 + random.nextInt(EXTENT);
      boolean alive = open[slot] != null && store.clock.nanoTime() - until[slot] < 0;
      String path = "/t/" + random.nextInt(20);
      Put.Request request = request(path, length, open[slot], LENGTH);
      Put.Response response = put(request);
      if (response.node().size() > 0) {
        published++;
        assertWritten(path, response, open[slot].extent, length);
        for (int other = 0; other < open.length; other++) {
          boolean lives = open[other] != null && store.clock.nanoTime() - until[other] < 0;
          assertTrue(
              other == slot || !lives || !open[other].extent.equals(open[slot].extent), "twice");
        }
      } else {
        assertTrue(!alive, "space that was given is gone");
        Extent taken = response.extents().get(0);
        for (int other = 0; other < open.length; other++) {
          boolean lives = open[other] != null && store.clock.nanoTime() - until[other] < 0;
          assertTrue(
              !lives
                  || taken.regionOffset() + taken.length() <= open[other].extent.regionOffset()
                  || open[other].extent.regionOffset() + EXTENT <= taken.regionOffset(),
              "given to somebody else");
        }
        store.setSize(response.node().id(), request.token(), length, SetSize.END);
      }
      open[slot] = response.given().isEmpty() ? null : given(request, response);
      until[slot] = store.clock.nanoTime() + LEASE_MILLIS * 1_000_000;
      store.passAlive(random.nextInt(8) * 100L, datanode);
      if (i % 100 == 0) {
        store.namenode.verify();
      }
    }
    assertTrue(published > 500, published + " were written ahead");
  }
}
