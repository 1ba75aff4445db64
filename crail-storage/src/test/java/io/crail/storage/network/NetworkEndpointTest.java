/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Transfer;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests connection attempts, losses, pauses and queued transfers, with a simulated network and
 * clock.
 */
class NetworkEndpointTest {
  private static final long CONNECT_NANOS = 1_000_000_000_000L;
  private static final DatanodeDescription DATANODE =
      new DatanodeDescription(
          new UUID(1, 2),
          "test",
          InetSocketAddress.createUnresolved("datanode", 1),
          0,
          TierTraits.ofMemory(FenceKind.GENERATION, true, ""),
          Map.of());

  private static final Extent EXTENT = new Extent(0, 4096, new Place(1, 0, 0, 1));
  private static final long FAR = 3_600_000_000_000L;
  private static final int REPEATS = 2;

  private final ByteBuffer buffer = ByteBuffer.allocateDirect(16);
  private final TestLoop loop = new TestLoop();
  private final TestEndpoint endpoint = new TestEndpoint();

  private static final class ManualClock implements Clock {
    private long now;

    @Override
    public long nanoTime() {
      return now;
    }

    @Override
    public long currentTimeMillis() {
      return now / 1_000_000;
    }
  }

  private static final class TestLoop extends ClientLoop {
    private final ManualClock time;

    TestLoop() {
      this(new ManualClock());
    }

    private TestLoop(ManualClock time) {
      super("test", time, true, false, false);
      this.time = time;
    }

    @Override
    public void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected void poll(long waitNanos) {}

    @Override
    protected void wakeup() {}

    @Override
    protected void destroy() {}
  }

  private static final class TestTransfer extends NetworkTransfer<TestTransfer> {
    private int losses;

    TestTransfer(Transfer transfer, TestEndpoint endpoint, boolean write) {
      super(transfer);
      prepare(endpoint, write);
    }

    @Override
    protected TestTransfer self() {
      return this;
    }

    @Override
    protected void connectionLost() {
      losses++;
    }
  }

  /** Does what the test wants; has room for two transfers. */
  private final class TestEndpoint extends NetworkEndpoint<TestTransfer> {
    private TransferQueue<TestTransfer> inFlight = new TransferQueue<>();
    private final List<Transfer> sent = new ArrayList<>();
    private int room = 2;
    private int connects;
    private int disconnects;
    private int registrations;
    private Runnable whenSending = () -> {};

    TestEndpoint() {
      super(loop, DATANODE, CONNECT_NANOS, REPEATS);
    }

    @Override
    protected TestTransfer stateOf(Transfer transfer, boolean write) {
      return new TestTransfer(transfer, this, write);
    }

    @Override
    protected void connect(long deadlineNanos) {
      connects++;
    }

    @Override
    protected void queued(TestTransfer transfer) {
      send();
    }

    @Override
    protected void sendQueued() {
      while (isReady() && !queue().isEmpty() && inFlight.size() < room) {
        TestTransfer next = queue().pollFirst();
        sent.add(next.transfer());
        inFlight.addLast(next);
        Runnable then = whenSending;
        whenSending = () -> {};
        then.run();
      }
    }

    @Override
    protected void flush() {}

    @Override
    protected void watch(long nowNanos) {}

    @Override
    protected void disconnect(CrailException cause) {
      disconnects++;
      inFlight.endAll(cause);
    }

    @Override
    protected void activated() {
      registrations++;
      super.activated();
    }

    @Override
    protected void deactivated() {
      registrations--;
      super.deactivated();
    }

    void open() {
      loop.submit(this::connected);
    }

    void fail(String cause) {
      loop.submit(() -> notConnected(cause));
    }

    void answer() {
      loop.submit(
          () -> {
            inFlight.pollFirst().end();
            answered();
          });
    }

    void lose(String cause, boolean useful) {
      loop.submit(
          () -> {
            TransferQueue<TestTransfer> lost = inFlight;
            inFlight = new TransferQueue<>();
            connectionLost(cause, useful, lost, takeHopeless(lost));
          });
    }
  }

