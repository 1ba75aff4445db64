/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Flushable;
import io.crail.rpc.loop.Sweepable;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.net.InetSocketAddress;
import java.util.UUID;

/**
 * A datanode as a client reaches it over a network. It has one connection, which is made when it is
 * needed and made again after a loss, with growing pauses and a limit. Transfers that the
 * connection has no room for wait in a queue, which has a limit too. A tier says how to connect,
 * send and give up.
 *
 * <p>All transfers may be sent again, since a write puts the same bytes to the same place. So
 * transfers in flight on a lost connection go over the next one, if there is time, and unless that
 * has happened too often.
 *
 * <p>All methods except those of {@link StorageEndpoint} run in the loop.
 *
 * @param <T> the tier's kind of transfer
 */
public abstract class NetworkEndpoint<T extends NetworkTransfer<T>> extends NetworkTransfer.Owner<T>
    implements StorageEndpoint, Sweepable, Flushable {
  /** The most transfers that wait. */
  static final int MAX_QUEUED = 64 * 1024;

  /** Attempts to connect that fail in a row before the waiting transfers fail. */
  static final int CONNECT_ATTEMPTS = 4;

  /** The first pause after a failed attempt; each further one is twice as long. */
  static final long FIRST_BACK_OFF_NANOS = 50_000_000;

  private enum State {
    IDLE,
    CONNECTING,
    READY,
    BACKING_OFF,
    CLOSED
  }

  private final ClientLoop loop;
  private final DatanodeDescription datanode;
  private final long connectTimeoutNanos;
  private final int maxRepeats;
  private final TransferQueue<T> queue = new TransferQueue<>();
  private State state = State.IDLE;
  private volatile boolean lost;
  private boolean active;
  private long connectDeadlineNanos;
  private int failedAttempts;
  private long backOffUntilNanos;
  private String lastError = "";
  private boolean flushQueued;
  private boolean sending;

  /**
   * Creates an endpoint that connects when it is first used.
   *
   * @param connectTimeoutNanos how long an attempt to connect may take, the hello included
   * @param maxRepeats how often a transfer is sent again whose connection was lost
   */
  protected NetworkEndpoint(
      ClientLoop loop, DatanodeDescription datanode, long connectTimeoutNanos, int maxRepeats) {
    this.loop = loop;
    this.datanode = datanode;
    this.connectTimeoutNanos = connectTimeoutNanos;
    this.maxRepeats = maxRepeats;
  }

  // What a tier does.

  /** The state of a transfer that begins now. By any thread. */
  protected abstract T stateOf(Transfer transfer, boolean write);

  /** Why a transfer is refused before it is submitted, or null. By any thread. */
  protected CrailException refusal(Transfer transfer) {
    return null;
  }

  /**
   * Begins to connect; ends with {@link #connected}, {@link #refused}, {@link #notConnected} or
   * {@link #connectionLost}. The result of an attempt that was given up is ignored.
   *
   * @param deadlineNanos when the attempt is given up
   */
  protected abstract void connect(long deadlineNanos);

  /** One more transfer waits, and there is a connection: sends it now or soon. */
  protected abstract void queued(T transfer);

  /**
   * Sends waiting transfers, as far as there is room and the endpoint is ready. Never entered
   * twice.
   */
  protected abstract void sendQueued();

  /** Called at the end of a batch in which {@link #flushLater} was called. */
  protected abstract void flush();

  /** Checks the deadlines of the transfers in flight. */
  protected abstract void watch(long nowNanos);

  /** Checks the deadlines of the steps of an attempt, where they have some. */
  protected void watchAttempt(long nowNanos) {}

  /** Gives up an attempt or a connection, and ends the transfers in flight with this error. */
  protected abstract void disconnect(CrailException cause);

  /** Called when the endpoint becomes active. */
  protected void activated() {
    loop.register(this);
  }

  /** Called when there are neither transfers nor a connection any more. */
  protected void deactivated() {
    loop.unregister(this);
  }

  // What a tier calls, and what it implements.

  @Override
  public final ClientLoop loop() {
    return loop;
  }

  /** The datanode's address. */
  public final InetSocketAddress address() {
    return datanode.address();
  }

  /** Identity of the datanode process, for {@link DataHello}. */
  public final UUID uuid() {
    return datanode.uuid();
  }

  /** The datanode's address as text for messages. */
  protected final String addressText() {
    return Addresses.text(datanode.address());
  }

  /** The waiting transfers. */
  protected final TransferQueue<T> queue() {
    return queue;
  }

  /** True while there is a connection that takes transfers. */
  protected final boolean isReady() {
    return state == State.READY;
  }

  /** True once this was closed. */
  protected final boolean isClosed() {
    return state == State.CLOSED;
  }

  /** Has the datanode described anew, as if it were lost. By any thread. */
  protected final void markLost() {
    lost = true;
  }

  /** Asks for {@link #flush} at the end of the present batch. */
  protected final void flushLater() {
    if (!flushQueued) {
      flushQueued = true;
      loop.flushLater(this);
    }
  }

  /** Sends waiting transfers, as far as there is room. */
  protected final void send() {
    if (sending || state != State.READY) {
      return;
    }
    sending = true;
    try {
      sendQueued();
    } finally {
      sending = false;
    }
  }

  /** The connection is made, and takes transfers. */
  protected final void connected() {
    state = State.READY;
    send();
  }

  /** The datanode cannot be used; another attempt would end the same way. */
  protected final void refused(CrailException cause) {
    rest();
    queue.endAll(cause);
  }

  /**
   * The datanode, or something in its place, has refused the hello.
   *
   * @param code the reason, see {@link DataHello#answer}; null when none was given
   * @param cause the reason in the network's words
   */
  protected final void helloRefused(ErrorCode code, String cause) {
    if (code == ErrorCode.DATA_LOST) {
      // One that keeps its bytes has them, perhaps elsewhere.
      ErrorCode meaning = datanode.keeps() ? ErrorCode.UNAVAILABLE : code;
      refused(meaning.exception("datanode " + addressText() + " was restarted"));
    } else if (code == ErrorCode.PROTOCOL) {
      refused(
          code.exception(
              "datanode "
                  + addressText()
                  + " is of another version, or does not accept this kind of login: "
                  + cause));
    } else if (code == ErrorCode.UNAUTHENTICATED) {
      // Its ticket has ended, or the datanode has another key: a new description brings a new one.
      markLost();
      refused(
          ErrorCode.UNAVAILABLE.exception(
              "datanode " + addressText() + " refused the ticket: " + cause));
    } else if (isFinal(code)) {
      refused(code.exception("datanode " + addressText() + " refused the login: " + cause));
    } else {
      notConnected(code == null ? cause : "refused: " + code.text());
    }
  }

  /** False when a later attempt may end in another way. */
  private static boolean isFinal(ErrorCode code) {
    return code != null
        && code != ErrorCode.UNAVAILABLE
        && code != ErrorCode.LIMIT_EXCEEDED
        && code != ErrorCode.TIMED_OUT
        && code != ErrorCode.INTERNAL;
  }

  /** Transfers have ended, so waiting ones may begin. */
  public final void answered() {
    failedAttempts = 0;
    lastError = "";
    if (!queue.isEmpty()) {
      send();
    }
  }

  /**
   * Counts a lost connection for each transfer in flight, and takes out those that have seen too
   * many.
   */
  protected final TransferQueue<T> takeHopeless(TransferQueue<T> inFlight) {
    TransferQueue<T> hopeless = new TransferQueue<>();
    for (int left = inFlight.size(); left > 0; left--) {
      T transfer = inFlight.pollFirst();
      (transfer.lose() > maxRepeats ? hopeless : inFlight).addLast(transfer);
    }
    return hopeless;
  }

  /**
   * The connection is gone, or the attempt has failed.
   *
   * @param useful whether it has ever answered; after a connection that never answered, the next
   *     attempt needs a pause
   * @param inFlight transfers that it had in flight, to be sent over the next one
   * @param hopeless transfers that it had in flight and that end now
   */
  protected final void connectionLost(
      String cause, boolean useful, TransferQueue<T> inFlight, TransferQueue<T> hopeless) {
    if (state == State.CLOSED) {
      CrailException closed = closedError();
      inFlight.endAll(closed);
      hopeless.endAll(closed);
      return;
    }
    lastError = cause;
    CrailException unavailable = unavailable();
    queue.addAllFirst(inFlight);
    if (useful && !queue.isEmpty()) {
      beginConnecting();
    } else if (useful) {
      rest();
    } else {
      backOff();
    }
    // Last, since their owners may begin new transfers.
    hopeless.endAll(unavailable);
  }

  /** As {@link #connectionLost}, when nothing was in flight. */
  protected final void notConnected(String cause) {
    lastError = cause;
    backOff();
  }

  /** The error of a transfer when this endpoint is closed. */
  protected final CrailException closedError() {
    return ErrorCode.CLOSED.exception("endpoint of " + addressText());
  }

  /** The error of a transfer that has waited until its deadline. */
  protected final CrailException overdueError() {
    String why = lastError.isEmpty() ? "" : " (" + lastError + ")";
    return ErrorCode.TIMED_OUT.exception("waited for datanode " + addressText() + why);
  }

  private CrailException unavailable() {
    return ErrorCode.UNAVAILABLE.exception("datanode " + addressText() + ": " + lastError);
  }

  // What users of the endpoint do.

  @Override
  public final void read(Transfer transfer) {
    if (transfer.buffer().isReadOnly()) {
      transfer.end(ErrorCode.INVALID_ARGUMENT.exception("a read into a read-only buffer"));
      return;
    }
    submit(transfer, false);
  }

  @Override
  public final void write(Transfer transfer) {
    submit(transfer, true);
  }

  private void submit(Transfer transfer, boolean write) {
    if (!transfer.buffer().isDirect()) {
      CopiedTransfer.begin(this, transfer, write);
      return;
    }
    CrailException refusal = refusal(transfer);
    if (refusal != null) {
      transfer.end(refusal);
      return;
    }
    loop.operationBegun();
    loop.submit(stateOf(transfer, write));
  }

  @Override
  public final boolean isLocal() {
    return false;
  }

  @Override
  public final boolean isLost() {
    return lost;
  }

  @Override
  public final void close() {
    loop.submit(this::loopClosing);
  }

  // What the loop does.

  @Override
  final void begin(T transfer) {
    if (state == State.CLOSED) {
      transfer.end(closedError());
      return;
    }
    if (queue.size() >= MAX_QUEUED) {
      transfer.end(
          ErrorCode.LIMIT_EXCEEDED.exception(
              queue.size() + " transfers wait for " + addressText()));
      return;
    }
    activate();
    queue.addLast(transfer);
    if (state == State.IDLE) {
      beginConnecting();
    } else if (state == State.READY && !sending) {
      queued(transfer);
    }
  }

  @Override
  public final void flushBatch() {
    flushQueued = false;
    flush();
  }

  @Override
  public final void sweep(long nowNanos) {
    if (state == State.BACKING_OFF) {
      if (nowNanos - backOffUntilNanos >= 0) {
        beginConnecting();
      }
    } else if (state == State.READY) {
      watch(nowNanos);
    } else if (state == State.CONNECTING && nowNanos - connectDeadlineNanos >= 0) {
      disconnect(overdueError());
      notConnected("no handshake in time");
    } else if (state == State.CONNECTING) {
      watchAttempt(nowNanos);
    }
    if (!queue.isEmpty()) {
      TransferQueue<T> overdue = new TransferQueue<>();
      queue.moveOverdue(nowNanos, overdue);
      if (!overdue.isEmpty()) {
        overdue.endAll(overdueError());
      }
      send();
    }
  }

  @Override
  public final void loopClosing() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    deactivate();
    CrailException cause = closedError();
    disconnect(cause);
    queue.endAll(cause);
  }

  private void beginConnecting() {
    state = State.CONNECTING;
    lost = false;
    connectDeadlineNanos = loop.clock().nanoTime() + connectTimeoutNanos;
    connect(connectDeadlineNanos);
  }

  private void backOff() {
    failedAttempts++;
    if (failedAttempts >= CONNECT_ATTEMPTS || queue.isEmpty()) {
      CrailException unavailable = unavailable();
      rest();
      queue.endAll(unavailable);
    } else {
      state = State.BACKING_OFF;
      backOffUntilNanos = loop.clock().nanoTime() + (FIRST_BACK_OFF_NANOS << (failedAttempts - 1));
    }
  }

  /** Gives the datanode up until a new transfer needs it. */
  private void rest() {
    state = State.IDLE;
    failedAttempts = 0;
    lost = true;
    deactivate();
  }

  private void activate() {
    if (!active) {
      active = true;
      activated();
    }
  }

  private void deactivate() {
    if (active) {
      active = false;
      deactivated();
    }
  }
}
