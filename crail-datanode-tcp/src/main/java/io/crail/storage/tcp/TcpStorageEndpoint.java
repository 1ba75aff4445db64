/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.Dialer;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.net.InetSocketAddress;
import java.util.UUID;

/**
 * A datanode of the TCP tier as a client reaches it: one connection, made when it is needed and
 * again after a loss. Transfers beyond what a connection may have in flight wait in a queue.
 *
 * <p>All transfers may be sent twice, since a write puts the same bytes to the same place in the
 * name of the same generation; so what a lost connection had in flight goes once more over the next
 * one, if there is time. A write that is given up takes its connection with it: no byte of it
 * arrives after its end. The bytes of a read that is given up are dropped when they arrive.
 *
 * <p>All but the methods of {@link StorageEndpoint} runs in the loop.
 */
final class TcpStorageEndpoint
    implements StorageEndpoint, ClientLoop.Sweepable, ClientLoop.Flushable {
  private static final int MAX_QUEUED = 64 * 1024;
  private static final int CONNECT_ATTEMPTS = 4;
  private static final long FIRST_BACK_OFF_NANOS = 50_000_000;
  private static final int MAX_LOSSES = 2;

  private enum State {
    IDLE,
    CONNECTING,
    READY,
    BACKING_OFF,
    CLOSED
  }

  private final NettyClientLoop loop;
  private final InetSocketAddress address;
  private final UUID uuid;
  private final int depth;
  private final long connectTimeoutNanos;

  private State state = State.IDLE;
  private volatile boolean lost;
  private boolean registered;
  private Dial dial;
  private ClientDataConnection connection;
  private long connectDeadlineNanos;
  private int failedAttempts;
  private long backOffUntilNanos;
  private String lastError = "";
  private boolean flushQueued;

  private TcpTransfer firstQueued;
  private TcpTransfer lastQueued;
  private int queued;
  private boolean draining;

  TcpStorageEndpoint(
      NettyClientLoop loop,
      InetSocketAddress address,
      UUID uuid,
      int depth,
      long connectTimeoutNanos) {
    this.loop = loop;
    this.address = address;
    this.uuid = uuid;
    this.depth = depth;
    this.connectTimeoutNanos = connectTimeoutNanos;
  }

  @Override
  public void read(Transfer transfer) {
    if (transfer.buffer().isReadOnly()) {
      transfer.end(ErrorCode.INVALID_ARGUMENT.exception("a read into a read-only buffer"));
      return;
    }
    submit(transfer, false);
  }

  @Override
  public void write(Transfer transfer) {
    submit(transfer, true);
  }

  private void submit(Transfer transfer, boolean write) {
    if (!transfer.buffer().isDirect()) {
      transfer.end(ErrorCode.INVALID_ARGUMENT.exception("a transfer needs a direct buffer"));
      return;
    }
    loop.operationBegun();
    loop.submit(TcpTransfer.of(transfer, this, write));
  }

  @Override
  public boolean isLocal() {
    return false;
  }

  @Override
  public boolean isLost() {
    return lost;
  }

  @Override
  public void close() {
    loop.submit(this::closeInLoop);
  }

  NettyClientLoop loop() {
    return loop;
  }

  InetSocketAddress address() {
    return address;
  }

  UUID uuid() {
    return uuid;
  }

  int depth() {
    return depth;
  }

  private void closeInLoop() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    if (registered) {
      loop.unregister(this);
    }
    CrailException cause = ErrorCode.CLOSED.exception("endpoint of " + address);
    TcpTransfer lost = abandonConnection();
    while (lost != null) {
      TcpTransfer following = lost.next;
      lost.next = null;
      lost.end(cause);
      lost = following;
    }
    failQueued(cause);
  }

  @Override
  public void loopClosing() {
    closeInLoop();
  }

  /** Begins a transfer. */
  void begin(TcpTransfer transfer) {
    if (state == State.CLOSED) {
      transfer.end(ErrorCode.CLOSED.exception("endpoint of " + address));
      return;
    }
    if (!registered) {
      registered = true;
      loop.register(this);
    }
    if (state == State.READY && firstQueued == null && trySend(transfer)) {
      return;
    }
    if (queued >= MAX_QUEUED) {
      transfer.end(ErrorCode.LIMIT_EXCEEDED.exception(queued + " transfers wait for " + address));
      return;
    }
    enqueue(transfer);
    if (state == State.IDLE) {
      connect();
    }
  }

  private boolean trySend(TcpTransfer transfer) {
    if (!connection.send(transfer)) {
      return false;
    }
    if (connection.wantsFlush()) {
      connection.flush();
    } else if (!flushQueued) {
      flushQueued = true;
      loop.flushLater(this);
    }
    return true;
  }

  @Override
  public void flushBatch() {
    flushQueued = false;
    if (connection != null) {
      connection.flush();
    }
  }

  private void connect() {
    state = State.CONNECTING;
    lost = false;
    connectDeadlineNanos = loop.clock().nanoTime() + connectTimeoutNanos;
    dial = new Dial();
    loop.connect(
        address,
        connectDeadlineNanos,
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            new ClientDataConnection(TcpStorageEndpoint.this).initialize(channel);
          }
        },
        dial);
  }

  /** One attempt to connect; what it brings counts only while it is the present one. */
  private final class Dial implements Dialer.Listener {
    @Override
    public void connected(Channel channel) {
      if (dial != this) {
        channel.close();
        return;
      }
      dial = null;
      connection = channel.pipeline().get(ClientDataConnection.class);
      connection.open();
    }

    @Override
    public void failed(String cause) {
      if (dial == this) {
        disconnected(cause);
      }
    }
  }

  /** The handshake of a connection has succeeded. */
  void ready(ClientDataConnection opened) {
    if (opened == connection) {
      state = State.READY;
      drain();
    }
  }

  /** The datanode has refused the handshake; another attempt would end the same way. */
  void refused(ClientDataConnection opened, CrailException cause) {
    if (opened == connection) {
      abandonConnection();
      rest();
      failQueued(cause);
    }
  }

  /** A transfer has ended, so another may begin. */
  void answered() {
    failedAttempts = 0;
    if (firstQueued != null) {
      drain();
    }
  }

  /** A connection is gone. */
  void lost(ClientDataConnection gone, String cause) {
    if (gone == connection) {
      disconnected(cause);
    }
  }

  private void disconnected(String cause) {
    boolean wasUseful = connection != null && connection.hasAnswered();
    lastError = cause;
    requeue(abandonConnection());
    if (wasUseful) {
      if (firstQueued == null) {
        rest();
      } else {
        connect();
      }
      return;
    }
    // A datanode that hangs up before its first answer must not be asked again without a pause.
    failedAttempts++;
    if (failedAttempts >= CONNECT_ATTEMPTS || firstQueued == null) {
      rest();
      failQueued(unavailable());
    } else {
      state = State.BACKING_OFF;
      backOffUntilNanos = loop.clock().nanoTime() + (FIRST_BACK_OFF_NANOS << (failedAttempts - 1));
    }
  }

  /** Gives the datanode up until somebody asks for it again. */
  private void rest() {
    state = State.IDLE;
    failedAttempts = 0;
    lost = true;
    registered = false;
    loop.unregister(this);
  }

  private CrailException unavailable() {
    return ErrorCode.UNAVAILABLE.exception("datanode " + address + ": " + lastError);
  }

  /** Forgets the present connection; gives what it had in flight, in order. */
  private TcpTransfer abandonConnection() {
    ClientDataConnection old = connection;
    dial = null;
    connection = null;
    return old == null ? null : old.abandon();
  }

  /** Puts what a lost connection had in flight before what waits. */
  private void requeue(TcpTransfer inFlight) {
    TcpTransfer waiting = firstQueued;
    firstQueued = null;
    lastQueued = null;
    queued = 0;
    TcpTransfer failed = null;
    TcpTransfer transfer = inFlight;
    while (transfer != null) {
      TcpTransfer following = transfer.next;
      transfer.next = null;
      if (transfer.lose() < MAX_LOSSES) {
        enqueue(transfer);
      } else {
        transfer.next = failed;
        failed = transfer;
      }
      transfer = following;
    }
    while (waiting != null) {
      TcpTransfer following = waiting.next;
      waiting.next = null;
      enqueue(waiting);
      waiting = following;
    }
    // Last, for their owners may begin new ones.
    while (failed != null) {
      TcpTransfer following = failed.next;
      failed.next = null;
      failed.end(unavailable());
      failed = following;
    }
  }

  @Override
  public void sweep(long nowNanos) {
    if (state == State.BACKING_OFF && nowNanos - backOffUntilNanos >= 0) {
      connect();
    } else if (state == State.CONNECTING && nowNanos - connectDeadlineNanos >= 0) {
      disconnected("no handshake in time");
    } else if (state == State.READY) {
      connection.expire(nowNanos);
    }
    if (firstQueued != null) {
      expireQueued(nowNanos);
      drain();
    }
  }

  private void drain() {
    if (draining) {
      return;
    }
    draining = true;
    try {
      while (state == State.READY && firstQueued != null) {
        TcpTransfer transfer = firstQueued;
        dequeue();
        if (!trySend(transfer)) {
          transfer.next = firstQueued;
          firstQueued = transfer;
          if (lastQueued == null) {
            lastQueued = transfer;
          }
          queued++;
          return;
        }
      }
    } finally {
      draining = false;
    }
  }

  private void expireQueued(long nowNanos) {
    TcpTransfer transfer = firstQueued;
    TcpTransfer overdue = null;
    firstQueued = null;
    lastQueued = null;
    queued = 0;
    while (transfer != null) {
      TcpTransfer following = transfer.next;
      transfer.next = null;
      if (transfer.isOverdue(nowNanos)) {
        transfer.next = overdue;
        overdue = transfer;
      } else {
        enqueue(transfer);
      }
      transfer = following;
    }
    while (overdue != null) {
      TcpTransfer following = overdue.next;
      overdue.next = null;
      String why = lastError.isEmpty() ? "" : " (" + lastError + ")";
      overdue.end(ErrorCode.TIMED_OUT.exception("waited for datanode " + address + why));
      overdue = following;
    }
  }

  private void enqueue(TcpTransfer transfer) {
    if (lastQueued == null) {
      firstQueued = transfer;
    } else {
      lastQueued.next = transfer;
    }
    lastQueued = transfer;
    queued++;
  }

  private void dequeue() {
    TcpTransfer transfer = firstQueued;
    firstQueued = transfer.next;
    if (firstQueued == null) {
      lastQueued = null;
    }
    transfer.next = null;
    queued--;
  }

  private void failQueued(CrailException cause) {
    TcpTransfer transfer = firstQueued;
    firstQueued = null;
    lastQueued = null;
    queued = 0;
    while (transfer != null) {
      TcpTransfer following = transfer.next;
      transfer.next = null;
      transfer.end(cause);
      transfer = following;
    }
  }
}