  @AfterEach
  void stop() {
    loop.close();
    assertEquals(0, loop.outstanding());
  }

  private Transfer begin() {
    return begin(FAR);
  }

  private Transfer begin(long nanos) {
    Transfer transfer = new Transfer();
    begin(transfer, nanos);
    return transfer;
  }

  private void begin(Transfer transfer, long nanos) {
    transfer.prepare(buffer, 0, 16, EXTENT, 0, loop.time.now + nanos);
    endpoint.write(transfer);
  }

  private void pass(long nanos) {
    loop.time.now += nanos;
    loop.submit(() -> endpoint.sweep(loop.time.now));
  }

  private static void assertEnded(ErrorCode expected, Transfer transfer) {
    assertTrue(transfer.isComplete(), "it has not ended");
    CrailException failure = transfer.failure();
    assertEquals(expected, failure == null ? ErrorCode.OK : failure.code());
  }

  @Test
  void theFirstTransferConnectsAndAllGoInTheirOrder() {
    assertEquals(0, endpoint.connects);
    Transfer first = begin();
    Transfer second = begin();
    Transfer third = begin();
    assertEquals(1, endpoint.connects);
    assertEquals(1, endpoint.registrations);
    endpoint.open();
    assertEquals(List.of(first, second), endpoint.sent);
    endpoint.answer();
    assertEnded(ErrorCode.OK, first);
    assertEquals(List.of(first, second, third), endpoint.sent);
    endpoint.answer();
    endpoint.answer();
    assertEnded(ErrorCode.OK, third);
    assertFalse(endpoint.isLost());
  }

  @Test
  void pausesBetweenAttemptsGrowUntilItIsGivenUp() {
    Transfer waiting = begin();
    long pause = NetworkEndpoint.FIRST_BACK_OFF_NANOS;
    for (int attempt = 1; attempt < NetworkEndpoint.CONNECT_ATTEMPTS; attempt++) {
      assertEquals(attempt, endpoint.connects);
      endpoint.fail("no process is there");
      pass(pause - 1);
      assertEquals(attempt, endpoint.connects, "asked again too early");
      pass(1);
      pause *= 2;
    }
    assertFalse(waiting.isComplete());
    endpoint.fail("no process is there");
    assertEnded(ErrorCode.UNAVAILABLE, waiting);
    assertEquals("datanode datanode:1: no process is there", waiting.failure().detail());
    assertTrue(endpoint.isLost());
    assertEquals(0, endpoint.registrations);

    // The next one finds a datanode that may have come back.
    begin();
    assertEquals(NetworkEndpoint.CONNECT_ATTEMPTS + 1, endpoint.connects);
    assertFalse(endpoint.isLost());
    endpoint.fail("still no process");
    pass(NetworkEndpoint.FIRST_BACK_OFF_NANOS);
    assertEquals(
        NetworkEndpoint.CONNECT_ATTEMPTS + 2, endpoint.connects, "the pause was not reset");
  }

  @Test
  void anAttemptThatBringsNothingIsGivenUp() {
    Transfer transfer = begin(3 * CONNECT_NANOS);
    pass(CONNECT_NANOS - 1);
    assertEquals(1, endpoint.connects);
    pass(1);
    pass(NetworkEndpoint.FIRST_BACK_OFF_NANOS);
    assertEquals(2, endpoint.connects);
    assertEquals(1, endpoint.disconnects);
    endpoint.open();
    pass(CONNECT_NANOS);
    assertEquals(1, endpoint.disconnects, "a connection has no such deadline");
    endpoint.answer();
    assertEnded(ErrorCode.OK, transfer);
  }

  @Test
  void anAnswerForgetsFailedAttempts() {
    begin();
    endpoint.fail("no process is there");
    pass(NetworkEndpoint.FIRST_BACK_OFF_NANOS);
    endpoint.open();
    endpoint.answer();
    Transfer late = begin(1);
    begin(1);
    Transfer waiting = begin(10);
    pass(10);
    assertEnded(ErrorCode.TIMED_OUT, waiting);
    assertFalse(waiting.failure().getMessage().contains("no process"));
    assertFalse(late.isComplete(), "what is in flight is its connection's business");
  }

