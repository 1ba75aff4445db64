/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.loop.LoopTask;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests a peer step by step, with a connection and a clock that the test controls. */
class RpcPeerTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int HELLO = 0;
  private static final int ASK = 1;

  private final FakeLoop loop = new FakeLoop();
  private final RpcPeer.Options options = new RpcPeer.Options(4, 8, 3, 2 * SECOND, SECOND / 10);
  private final RpcPeer peer =
      new RpcPeer(
          loop,
          InetSocketAddress.createUnresolved("server", 9),
          to -> new FakeCall(to, HELLO, false, loop.now + SECOND),
          options);

  private static final class FakeLoop extends ClientLoop {
    private final List<FakeConnection> attempts = new ArrayList<>();
    private final Deque<Runnable> arriving = new ArrayDeque<>();
    private long now;

    FakeLoop() {
      super("fake", new FakeClock(), true, false, false);
      ((FakeClock) clock()).loop = this;
      start();
    }

    FakeConnection last() {
      return attempts.get(attempts.size() - 1);
    }

    /** Time passes and the loop looks at it. */
    void pass(long nanos) {
      now += nanos;
      pollOnce();
    }

    @Override
    public void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler) {
      attempts.add(new FakeConnection(address, handler));
    }

    @Override
    protected void poll(long waitNanos) {
      for (int left = arriving.size(); left > 0; left--) {
        arriving.poll().run();
      }
      if (waitNanos > 0) {
        now += waitNanos;
      }
    }

    @Override
    protected void wakeup() {}

    @Override
    protected void destroy() {}

    private static final class FakeClock implements Clock {
      private FakeLoop loop;

      @Override
      public long nanoTime() {
        return loop == null ? 0 : loop.now;
      }

      @Override
      public long currentTimeMillis() {
        return nanoTime() / 1_000_000;
      }
    }
  }

  private static final class FakeConnection implements Connection {
    private final InetSocketAddress address;
    private final Handler handler;
    private final ByteBuffer output = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
    private final List<Long> sent = new ArrayList<>();
    private int room = Integer.MAX_VALUE;
    private int maxFrameLength = Frame.MAX_LENGTH;
    private int position;
    private int flushed;
    private int flushes;
    private String closed;

    FakeConnection(InetSocketAddress address, Handler handler) {
      this.address = address;
      this.handler = handler;
    }

    @Override
    public int maxFrameLength() {
      return maxFrameLength;
    }

    @Override
    public int reserve(int frameLength) {
      return room == 0 || closed != null ? -1 : position;
    }

    @Override
    public ByteBuffer output() {
      return output;
    }

    @Override
    public void commit(int frameLength) {
      assertEquals(frameLength, Frame.length(output, position));
      sent.add(Frame.correlationId(output, position));
      position += frameLength;
      room--;
    }

    @Override
    public void flush() {
      assertTrue(position > flushed, "a flush of nothing");
      flushed = position;
      flushes++;
    }

    @Override
    public InetSocketAddress address() {
      return address;
    }

    @Override
    public void close(String cause) {
      closed = cause;
    }

    /** The answer to the request that was sent as number {@code index} on this connection. */
    void answer(int index) {
      answer(sent.get(index), ErrorCode.OK, 8);
    }

    void answer(long correlationId, ErrorCode code, int bodyLength) {
      int length = Frame.HEADER_LENGTH + bodyLength;
      ByteBuffer in = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(in, 0, length, code.number(), Frame.KIND_RESPONSE, correlationId);
      handler.received(in, 0, length);
    }
  }

  private static final class FakeCall extends RpcCall {
    private final int opcode;
    private final boolean changes;
    private int length = 8;
    private boolean faulty;
    private int ends;

    FakeCall(RpcPeer peer, int opcode, boolean changes, long deadlineNanos) {
      this.opcode = opcode;
      this.changes = changes;
      prepare(peer, deadlineNanos);
    }

    @Override
    protected int opcode() {
      return opcode;
    }

    @Override
    protected boolean changes() {
      return changes;
    }

    @Override
    protected int bodyLength() {
      return length;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      if (faulty) {
        throw new IllegalStateException("a faulty codec, as asked for");
      }
      out.putLong(offset, 7);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int bodyLength) {
      in.getLong(offset);
    }

    @Override
    protected void completed() {
      ends++;
    }
  }

  private FakeCall ask() {
    return ask(false);
  }

  private FakeCall ask(boolean changes) {
    FakeCall call = new FakeCall(peer, ASK, changes, loop.now + 10 * SECOND);
    call.submit();
    return call;
  }

  private void establish() {
    FakeConnection connection = loop.last();
    loop.submit(() -> connection.handler.connected(connection));
    inLoop(() -> connection.answer(0));
  }

  private void inLoop(LoopTask task) {
    loop.submit(task);
    loop.pollOnce();
  }

  private static void assertEnd(ErrorCode code, FakeCall call) {
    assertTrue(call.isComplete(), "not ended");
    if (code == ErrorCode.OK) {
      assertNull(call.failure());
    } else {
      assertEquals(code, call.failure().code());
    }
    assertEquals(1, call.ends);
  }

  @Test
  void connectsWhenItIsNeededAndGreetsFirst() {
    assertEquals(0, loop.attempts.size());
    FakeCall call = ask();
    assertEquals(1, loop.attempts.size());
    FakeConnection connection = loop.last();
    inLoop(() -> connection.handler.connected(connection));
    assertEquals(1, connection.sent.size(), "only the handshake");
    assertEquals(1, connection.flushes);
    inLoop(() -> connection.answer(0));
    assertEquals(2, connection.sent.size());
    inLoop(() -> connection.answer(1));
    assertEnd(ErrorCode.OK, call);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void sendsOneAtOnceAndManyTogether() {
    ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(1));
    int before = connection.flushes;
    ask();
    assertEquals(before + 1, connection.flushes, "one alone leaves at once");
    ask();
    ask();
    assertEquals(before + 1, connection.flushes, "the next wait for each other");
    loop.pollOnce();
    assertEquals(before + 2, connection.flushes);
    assertEquals(connection.position, connection.flushed);
  }

  @Test
  void sendsSomeOfManyBeforeTheRestIsIssued() {
    RpcPeer wide =
        new RpcPeer(
            loop,
            InetSocketAddress.createUnresolved("wide", 9),
            to -> new FakeCall(to, HELLO, false, loop.now + SECOND),
            RpcPeer.Options.defaults());
    int together = RequestBatch.TOGETHER;
    new FakeCall(wide, ASK, false, loop.now + 10 * SECOND).submit();
    establish();
    FakeConnection connection = loop.last();
    int before = connection.flushes;
    for (int i = 0; i < 2 * together + 1; i++) {
      new FakeCall(wide, ASK, false, loop.now + 10 * SECOND).submit();
    }
    assertEquals(before + 2, connection.flushes);
    assertTrue(connection.position > connection.flushed, "the last one waits for others");
    loop.pollOnce();
    assertEquals(before + 3, connection.flushes);
    assertEquals(connection.position, connection.flushed);
  }

  @Test
  void queuesAboveItsSlots() {
    List<FakeCall> calls = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      calls.add(ask());
    }
    assertEnd(ErrorCode.LIMIT_EXCEEDED, ask());
    establish();
    FakeConnection connection = loop.last();
    assertEquals(1 + 4, connection.sent.size());
    for (int i = 1; i <= 8; i++) {
      int index = i;
      inLoop(() -> connection.answer(index));
    }
    calls.forEach(call -> assertEnd(ErrorCode.OK, call));
    assertEquals(0, loop.outstanding());
  }

  @Test
  void waitsForRoom() {
    ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(1));
    connection.room = 1;
    final FakeCall first = ask();
    final FakeCall second = ask();
    final FakeCall third = ask();
    assertEquals(3, connection.sent.size());
    connection.room = 10;
    inLoop(connection.handler::writable);
    assertEquals(5, connection.sent.size());
    for (int i = 2; i < 5; i++) {
      int index = i;
      inLoop(() -> connection.answer(index));
    }
    assertEnd(ErrorCode.OK, first);
    assertEnd(ErrorCode.OK, second);
    assertEnd(ErrorCode.OK, third);
  }

  @Test
  void sendsAgainUnderTheSameIdsAfterALoss() {
    FakeCall first = ask();
    establish();
    FakeConnection old = loop.last();
    inLoop(() -> old.answer(1));
    assertEnd(ErrorCode.OK, first);
    final FakeCall reads = ask(false);
    final FakeCall changes = ask(true);
    inLoop(() -> old.handler.closed("gone"));
    assertFalse(reads.isComplete());
    assertFalse(changes.isComplete());
    assertEquals(2, loop.attempts.size(), "at once, for the connection had been of use");
    establish();
    FakeConnection fresh = loop.last();
    assertEquals(old.sent.subList(2, 4), fresh.sent.subList(1, 3));
    inLoop(() -> fresh.answer(1));
    inLoop(() -> fresh.answer(2));
    assertEnd(ErrorCode.OK, reads);
    assertEnd(ErrorCode.OK, changes);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void repeatsNoChangeAtAServerThatHasForgottenIt() {
    ask();
    establish();
    FakeConnection old = loop.last();
    inLoop(() -> old.answer(1));
    final FakeCall reads = ask(false);
    final FakeCall changes = ask(true);
    inLoop(() -> old.handler.closed("gone"));
    final FakeCall unsent = ask(true);
    inLoop(() -> loop.last().handler.connected(loop.last()));
    inLoop(peer::serverHasForgotten);
    assertEnd(ErrorCode.UNAVAILABLE, changes);
    FakeConnection fresh = loop.last();
    inLoop(() -> fresh.answer(0));
    assertEquals(List.of(old.sent.get(2)), fresh.sent.subList(1, 2));
    inLoop(() -> fresh.answer(1));
    inLoop(() -> fresh.answer(2));
    assertEnd(ErrorCode.OK, reads);
    assertEnd(ErrorCode.OK, unsent);
    assertEquals(0, loop.outstanding());
  }

  /** Calls that wait to be sent again keep their slots, and give them back when they end. */
  @Test
  void slotsOfCallsThatAreNotSentAgainBecomeFree() {
    ask();
    establish();
    FakeConnection old = loop.last();
    inLoop(() -> old.answer(1));
    for (int round = 0; round < 3; round++) {
      FakeConnection lost = loop.last();
      if (round > 0) {
        ask();
        inLoop(() -> lost.answer(1));
      }
      List<FakeCall> calls = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        calls.add(ask(true));
      }
      assertEquals(2 + 4, lost.sent.size(), "all have slots");
      inLoop(() -> lost.handler.closed("gone"));
      inLoop(() -> loop.last().handler.connected(loop.last()));
      inLoop(peer::serverHasForgotten);
      calls.forEach(call -> assertEnd(ErrorCode.UNAVAILABLE, call));
      inLoop(() -> loop.last().answer(0));
    }
    FakeCall last = ask(true);
    inLoop(() -> loop.last().answer(1));
    assertEnd(ErrorCode.OK, last);
    assertEquals(0, loop.outstanding());
  }

  /** The connection ends, and later a request is sent, while the driver gets no processor. */
  @Test
  void entrustsNothingToAConnectionThatEndedDuringAPauseOfTheDriver() {
    ask();
    establish();
    FakeConnection old = loop.last();
    inLoop(() -> old.answer(1));
    List<FakeCall> calls = new ArrayList<>();
    // Within a look at the network, which does not see any more what comes now.
    loop.arriving.add(
        () -> {
          loop.now += SECOND;
          loop.arriving.add(() -> old.handler.closed("gone"));
          submitFromElsewhere(calls);
        });
    loop.pollOnce();
    assertEquals(2, old.sent.size(), "sent on a connection that had ended before");
    assertFalse(calls.get(0).isComplete());
    establish();
    FakeConnection fresh = loop.last();
    inLoop(() -> fresh.answer(1));
    assertEnd(ErrorCode.OK, calls.get(0));
    assertEquals(0, loop.outstanding());
  }

  private void submitFromElsewhere(List<FakeCall> calls) {
    Thread other = new Thread(() -> calls.add(ask(true)));
    other.start();
    try {
      other.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void sendsAgainInTheOrderOfTheFirstTime() {
    ask();
    establish();
    FakeConnection old = loop.last();
    List<FakeCall> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(ask());
    }
    // Of the slots that are free now, the last one to become so is taken first.
    inLoop(() -> old.answer(1));
    inLoop(() -> old.answer(2));
    for (int i = 0; i < 4; i++) {
      calls.add(ask());
    }
    assertEquals(1 + 4 + 2, old.sent.size(), "two wait for a slot");
    inLoop(() -> old.handler.closed("gone"));
    establish();
    FakeConnection fresh = loop.last();
    for (int i = 1; i <= 6; i++) {
      int index = i;
      inLoop(() -> fresh.answer(index));
      assertEnd(ErrorCode.OK, calls.get(i));
    }
    assertEquals(0, loop.outstanding());
  }

  @Test
  void pausesBeforeItAsksAServerThatHangsUpAgain() {
    FakeCall call = ask();
    establish();
    FakeConnection useless = loop.last();
    inLoop(() -> useless.handler.closed("gone"));
    assertEquals(1, loop.attempts.size());
    loop.pass(SECOND / 20);
    assertEquals(1, loop.attempts.size());
    loop.pass(SECOND / 10);
    assertEquals(2, loop.attempts.size());
    inLoop(() -> loop.last().handler.closed("refused"));
    loop.pass(SECOND);
    assertEquals(3, loop.attempts.size());
    inLoop(() -> loop.last().handler.closed("refused"));
    assertEnd(ErrorCode.UNAVAILABLE, call);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void timesOutWhatIsInFlightAndIgnoresTheLateAnswer() {
    ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(1));
    FakeCall slow = new FakeCall(peer, ASK, false, loop.now + SECOND);
    slow.submit();
    loop.pass(SECOND / 2);
    assertFalse(slow.isComplete());
    loop.pass(SECOND);
    assertEnd(ErrorCode.TIMED_OUT, slow);
    assertNull(connection.closed, "silent for less than the limit");
    FakeCall next = ask();
    inLoop(() -> connection.answer(2));
    assertFalse(next.isComplete(), "that was the late one's");
    inLoop(() -> connection.answer(3));
    assertEnd(ErrorCode.OK, next);
  }

  @Test
  void takesASilentConnectionForDead() {
    ask();
    establish();
    FakeConnection dead = loop.last();
    inLoop(() -> dead.answer(1));
    loop.pass(SECOND);
    FakeCall slow = new FakeCall(peer, ASK, false, loop.now + 3 * SECOND);
    slow.submit();
    FakeCall patient = new FakeCall(peer, ASK, false, loop.now + 9 * SECOND);
    patient.submit();
    loop.pass(SECOND);
    loop.pass(SECOND + 1);
    loop.pass(SECOND);
    assertEnd(ErrorCode.TIMED_OUT, slow);
    assertEquals("no answer in time", dead.closed);
    assertEquals(2, loop.attempts.size());
    establish();
    FakeConnection fresh = loop.last();
    inLoop(() -> fresh.answer(1));
    assertEnd(ErrorCode.OK, patient);
    inLoop(() -> dead.handler.closed("only now"));
    assertEnd(ErrorCode.OK, patient);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void timesOutWhatIsQueued() {
    FakeCall call = new FakeCall(peer, ASK, false, loop.now + SECOND);
    call.submit();
    loop.pass(2 * SECOND);
    assertEnd(ErrorCode.TIMED_OUT, call);
    // The attempt goes on for the next call.
    FakeCall next = ask();
    establish();
    inLoop(() -> loop.last().answer(1));
    assertEnd(ErrorCode.OK, next);
  }

  @Test
  void failsAllWhenTheHandshakeIsRefused() {
    FakeCall one = ask();
    final FakeCall two = ask(true);
    FakeConnection connection = loop.last();
    inLoop(() -> connection.handler.connected(connection));
    inLoop(() -> connection.answer(connection.sent.get(0), ErrorCode.INVALID_ARGUMENT, 0));
    assertEnd(ErrorCode.INVALID_ARGUMENT, one);
    assertEnd(ErrorCode.INVALID_ARGUMENT, two);
    assertEquals(1, loop.attempts.size());
    ask();
    assertEquals(2, loop.attempts.size());
  }

  @Test
  void triesAgainWhenTheHandshakeIsNotAnswered() {
    FakeCall call = ask();
    FakeConnection mute = loop.last();
    inLoop(() -> mute.handler.connected(mute));
    loop.pass(2 * SECOND);
    assertEquals("handshake failed", mute.closed);
    loop.pass(SECOND);
    assertEquals(2, loop.attempts.size());
    establish();
    inLoop(() -> loop.last().answer(1));
    assertEnd(ErrorCode.OK, call);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void saysThatAServerAnswersNothing() {
    FakeCall call = new FakeCall(peer, ASK, false, loop.now + 3 * SECOND);
    inLoop(call::submit);
    FakeConnection mute = loop.last();
    inLoop(() -> mute.handler.connected(mute));
    loop.pass(2 * SECOND);
    loop.pass(2 * SECOND);
    assertEnd(ErrorCode.TIMED_OUT, call);
    String message = call.failure().getMessage();
    assertTrue(message.contains("is it a namenode?"), message);
  }

  @Test
  void endsAConnectionThatAnswersWhatWasNotAsked() {
    ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(99L << 16 | 1, ErrorCode.OK, 8));
    assertTrue(connection.closed.contains("correlation"), connection.closed);
    FakeCall call = ask();
    inLoop(() -> connection.handler.closed(connection.closed));
    assertFalse(call.isComplete());
  }

  @Test
  void endsAConnectionOfAnAnswerThatCannotBeRead() {
    final FakeCall call = ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(connection.sent.get(1), ErrorCode.OK, 3));
    assertEnd(ErrorCode.PROTOCOL, call);
    assertTrue(connection.closed.contains("malformed"), connection.closed);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void survivesARequestThatCannotBeWritten() {
    ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(1));
    for (int i = 0; i < 10; i++) {
      FakeCall faulty = new FakeCall(peer, ASK, false, loop.now + SECOND);
      faulty.faulty = true;
      faulty.submit();
      assertEnd(ErrorCode.INTERNAL, faulty);
    }
    FakeCall large = new FakeCall(peer, ASK, false, loop.now + SECOND);
    large.length = Frame.MAX_BODY_LENGTH + 1;
    large.submit();
    assertEnd(ErrorCode.LIMIT_EXCEEDED, large);
    FakeCall good = ask();
    inLoop(() -> connection.answer(2));
    assertEnd(ErrorCode.OK, good);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void refusesARequestThatTheConnectionDoesNotTake() {
    final FakeCall first = ask();
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(1));
    assertEnd(ErrorCode.OK, first);
    connection.maxFrameLength = Frame.HEADER_LENGTH;
    FakeCall large = ask();
    assertEnd(ErrorCode.LIMIT_EXCEEDED, large);
    connection.maxFrameLength = Frame.MAX_LENGTH;
    FakeCall good = ask();
    inLoop(() -> connection.answer(2));
    assertEnd(ErrorCode.OK, good);
    assertEquals(0, loop.outstanding());
  }

  @Test
  void patienceIsATimeOfPauses() {
    RpcPeer.Options usual = RpcPeer.Options.defaults();
    assertEquals(usual, usual.withPatienceNanos(3 * SECOND / 4));
    assertEquals(1, usual.withPatienceNanos(0).connectAttempts());
    // 50, 100, 200, 400 and 800 ms, and then 800 ms each.
    assertEquals(6, usual.withPatienceNanos(SECOND).connectAttempts());
    assertEquals(17, usual.withPatienceNanos(10 * SECOND).connectAttempts());
  }

  @Test
  void endsEachCallOnceWhenOwnersReactAtOnce() {
    List<FakeCall> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      FakeCall call = new FakeCall(peer, ASK, true, loop.now + 10 * SECOND);
      call.whenComplete(() -> all.add(ask(true)));
      all.add(call);
      call.submit();
    }
    establish();
    FakeConnection connection = loop.last();
    inLoop(() -> connection.answer(1));
    inLoop(() -> connection.handler.closed("gone"));
    inLoop(() -> loop.last().handler.connected(loop.last()));
    inLoop(peer::serverHasForgotten);
    assertEquals(6, all.size());
    assertEquals(2, loop.attempts.size());
    assertEnd(ErrorCode.OK, all.get(0));
    assertEnd(ErrorCode.UNAVAILABLE, all.get(1));
    assertEnd(ErrorCode.UNAVAILABLE, all.get(2));
    inLoop(peer::close);
    // The first reaction was lost with the connection, the others were queued.
    for (FakeCall call : all) {
      assertTrue(call.isComplete());
      assertEquals(1, call.ends);
    }
    assertEquals(0, loop.outstanding());
    assertEnd(ErrorCode.CLOSED, ask());
  }

  @Test
  void closesAConnectionThatComesTooLate() {
    FakeCall call = ask();
    FakeConnection late = loop.last();
    inLoop(peer::close);
    assertEnd(ErrorCode.CLOSED, call);
    inLoop(() -> late.handler.connected(late));
    assertEquals("no longer needed", late.closed);
  }

  /** A server with standbys, and a call that waits for it. */
  private FakeCall askOneOf(int addresses) {
    List<InetSocketAddress> all = new ArrayList<>();
    for (int i = 0; i < addresses; i++) {
      all.add(InetSocketAddress.createUnresolved("server" + i, 9));
    }
    RpcPeer some =
        new RpcPeer(
            loop,
            all,
            to -> new FakeCall(to, HELLO, false, loop.now + SECOND),
            options,
            RpcPeer.Listener.NONE);
    FakeCall call = new FakeCall(some, ASK, true, loop.now + 10 * SECOND);
    call.submit();
    return call;
  }

  private String asked() {
    return loop.last().address.getHostString();
  }

  private void refuseAsStandby() {
    FakeConnection connection = loop.last();
    inLoop(() -> connection.handler.connected(connection));
    inLoop(() -> connection.answer(connection.sent.get(0), ErrorCode.STANDBY, 0));
  }

  @Test
  void asksTheNextAddressAtOnceIfOneIsDownOrAStandby() {
    FakeCall call = askOneOf(3);
    assertEquals("server0", asked());
    inLoop(() -> loop.last().handler.closed("refused"));
    loop.pass(SECOND / 50);
    assertEquals("server1", asked());
    refuseAsStandby();
    loop.pass(SECOND / 50);
    assertEquals("server2", asked());
    establish();
    inLoop(() -> loop.last().answer(1));
    assertEnd(ErrorCode.OK, call);
  }

  /** An election takes longer than the patience with a server that is down. */
  @Test
  void waitsForAnElectionUntilTheDeadlineOfACall() {
    FakeCall call = askOneOf(2);
    while (loop.now < 9 * SECOND) {
      if (loop.last().closed == null && loop.last().sent.isEmpty()) {
        refuseAsStandby();
      }
      loop.pass(SECOND / 100);
      assertFalse(call.isComplete());
    }
    assertTrue(loop.attempts.size() < 400, loop.attempts.size() + " attempts");
    loop.pass(2 * SECOND);
    assertEnd(ErrorCode.TIMED_OUT, call);
  }

  @Test
  void givesUpSoonIfAllAddressesAreDown() {
    FakeCall call = askOneOf(2);
    for (int i = 0; i < 200 && !call.isComplete(); i++) {
      FakeConnection last = loop.last();
      inLoop(() -> last.handler.closed("refused"));
      loop.pass(SECOND / 100);
    }
    assertEnd(ErrorCode.UNAVAILABLE, call);
    assertEquals(2 * 3, loop.attempts.size());
    assertTrue(loop.now < SECOND);
  }

  /** A server that was cut off keeps its connections. */
  @Test
  void sendsItsCallsToAnotherAddressIfOneIsSilent() {
    FakeCall call = askOneOf(2);
    establish();
    FakeConnection silent = loop.last();
    assertEquals(2, silent.sent.size());
    for (int i = 0; i < 99; i++) {
      loop.pass(SECOND / 100);
      assertEquals(1, loop.attempts.size());
    }
    loop.pass(SECOND / 50);
    loop.pass(SECOND / 50);
    assertEquals("server1", asked());
    establish();
    assertEquals(silent.sent.get(1), loop.last().sent.get(1), "the same request");
    inLoop(() -> loop.last().answer(1));
    assertEnd(ErrorCode.OK, call);
  }

  /** With one address, silence says nothing. */
  @Test
  void staysWithTheOnlyAddress() {
    FakeCall call = askOneOf(1);
    establish();
    loop.pass(5 * SECOND);
    loop.pass(0);
    assertEquals(1, loop.attempts.size());
    inLoop(() -> loop.last().answer(1));
    assertEnd(ErrorCode.OK, call);
  }
}
