/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Region;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;

/**
 * A datanode of the RDMA tier as a client reaches it: one connection, made when it is needed and
 * again after a loss. Transfers beyond what a connection may have in flight wait in a queue.
 *
 * <p>The datanode checks nothing but that an access lies within a registered region, so the bounds
 * of a transfer are checked here. All transfers may be sent twice, for they put the same bytes to
 * the same place: what a lost connection had in flight goes over the next one, if there is time. An
 * error that is a request's own ends its transfer alone. A transfer that is given up takes its
 * queue pair with it, before its owner learns of its end: no byte of it is moved from then on.
 *
 * <p>All but the methods of {@link StorageEndpoint} runs in the loop.
 */
final class RdmaStorageEndpoint
    implements StorageEndpoint, ClientLoop.Sweepable, ClientLoop.Flushable {
  private static final int MAX_QUEUED = 64 * 1024;
  private static final int CONNECT_ATTEMPTS = 4;
  private static final long FIRST_BACK_OFF_NANOS = 50_000_000;

  /** How often a transfer is sent again. */
  private static final int MAX_LOSSES = 2;

  /** A transfer of so many bytes does not wait for others to be posted with it. */
  private static final int LARGE = 16 * 1024;

  /** Nor do so many transfers. */
  private static final int FULL_BATCH = 16;

  private enum State {
    IDLE,
    CONNECTING,
    READY,
    BACKING_OFF,
    CLOSED
  }

  private final RdmaStorageClient client;
  private final ClientLoop loop;
  private final InetSocketAddress address;
  private final UUID uuid;

  // Of each region by its index, with length 0 for those that are not known.
  private final long[] regionLengths;
  private final long[] regionAddresses;
  private final int[] regionKeys;

  private final RdmaTransfers queue = new RdmaTransfers();
  private State state = State.IDLE;
  private volatile boolean lost;

  /** Set when a region was named that is not known here: the datanode has to be described anew. */
  private volatile boolean outdated;

  private boolean activated;
  private Attempt attempt;
  private RdmaConnection connection;
  private int failedAttempts;
  private long backOffUntilNanos;
  private String lastError = "";
  private boolean flushQueued;
  private boolean sending;
  private boolean givingUp;

  RdmaStorageEndpoint(RdmaStorageClient client, DatanodeDescription datanode) {
    this.client = client;
    this.loop = client.loop();
    this.address = datanode.address();
    this.uuid = datanode.uuid();
    Map<Integer, Region> regions = datanode.regions();
    int count = 1 + regions.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1);
    this.regionLengths = new long[count];
    this.regionAddresses = new long[count];
    this.regionKeys = new int[count];
    for (Region region : regions.values()) {
      regionLengths[region.index()] = region.length();
      regionAddresses[region.index()] = region.address();
      regionKeys[region.index()] = (int) region.key();
    }
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
    if (!isWithinRegion(transfer)) {
      transfer.end(outside(transfer));
      return;
    }
    loop.operationBegun();
    loop.submit(RdmaTransfer.of(transfer, this, write));
  }

  private boolean isWithinRegion(Transfer transfer) {
    int index = transfer.extent().region();
    long offset = transfer.regionOffset();
    return index >= 0
        && index < regionLengths.length
        && offset >= 0
        && offset <= regionLengths[index] - transfer.length();
  }

  private CrailException outside(Transfer transfer) {
    int index = transfer.extent().region();
    if (index < 0 || index >= regionLengths.length || regionLengths[index] == 0) {
      // It may have been lent since the datanode was described.
      outdated = true;
      lost = true;
      return ErrorCode.UNAVAILABLE.exception("datanode " + address + " has no region " + index);
    }
    return ErrorCode.OUT_OF_RANGE.exception(
        transfer.length()
            + " bytes at "
            + transfer.regionOffset()
            + " of region "
            + index
            + " of datanode "
            + address
            + ", which has "
            + regionLengths[index]);
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

  RdmaStorageClient client() {
    return client;
  }

  ClientLoop loop() {
    return loop;
  }

  void closeInLoop() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    attempt = null;
    deactivate();
    if (connection != null) {
      connection.close("closed by this side");
    }
    queue.endAll(isClosed());
  }

  private CrailException isClosed() {
    return ErrorCode.CLOSED.exception("endpoint of " + address);
  }

  @Override
  public void loopClosing() {
    closeInLoop();
  }

  private void activate() {
    if (!activated) {
      activated = true;
      client.activated(this);
    }
  }

  private void deactivate() {
    if (activated) {
      activated = false;
      client.deactivated(this);
    }
  }

  /** Begins a transfer. */
  void begin(RdmaTransfer transfer) {
    if (state == State.CLOSED || client.isClosed()) {
      transfer.end(isClosed());
      return;
    }
    if (queue.size() >= MAX_QUEUED) {
      transfer.end(
          ErrorCode.LIMIT_EXCEEDED.exception(queue.size() + " transfers wait for " + address));
      return;
    }
    activate();
    queue.addLast(transfer);
    if (state == State.IDLE) {
      connect();
    } else if (state == State.READY && !sending && !connection.isDispatching()) {
      if (connection.isIdle()
          || queue.size() >= FULL_BATCH
          || transfer.transfer().length() >= LARGE) {
        send();
      } else if (!flushQueued) {
        flushQueued = true;
        loop.flushLater(this);
      }
    }
  }

  @Override
  public void flushBatch() {
    flushQueued = false;
    send();
  }

  /** Posts what waits, as far as there is room. */
  private void send() {
    if (sending || state != State.READY) {
      return;
    }
    sending = true;
    try {
      long now = loop.clock().nanoTime();
      while (state == State.READY && !queue.isEmpty() && connection.hasRoom()) {
        RdmaTransfer next = queue.first();
        if (next.isOverdue(now)) {
          queue.pollFirst();
          next.end(overdue());
        } else if (connection.findMemory(next)) {
          queue.pollFirst();
          add(next);
        } else if (connection.hasChain()) {
          // What was looked at must not wait while memory is registered.
          connection.post();
        } else if (!register(next)) {
          break;
        } else {
          now = loop.clock().nanoTime();
        }
      }
      if (state == State.READY) {
        connection.post();
      }
    } finally {
      sending = false;
    }
  }

  private void add(RdmaTransfer next) {
    int region = next.transfer().extent().region();
    connection.add(
        next, regionAddresses[region] + next.transfer().regionOffset(), regionKeys[region]);
  }

  /** Registers the memory of the first one that waits; false when there is no room now. */
  private boolean register(RdmaTransfer next) {
    try {
      if (!connection.registerMemory(next)) {
        return false;
      }
    } catch (IOException e) {
      queue.pollFirst();
      next.end(
          e instanceof CrailException refusal
              ? refusal
              : ErrorCode.LIMIT_EXCEEDED.exception(e.getMessage()));
      return true;
    }
    queue.pollFirst();
    if (next.isOverdue(loop.clock().nanoTime())) {
      connection.releaseMemory(next);
      next.end(overdue());
    } else {
      add(next);
    }
    return true;
  }

  private CrailException overdue() {
    String why = lastError.isEmpty() ? "" : " (" + lastError + ")";
    return ErrorCode.TIMED_OUT.exception("waited for datanode " + address + why);
  }

  /** Transfers have ended, so others may begin. */
  void answered() {
    failedAttempts = 0;
    lastError = "";
    if (!queue.isEmpty()) {
      send();
    }
  }

  private void connect() {
    RdmaLoop rdma;
    try {
      rdma = client.rdma();
    } catch (CrailException e) {
      rest();
      queue.endAll(e);
      return;
    }
    state = State.CONNECTING;
    lost = false;
    outdated = false;
    attempt = new Attempt();
    rdma.connect(
        address,
        loop.clock().nanoTime() + client.connectTimeoutNanos(),
        client.options(),
        RdmaHello.request(uuid),
        attempt);
  }

  /** One attempt to connect; what it brings counts only while it is the present one. */
  private final class Attempt implements RdmaLoop.ConnectListener {
    private RdmaConnection made;

    @Override
    public QueuePair.Handler created(QueuePair pair) {
      made =
          new RdmaConnection(RdmaStorageEndpoint.this, pair, client.registrations(pair.device()));
      return made;
    }

    @Override
    public void connected(QueuePair pair, ByteBuffer peerData) {
      if (attempt != this) {
        pair.close("nobody wants it any more");
        return;
      }
      attempt = null;
      if (RdmaHello.answer(peerData) != ErrorCode.OK) {
        pair.close("no datanode");
        refused(ErrorCode.PROTOCOL.exception(address + " is no datanode of this version"));
        return;
      }
      try {
        made.open();
      } catch (IOException e) {
        pair.close(e.getMessage());
        refused(ErrorCode.LIMIT_EXCEEDED.exception(e.getMessage()));
        return;
      }
      connection = made;
      state = State.READY;
      send();
    }

    @Override
    public void failed(String cause, ByteBuffer peerData) {
      if (attempt != this) {
        return;
      }
      attempt = null;
      ErrorCode refusal = RdmaHello.answer(peerData);
      if (refusal == ErrorCode.DATA_LOST) {
        refused(refusal.exception("datanode " + address + " was restarted"));
      } else if (refusal == ErrorCode.PROTOCOL) {
        refused(refusal.exception("datanode " + address + " is of another version"));
      } else {
        disconnected(refusal == null ? cause : "refused: " + refusal.text());
      }
    }
  }

  /** The datanode cannot be used; another attempt would end the same way. */
  private void refused(CrailException cause) {
    rest();
    queue.endAll(cause);
  }

  /**
   * The connection is gone, and its queue pair destroyed.
   *
   * @param inFlight what it had in flight, but for what it refused
   * @param refused what it refused, or null
   */
  void closed(
      RdmaConnection gone,
      String cause,
      RdmaTransfers inFlight,
      RdmaTransfer refused,
      String refusal) {
    if (gone != connection) {
      return;
    }
    connection = null;
    if (state == State.CLOSED) {
      inFlight.endAll(isClosed());
      return;
    }
    lastError = cause;
    RdmaTransfers failed = new RdmaTransfers();
    // The fault of one transfer, or its deadline, is not held against the others.
    if (refused == null && !givingUp) {
      for (int left = inFlight.size(); left > 0; left--) {
        RdmaTransfer transfer = inFlight.pollFirst();
        (transfer.lose() > MAX_LOSSES ? failed : inFlight).addLast(transfer);
      }
    }
    queue.addAllFirst(inFlight);
    CrailException unavailable = unavailable();
    if (gone.wasUseful() && !queue.isEmpty()) {
      connect();
    } else if (gone.wasUseful()) {
      rest();
    } else {
      disconnected(cause);
    }
    // Last, for their owners may begin new ones.
    failed.endAll(unavailable);
    if (refused != null) {
      refused.end(
          ErrorCode.UNAVAILABLE.exception(
              "region "
                  + refused.transfer().extent().region()
                  + " of datanode "
                  + address
                  + ": "
                  + refusal));
    }
  }

  /** There is no connection. */
  private void disconnected(String cause) {
    lastError = cause;
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

  /** Gives the datanode up until somebody asks for it again. */
  private void rest() {
    state = State.IDLE;
    failedAttempts = 0;
    lost = true;
    deactivate();
  }

  private CrailException unavailable() {
    return ErrorCode.UNAVAILABLE.exception("datanode " + address + ": " + lastError);
  }

  @Override
  public void sweep(long nowNanos) {
    if (state == State.BACKING_OFF && nowNanos - backOffUntilNanos >= 0) {
      connect();
    } else if (state == State.READY && connection.isOverdue(nowNanos)) {
      // First, so that nobody is told of the end of a transfer that still goes on.
      givingUp = true;
      connection.close("a transfer was not done in time");
      givingUp = false;
    }
    if (!queue.isEmpty()) {
      RdmaTransfers overdue = new RdmaTransfers();
      queue.moveOverdue(nowNanos, overdue);
      if (!overdue.isEmpty()) {
        overdue.endAll(overdue());
      }
      send();
    } else if (outdated && state == State.READY && connection.isIdle()) {
      connection.close("the datanode has to be described anew");
    }
  }
}