  @Test
  void transfersInFlightGoFirstOverTheNextConnection() {
    Transfer first = begin();
    Transfer second = begin();
    Transfer third = begin();
    endpoint.open();
    endpoint.sent.clear();
    endpoint.lose("reset", true);
    assertEquals(2, endpoint.connects, "a useful connection is made again at once");
    endpoint.room = 3;
    endpoint.open();
    assertEquals(List.of(first, second, third), endpoint.sent);
  }

  @Test
  void anUnneededLostConnectionIsNotMadeAgain() {
    Transfer only = begin();
    endpoint.open();
    endpoint.answer();
    assertEnded(ErrorCode.OK, only);
    endpoint.lose("closed", true);
    assertEquals(1, endpoint.connects);
    assertTrue(endpoint.isLost());
    assertEquals(0, endpoint.registrations);
  }

  @Test
  void aTransferThatBreaksManyConnectionsIsGivenUpAlone() {
    Transfer unlucky = begin();
    endpoint.room = 1;
    Transfer innocent = begin();
    for (int i = 0; i < REPEATS; i++) {
      endpoint.open();
      endpoint.lose("reset", true);
      assertFalse(unlucky.isComplete());
    }
    endpoint.open();
    endpoint.lose("reset", true);
    assertEnded(ErrorCode.UNAVAILABLE, unlucky);
    assertTrue(unlucky.failure().getMessage().contains("reset"));
    endpoint.open();
    endpoint.answer();
    assertEnded(ErrorCode.OK, innocent);
  }

  @Test
  void anOwnerMayBeginAnewWhenItsTransferIsGivenUp() {
    Transfer again = new Transfer();
    Transfer unlucky = new Transfer();
    begin(unlucky, FAR);
    unlucky.whenComplete(() -> begin(again, FAR));
    for (int i = 0; i <= REPEATS; i++) {
      endpoint.open();
      endpoint.lose("reset", true);
    }
    assertEnded(ErrorCode.UNAVAILABLE, unlucky);
    endpoint.open();
    endpoint.answer();
    assertEnded(ErrorCode.OK, again);
  }

  @Test
  void aTransferThatWaitsTooLongFailsWithTheReason() {
    Transfer patient = begin();
    Transfer hasty = begin(5);
    endpoint.fail("no route");
    pass(5);
    assertEnded(ErrorCode.TIMED_OUT, hasty);
    assertTrue(hasty.failure().getMessage().contains("no route"));
    assertFalse(patient.isComplete());
  }

  @Test
  void aRefusalIsFinalForAllWhoWait() {
    Transfer first = begin();
    Transfer second = begin();
    loop.submit(() -> endpoint.refused(ErrorCode.DATA_LOST.exception("restarted")));
    assertEnded(ErrorCode.DATA_LOST, first);
    assertEnded(ErrorCode.DATA_LOST, second);
    assertTrue(endpoint.isLost());
  }

  @Test
  void theQueueHasALimit() {
    List<Transfer> waiting = new ArrayList<>();
    for (int i = 0; i < NetworkEndpoint.MAX_QUEUED; i++) {
      waiting.add(begin());
    }
    assertEnded(ErrorCode.LIMIT_EXCEEDED, begin());
    endpoint.close();
    waiting.forEach(transfer -> assertEnded(ErrorCode.CLOSED, transfer));
  }

  @Test
  void closingEndsWhatIsInFlightAndWhatWaits() {
    List<Transfer> all = List.of(begin(), begin(), begin());
    endpoint.open();
    endpoint.close();
    all.forEach(transfer -> assertEnded(ErrorCode.CLOSED, transfer));
    assertEquals(0, endpoint.registrations);
    assertEnded(ErrorCode.CLOSED, begin());
    endpoint.lose("too late", true);
    pass(1);
    assertEquals(1, endpoint.connects);
  }

