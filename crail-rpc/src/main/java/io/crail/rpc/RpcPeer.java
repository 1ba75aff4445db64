/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.loop.Flushable;
import io.crail.rpc.loop.Sweepable;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server as a client's loop sees it: one connection, and the calls in flight on it. If the server
 * has standbys, it goes to the one that serves. The connection is made when it is needed, opened
 * with a handshake, and made again after a loss. Calls survive a lost connection: they are sent
 * again under the same ids, and the server answers those that it has served before with the answer
 * of that time. Only if the server was started again, calls that change something fail with {@link
 * ErrorCode#UNAVAILABLE}, since the client cannot know whether they were served. All methods except
 * the getters run in the loop.
 */
public final class RpcPeer extends RpcCall.Peer implements Sweepable, Flushable {
  private static final Logger LOG = LoggerFactory.getLogger(RpcPeer.class);
  private static final int FLUSH_BYTES = 16 * 1024;
  // 16 times the first pause: a server that has started again is soon noticed.
  private static final int MAX_BACK_OFF_SHIFT = 4;

  /** How long one of several addresses may be silent before another one is asked. */
  private static final long MOST_SILENCE_NANOS = 1_000_000_000L;

  /**
   * Limits of a peer.
   *
   * @param maxInFlight calls that are sent and not answered, 1 to 65,534; further calls wait in a
   *     queue
   * @param maxQueued calls that wait; a further one fails with {@link ErrorCode#LIMIT_EXCEEDED}
   * @param connectAttempts connection attempts in a row before waiting calls fail
   * @param connectTimeoutNanos deadline of one attempt; also, a connection that has been silent for
   *     this long is taken for dead when a call times out
   * @param firstBackOffNanos the pause after the first failed attempt; doubles each time, up to 16
   *     times of it
   */
  public record Options(
      int maxInFlight,
      int maxQueued,
      int connectAttempts,
      long connectTimeoutNanos,
      long firstBackOffNanos) {
    /**
     * How long calls wait for a server that refuses connections, since it may be starting again.
     * Short enough for a command to say soon that a cluster is down.
     */
    public static final Duration PATIENCE = Duration.ofMillis(750);

    /** Checks the limits. */
    public Options {
      if (maxInFlight < 1 || maxInFlight > CallSlots.MOST || maxQueued < 1 || connectAttempts < 1) {
        throw new IllegalArgumentException("limits out of range");
      }
    }

    /** Limits that suit a client, with the {@link #PATIENCE} that suits a command. */
    public static Options defaults() {
      return new Options(1024, 64 * 1024, 1, 2_000_000_000L, 50_000_000L)
          .withPatienceNanos(PATIENCE.toNanos());
    }

    /** These limits with as many attempts as it takes until their pauses add up to this. */
    public Options withPatienceNanos(long nanos) {
      int attempts = 1;
      for (long pauses = 0; pauses < nanos && attempts < Integer.MAX_VALUE; attempts++) {
        pauses += backOffNanos(attempts);
      }
      return new Options(maxInFlight, maxQueued, attempts, connectTimeoutNanos, firstBackOffNanos);
    }

    /** The pause after so many failed attempts in a row. */
    private long backOffNanos(int failed) {
      return firstBackOffNanos << Math.min(failed - 1, MAX_BACK_OFF_SHIFT);
    }

    /** These limits with another deadline for an attempt. */
    public Options withConnectTimeoutNanos(long nanos) {
      return new Options(maxInFlight, maxQueued, connectAttempts, nanos, firstBackOffNanos);
    }
  }

  /** Learns of the calls of a peer. In the loop. */
  public interface Listener {
    /** Learns of none. */
    Listener NONE =
        new Listener() {
          @Override
          public void begun(RpcCall call) {}

          @Override
          public void ended(RpcCall call, int opcode, CrailException failure) {}
        };

    /** A call has begun; a handshake is not reported. */
    void begun(RpcCall call);

    /**
     * A call, or a handshake, is about to end.
     *
     * @param failure null when it has its answer
     */
    void ended(RpcCall call, int opcode, CrailException failure);
  }

  /** Decides where a call goes on that its server has refused. In the loop. */
  @FunctionalInterface
  public interface Redirection {
    /** No call goes on. */
    Redirection NONE = (call, refusal) -> null;

    /**
     * Where a refused call goes on.
     *
     * @return the peer that it is sent to now; its own peer to send it again after a pause; null to
     *     end it
     */
    RpcCall.Peer after(RpcCall call, CrailException refusal);
  }

  /** The calls that open a connection, one after the other. In the loop. */
  @FunctionalInterface
  public interface Handshake {
    /**
     * The first call of a new connection. It must call {@link RpcCall#prepare}.
     *
     * @throws CrailException when there can be none; then the waiting calls fail with this
     */
    RpcCall first(RpcPeer peer) throws CrailException;

    /**
     * The call that follows one which has its answer; null when the handshake is done. Calls of one
     * handshake should share a deadline.
     */
    default RpcCall next(RpcCall answered) {
      return null;
    }
  }

  private enum State {
    IDLE,
    CONNECTING,
    HANDSHAKING,
    READY,
    BACKING_OFF,
    CLOSED
  }

  private final ClientLoop loop;
  private final List<InetSocketAddress> addresses;
  private final Handshake handshake;
  private final Options options;
  private final Listener listener;
  private final CallSlots slots;
  private final CallQueue queue = new CallQueue();

  /** Refused calls that are sent again at the next sweep. */
  private final List<RpcCall> pausing = new ArrayList<>();

  private Redirection redirection = Redirection.NONE;

  /** Which of the addresses is used now. */
  private volatile int present;

  private State state = State.IDLE;
  private Link link;
  private Connection connection;
  private boolean answeredSinceReady;
  private boolean heard;
  private boolean owesAnswers;
  private long silentSinceNanos;
  private String lastError = "";
  private int failedAttempts;
  private int failedAddresses;
  private boolean isTakenOver;
  private long backOffUntilNanos;
  private int unflushedBytes;
  private int unflushedCalls;
  private boolean flushQueued;
  private boolean registered;
  private boolean draining;

  /**
   * Creates a peer without connecting.
   *
   * @param handshake opens each connection; the failure of one of its calls counts as a failed
   *     connection attempt
   */
  public RpcPeer(ClientLoop loop, InetSocketAddress address, Handshake handshake, Options options) {
    this(loop, address, handshake, options, Listener.NONE);
  }

  /** As the other constructor, with a listener. */
  public RpcPeer(
      ClientLoop loop,
      InetSocketAddress address,
      Handshake handshake,
      Options options,
      Listener listener) {
    this(loop, List.of(address), handshake, options, listener);
  }

  /**
   * As the other constructor, for a server with standbys.
   *
   * @param addresses where it may be. The next one is asked when one cannot be reached, says that
   *     it is a {@link ErrorCode#STANDBY}, or is silent for a second with calls in flight
   */
  public RpcPeer(
      ClientLoop loop,
      List<InetSocketAddress> addresses,
      Handshake handshake,
      Options options,
      Listener listener) {
    this.loop = loop;
    this.addresses = List.copyOf(addresses);
    this.handshake = handshake;
    this.options = options;
    this.listener = listener;
    this.slots = new CallSlots(options.maxInFlight);
  }

  /** Sets what decides about refused calls. Must be called before the peer is used. */
  public void redirectBy(Redirection newRedirection) {
    redirection = newRedirection;
  }

  @Override
  public ClientLoop loop() {
    return loop;
  }

  /** The address that is used now. */
  @Override
  public InetSocketAddress address() {
    return addresses.get(present);
  }

  private String addressText() {
    return Addresses.text(address());
  }

  @Override
  void begin(RpcCall call) {
    loop.callBegun();
    listener.begun(call);
    send(call);
  }

  @Override
  void ended(RpcCall call, CrailException failure) {
    listener.ended(call, call.opcode(), failure);
    loop.callEnded();
  }

  /** Sends a call, or queues it until there is a connection, a slot and room. */
  private void send(RpcCall call) {
    if (state == State.READY && slots.inFlight() == 0) {
      loop.refresh();
    }
    if (state == State.CLOSED) {
      call.end(ErrorCode.CLOSED.exception("connection to " + addressText()));
      return;
    }
    if (!registered) {
      registered = true;
      loop.register(this);
    }
    int bodyLength = call.bodyLength();
    if (bodyLength > Frame.MAX_BODY_LENGTH) {
      call.end(
          ErrorCode.LIMIT_EXCEEDED.exception(
              "request of " + bodyLength + " bytes to " + addressText()));
      return;
    }
    if (state == State.READY && queue.isEmpty() && trySend(call)) {
      return;
    }
    if (queue.size() >= options.maxQueued) {
      call.end(
          ErrorCode.LIMIT_EXCEEDED.exception(queue.size() + " requests wait for " + addressText()));
      return;
    }
    queue.add(call);
    if (state == State.IDLE) {
      connect();
    }
  }

  /** Fails everything and closes for good. */
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    if (registered) {
      loop.unregister(this);
    }
    abandonLink("closed by this side");
    List<RpcCall> ending = new ArrayList<>(takeInFlight());
    ending.addAll(queue.takeAll());
    ending.addAll(pausing);
    pausing.clear();
    endAll(ending, ErrorCode.CLOSED.exception("connection to " + addressText()));
  }

  @Override
  public void loopClosing() {
    close();
  }

  private boolean trySend(RpcCall call) {
    boolean isFirst = call.slot == RpcCall.NO_SLOT;
    if (isFirst && !slots.isAnyFree()) {
      return false;
    }
    if (isFirst) {
      slots.take(call);
    }
    boolean done = write(call) != Sent.NO_ROOM;
    if (isFirst && !done) {
      slots.giveBack(call);
    }
    return done;
  }

  private enum Sent {
    YES,
    NO_ROOM,
    FAILED
  }

  /** Writes a call that has a slot. If it cannot be written at all, it has ended. */
  private Sent write(RpcCall call) {
    int length = Frame.HEADER_LENGTH + call.bodyLength();
    if (length > connection.maxFrameLength()) {
      return failed(
          call,
          ErrorCode.LIMIT_EXCEEDED.exception(
              "request of "
                  + length
                  + " bytes to "
                  + addressText()
                  + ", which takes "
                  + connection.maxFrameLength()));
    }
    if (call.isOverdue()) {
      return failed(call, ErrorCode.TIMED_OUT.exception("request to " + addressText()));
    }
    int offset = connection.reserve(length);
    if (offset < 0) {
      return Sent.NO_ROOM;
    }
    ByteBuffer out = connection.output();
    try {
      call.encode(out, offset + Frame.HEADER_LENGTH);
    } catch (RuntimeException e) {
      LOG.error("a request to {} could not be written", addressText(), e);
      return failed(call, ErrorCode.INTERNAL.exception("request to " + addressText()));
    }
    Frame.write(out, offset, length, call.opcode(), Frame.KIND_REQUEST, slots.correlationId(call));
    connection.commit(length);
    boolean alone = slots.inFlight() == 0;
    slots.sent(call);
    unflushedBytes += length;
    unflushedCalls++;
    if ((alone && !loop.isStepping())
        || unflushedCalls >= RequestBatch.TOGETHER
        || unflushedBytes >= FLUSH_BYTES) {
      flush();
    } else if (!flushQueued) {
      flushQueued = true;
      loop.flushLater(this);
    }
    return Sent.YES;
  }

  private Sent failed(RpcCall call, CrailException cause) {
    end(call, cause);
    return Sent.FAILED;
  }

  /** Ends a call that is not in flight. */
  private void end(RpcCall call, CrailException cause) {
    slots.giveBack(call);
    call.end(cause);
  }

  @Override
  public void flushBatch() {
    flushQueued = false;
    if (connection != null && unflushedCalls > 0) {
      flush();
    }
  }

  private void flush() {
    unflushedBytes = 0;
    unflushedCalls = 0;
    connection.flush();
  }

  private void connect() {
    owesAnswers = false;
    state = State.CONNECTING;
    link = new Link();
    long patience = options.connectTimeoutNanos;
    if (addresses.size() > 1) {
      patience = Math.min(patience, MOST_SILENCE_NANOS);
    }
    loop.connector().connect(address(), loop.clock().nanoTime() + patience, link);
  }

  /** Forgets the present connection, so that its further reports are ignored. */
  private void abandonLink(String why) {
    Connection old = connection;
    link = null;
    connection = null;
    if (old != null) {
      old.close(why);
    }
  }

  /**
   * Ends a connection that has logged in, so that the next one logs in anew. Calls go over that. In
   * the loop.
   */
  public void reconnect(String why) {
    if (state == State.READY && connection != null) {
      connection.close(why);
    }
  }

  /**
   * One connection attempt and the connection that it makes. Its reports count only while it is the
   * present one.
   */
  private final class Link implements Connection.Handler {
    @Override
    public void connected(Connection newConnection) {
      if (link != this) {
        newConnection.close("no longer needed");
        return;
      }
      connection = newConnection;
      state = State.HANDSHAKING;
      RpcCall first;
      try {
        first = handshake.first(RpcPeer.this);
      } catch (CrailException e) {
        abandonLink("no handshake is possible");
        refused(e);
        return;
      }
      shake(this, first);
    }

    @Override
    public void received(ByteBuffer buffer, int offset, int frameLength) {
      if (link == this) {
        answered(buffer, offset, frameLength);
      }
    }

    @Override
    public void writable() {
      if (link == this) {
        drainQueue();
      }
    }

    @Override
    public void closed(String cause) {
      if (link == this) {
        lost(cause);
      }
    }
  }

  private void shake(Link of, RpcCall call) {
    call.whenComplete(() -> shaken(of, call));
    loop.callBegun();
    slots.takeForHandshake(call);
    if (write(call) == Sent.NO_ROOM) {
      end(call, ErrorCode.UNAVAILABLE.exception(addressText() + ": no room for a handshake"));
    }
  }

  private void shaken(Link of, RpcCall call) {
    if (link != of || state != State.HANDSHAKING) {
      return;
    }
    CrailException failure = call.failure();
    if (failure == null) {
      RpcCall next = handshake.next(call);
      if (next != null) {
        shake(of, next);
        return;
      }
      state = State.READY;
      answeredSinceReady = false;
      failedAddresses = 0;
      isTakenOver = false;
      lastError = "";
      drainQueue();
      return;
    }
    abandonLink("handshake failed");
    takeInFlight();
    if (failure.code() == ErrorCode.TIMED_OUT) {
      // A server of something else waits for a request that it understands.
      String why = "it takes connections and answers nothing; is it a namenode?";
      CrailException silent = ErrorCode.TIMED_OUT.exception(addressText() + ": " + why);
      endAll(attemptFailed(why), silent);
    } else if (failure.code() == ErrorCode.UNAVAILABLE || failure.code() == ErrorCode.STANDBY) {
      isTakenOver |= failure.code() == ErrorCode.STANDBY && addresses.size() > 1;
      endAll(attemptFailed(failure.getMessage()), failure);
    } else {
      refused(failure);
    }
  }

  /** This client cannot open a connection; another attempt would end the same way. */
  private void refused(CrailException cause) {
    state = State.IDLE;
    endAll(queue.takeAll(), cause);
  }

  private void answered(ByteBuffer buffer, int offset, int frameLength) {
    long correlationId = Frame.correlationId(buffer, offset);
    RpcCall call = slots.remove(correlationId);
    heard = true;
    if (call == null) {
      if (!slots.mayHaveBeen(correlationId)) {
        protocolError("unknown correlation id " + correlationId);
      }
      // Otherwise this is the answer to a call that has timed out.
      return;
    }
    if (Frame.slot(correlationId) != CallSlots.HANDSHAKE) {
      answeredSinceReady = true;
      failedAttempts = 0;
    }
    int body = offset + Frame.HEADER_LENGTH;
    int bodyLength = frameLength - Frame.HEADER_LENGTH;
    int code = Frame.code(buffer, offset);
    if (code == ErrorCode.OK.number()) {
      if (!call.answer(buffer, body, bodyLength)) {
        protocolError("malformed answer");
        return;
      }
    } else {
      int length = Math.min(bodyLength, Frame.MAX_DETAIL_LENGTH);
      byte[] detail = new byte[length];
      buffer.get(body, detail);
      refused(call, ErrorCode.of(code).exception(new String(detail, StandardCharsets.UTF_8)));
    }
    if (!queue.isEmpty()) {
      drainQueue();
    }
  }

  private void refused(RpcCall call, CrailException refusal) {
    RpcCall.Peer next = redirection.after(call, refusal);
    if (next == null) {
      call.end(refusal);
    } else if (loop.clock().nanoTime() - call.deadlineNanos() >= 0) {
      call.end(ErrorCode.TIMED_OUT.exception(addressText() + ": " + refusal.getMessage()));
    } else if (next == this) {
      pausing.add(call);
    } else {
      call.moveTo(next, refusal);
    }
  }

  /** Handles the end of the present connection, or of the attempt to make it. */
  private void lost(String cause) {
    final boolean fruitful = state == State.READY && answeredSinceReady;
    final boolean wasReady = state == State.READY;
    final CrailException loss = ErrorCode.UNAVAILABLE.exception(addressText() + ": " + cause);
    link = null;
    connection = null;
    // Calls are ended last, so that their owners find a consistent peer.
    List<RpcCall> ending = new ArrayList<>();
    List<RpcCall> sent = takeInFlight();
    if (wasReady) {
      // They go before the calls that were never sent, so that the calls of one caller keep their
      // order.
      for (int i = sent.size() - 1; i >= 0; i--) {
        queue.addFirst(sent.get(i));
      }
    } else {
      ending.addAll(sent);
    }
    if (fruitful) {
      state = State.IDLE;
      if (!queue.isEmpty()) {
        connect();
      }
    } else {
      // A server that hangs up before its first answer must not be asked again without a pause.
      ending.addAll(attemptFailed(cause));
    }
    endAll(ending, loss);
  }

  /**
   * Notes during a handshake that the server was started again, and does not know which requests it
   * has served. Those that change something are not sent again.
   */
  public void serverHasForgotten() {
    List<RpcCall> unknown = queue.takeIf(call -> call.slot != RpcCall.NO_SLOT && call.changes());
    endAll(
        unknown,
        ErrorCode.UNAVAILABLE.exception(
            addressText() + " was started again, so it is unknown whether it has served this"));
  }

  /** Counts a failed attempt. Returns the calls that have waited for too many failed attempts. */
  private List<RpcCall> attemptFailed(String cause) {
    lastError = cause;
    present = (present + 1) % addresses.size();
    failedAddresses++;
    if (failedAddresses < addresses.size() && !queue.isEmpty()) {
      // Not at once, since an attempt may fail before connect returns.
      state = State.BACKING_OFF;
      backOffUntilNanos = loop.clock().nanoTime();
      return List.of();
    }
    failedAddresses = 0;
    // As long as there are standbys, one of them will serve: calls wait until their deadlines.
    failedAttempts = isTakenOver ? 1 : failedAttempts + 1;
    isTakenOver = false;
    if (failedAttempts >= options.connectAttempts || queue.isEmpty()) {
      failedAttempts = 0;
      state = State.IDLE;
      return queue.takeAll();
    }
    state = State.BACKING_OFF;
    backOffUntilNanos = loop.clock().nanoTime() + options.backOffNanos(failedAttempts);
    return List.of();
  }

  @Override
  public void sweep(long nowNanos) {
    if (state == State.BACKING_OFF && nowNanos - backOffUntilNanos >= 0) {
      connect();
    }
    if (heard || (slots.inFlight() == 0 && !owesAnswers)) {
      heard = false;
      owesAnswers = false;
      silentSinceNanos = nowNanos;
    }
    if (slots.inFlight() > 0) {
      expireInFlight(nowNanos);
    }
    if (addresses.size() > 1
        && slots.inFlight() > 0
        && state == State.READY
        && nowNanos - silentSinceNanos >= MOST_SILENCE_NANOS) {
      askAnother();
    }
    if (!pausing.isEmpty()) {
      List<RpcCall> again = List.copyOf(pausing);
      pausing.clear();
      for (RpcCall call : again) {
        if (nowNanos - call.deadlineNanos() >= 0) {
          call.end(ErrorCode.TIMED_OUT.exception("asked " + addressText() + " again and again"));
        } else {
          send(call);
        }
      }
    }
    if (!queue.isEmpty()) {
      expireQueued(nowNanos);
      drainQueue();
    }
  }

  private void expireInFlight(long nowNanos) {
    List<RpcCall> expired = slots.takeExpired(nowNanos);
    if (expired.isEmpty()) {
      return;
    }
    if (state == State.READY && nowNanos - silentSinceNanos >= options.connectTimeoutNanos) {
      // Nothing has come for a long time, so the connection may be dead without having been closed.
      String why = "no answer in time";
      abandonLink(why);
      lost(why);
    } else {
      // The peer counts as silent until it sends something, even if no call that it could answer is
      // left.
      owesAnswers = true;
    }
    endAll(expired, ErrorCode.TIMED_OUT.exception("no answer from " + addressText()));
  }

  /** The server may be cut off, or stopped. Its calls are sent again to the one that serves. */
  private void askAnother() {
    answeredSinceReady = false;
    failedAttempts = 0;
    String why = "it is silent";
    abandonLink(why);
    lost(why);
  }

  private void drainQueue() {
    if (draining) {
      return;
    }
    draining = true;
    try {
      while (state == State.READY && !queue.isEmpty()) {
        RpcCall call = queue.take();
        if (!trySend(call)) {
          queue.addFirst(call);
          return;
        }
      }
    } finally {
      draining = false;
    }
  }

  private void expireQueued(long nowNanos) {
    List<RpcCall> expired = queue.takeIf(call -> nowNanos - call.deadlineNanos() >= 0);
    String why = lastError.isEmpty() ? "" : " (" + lastError + ")";
    endAll(expired, ErrorCode.TIMED_OUT.exception("waited for " + addressText() + why));
  }

  private void endAll(List<RpcCall> calls, CrailException cause) {
    for (RpcCall call : calls) {
      end(call, cause);
    }
  }

  /** Removes and returns all calls in flight, and forgets what was about to leave. */
  private List<RpcCall> takeInFlight() {
    unflushedBytes = 0;
    unflushedCalls = 0;
    return slots.takeAll();
  }

  private void protocolError(String what) {
    Connection broken = connection;
    if (broken != null) {
      broken.close("protocol error: " + what);
    }
  }
}