  @Test
  void aNewTransferWaitsForItsTurn() {
    Transfer[] nested = new Transfer[1];
    endpoint.room = 3;
    Transfer first = begin();
    Transfer second = begin();
    endpoint.whenSending = () -> nested[0] = begin();
    endpoint.open();
    assertEquals(List.of(first, second, nested[0]), endpoint.sent);
  }

  @Test
  void unsendableTransfersAreRefused() {
    for (ByteBuffer memory : List.of(buffer, ByteBuffer.allocate(16))) {
      Transfer transfer = new Transfer();
      transfer.prepare(memory.asReadOnlyBuffer(), 0, 16, EXTENT, 0, FAR);
      endpoint.read(transfer);
      assertEnded(ErrorCode.INVALID_ARGUMENT, transfer);
    }
    assertEquals(0, endpoint.connects);
  }

  @Test
  void memoryOfTheHeapIsCopied() {
    byte[] bytes = new byte[20];
    Arrays.fill(bytes, (byte) 7);
    Transfer write = new Transfer();
    ByteBuffer source = ByteBuffer.wrap(bytes, 1, 2).asReadOnlyBuffer();
    write.prepare(source, 4, 16, EXTENT, 3, loop.time.now + FAR);
    endpoint.write(write);
    endpoint.open();
    Transfer sent = endpoint.sent.get(0);
    assertTrue(sent.buffer().isDirect());
    assertEquals(3, sent.extentOffset());
    assertEquals(write.deadlineNanos(), sent.deadlineNanos());
    assertEquals(ByteBuffer.wrap(bytes, 4, 16), sent.buffer());
    assertFalse(write.isComplete());
    endpoint.answer();
    assertEnded(ErrorCode.OK, write);

    Transfer read = new Transfer();
    read.prepare(ByteBuffer.wrap(bytes, 0, 1), 2, 10, EXTENT, 0, loop.time.now + FAR);
    endpoint.read(read);
    sent = endpoint.sent.get(1);
    for (int i = 0; i < 10; i++) {
      sent.buffer().put(i, (byte) (i + 20));
    }
    assertEquals(7, bytes[2]);
    endpoint.answer();
    assertEnded(ErrorCode.OK, read);
    assertArrayEquals(
        new byte[] {7, 7, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 7, 7, 7, 7, 7, 7, 7, 7}, bytes);

    Transfer failing = new Transfer();
    failing.prepare(ByteBuffer.wrap(bytes), 0, 20, EXTENT, 0, loop.time.now + FAR);
    endpoint.write(failing);
    endpoint.close();
    assertEnded(ErrorCode.CLOSED, failing);
  }

  @Test
  void queuesKeepTheirOrderAndTheirSize() {
    TestTransfer[] all = new TestTransfer[6];
    TransferQueue<TestTransfer> queue = new TransferQueue<>();
    for (int i = 0; i < all.length; i++) {
      Transfer transfer = new Transfer();
      transfer.prepare(buffer, 0, 16, EXTENT, 0, i % 2 == 0 ? 10 : 20);
      all[i] = new TestTransfer(transfer, endpoint, true);
      queue.addLast(all[i]);
    }
    TransferQueue<TestTransfer> overdue = new TransferQueue<>();
    queue.moveOverdue(10, overdue);
    assertEquals(3, queue.size());
    assertEquals(3, overdue.size());
    queue.addAllFirst(overdue);
    assertTrue(overdue.isEmpty());
    queue.addAllFirst(overdue);
    for (int i : new int[] {0, 2, 4, 1}) {
      assertEquals(all[i], queue.pollFirst());
    }
    TestTransfer list = queue.takeAll();
    assertTrue(queue.isEmpty());
    assertEquals(all[3], list);
    assertEquals(all[5], list.next());
    assertEquals(all[5], list.unlink());
    assertNull(list.next());
    assertNull(queue.pollFirst());
    queue.addLast(list);
    assertEquals(1, queue.size());
  }
}
