/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Region;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Transfer;
import io.crail.storage.network.DataHello;
import io.crail.storage.network.NetworkEndpoint;
import io.crail.storage.network.TransferQueue;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * A datanode of the RDMA tier as a client reaches it.
 *
 * <p>The datanode checks only that an access is within a registered region, so the bounds of a
 * transfer are checked here. An error that belongs to one request ends only that transfer. When a
 * transfer is given up, its queue pair is destroyed before the owner learns of the end, so no byte
 * of it is moved after that.
 */
final class RdmaStorageEndpoint extends NetworkEndpoint<RdmaTransfer>
    implements RdmaConnection.Owner {
  private static final int MAX_REPEATS = 2;

  /** A transfer of this length is posted at once, without waiting for more transfers. */
  private static final int LARGE = 16 * 1024;

  /** A batch of this many transfers is posted at once. */
  private static final int FULL_BATCH = 16;

  private final SharedRdma shared;

  // By the region's index; length 0 for regions that are not known.
  private final long[] regionLengths;
  private final long[] regionAddresses;
  private final int[] regionKeys;

  /** Set when an unknown region was named: the datanode has to be described anew. */
  private volatile boolean outdated;

  private Attempt attempt;
  private RdmaConnection connection;
  private boolean givingUp;

  RdmaStorageEndpoint(SharedRdma shared, DatanodeDescription datanode) {
    super(shared.loop(), datanode, shared.connectTimeoutNanos(), MAX_REPEATS);
    this.shared = shared;
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
  protected RdmaTransfer stateOf(Transfer transfer, boolean write) {
    return RdmaTransfer.of(transfer, this, write);
  }

  @Override
  protected CrailException refusal(Transfer transfer) {
    return isWithinRegion(transfer) ? null : outside(transfer);
  }

  private boolean isWithinRegion(Transfer transfer) {
    int index = transfer.region();
    long offset = transfer.regionOffset();
    return index >= 0
        && index < regionLengths.length
        && offset >= 0
        && offset <= regionLengths[index] - transfer.length();
  }

  private CrailException outside(Transfer transfer) {
    int index = transfer.region();
    if (index < 0 || index >= regionLengths.length || regionLengths[index] == 0) {
      // The region may have been lent after the datanode was described.
      outdated = true;
      markLost();
      return ErrorCode.UNAVAILABLE.exception(
          "datanode " + addressText() + " has no region " + index);
    }
    return ErrorCode.OUT_OF_RANGE.exception(
        transfer.length()
            + " bytes at "
            + transfer.regionOffset()
            + " of region "
            + index
            + " of datanode "
            + addressText()
            + ", which has "
            + regionLengths[index]);
  }

  @Override
  protected void activated() {
    shared.activated(this);
  }

  @Override
  protected void deactivated() {
    shared.deactivated(this);
  }

  @Override
  protected void queued(RdmaTransfer transfer) {
    // Waiting transfers are sent at the end of a batch of completions.
    if (connection.isDispatching()) {
      return;
    }
    if (connection.isIdle()
        || queue().size() >= FULL_BATCH
        || transfer.transfer().length() >= LARGE) {
      send();
    } else {
      flushLater();
    }
  }

  @Override
  protected void flush() {
    send();
  }

  @Override
  protected void sendQueued() {
    long now = loop().clock().nanoTime();
    RdmaConnection looked = connection;
    while (isReady() && !queue().isEmpty() && connection.hasRoom()) {
      if (connection != looked) {
        // The connection is new. A client that was cut off may continue only with transfers that
        // are still allowed, and a check of the clock from before this connection does not show
        // that.
        looked = connection;
        now = loop().clock().nanoTime();
      }
      RdmaTransfer next = queue().first();
      if (next.isOverdue(now)) {
        queue().pollFirst();
        next.end(overdueError());
      } else if (connection.findMemory(next)) {
        queue().pollFirst();
        add(next);
      } else if (connection.hasChain()) {
        // Checked transfers must not wait while memory is registered.
        connection.post();
      } else if (!register(next)) {
        break;
      } else {
        now = loop().clock().nanoTime();
      }
    }
    if (isReady()) {
      connection.post();
    }
  }

  private void add(RdmaTransfer next) {
    int region = next.transfer().region();
    connection.add(
        next, regionAddresses[region] + next.transfer().regionOffset(), regionKeys[region]);
  }

  /** Registers the memory of the first waiting transfer; false when there is no room now. */
  private boolean register(RdmaTransfer next) {
    try {
      if (!connection.registerMemory(next)) {
        return false;
      }
    } catch (IOException e) {
      queue().pollFirst();
      next.end(
          e instanceof CrailException refusal
              ? refusal
              : ErrorCode.LIMIT_EXCEEDED.exception(e.getMessage()));
      return true;
    }
    queue().pollFirst();
    if (next.isOverdue(loop().clock().nanoTime())) {
      connection.releaseMemory(next);
      next.end(overdueError());
    } else {
      add(next);
    }
    return true;
  }

  @Override
  protected void connect(long deadlineNanos) {
    if (shared.isClosed()) {
      refused(closedError());
      return;
    }
    RdmaLoop rdma;
    ClientLogin login;
    try {
      rdma = shared.rdma();
      login = shared.newLogin(uuid());
    } catch (CrailException e) {
      refused(e);
      return;
    }
    ByteBuffer hello = DataHello.bytes(DataHello.request(uuid(), shared.clientId(), login));
    if (hello.remaining() > Verbs.MAX_CONNECT_DATA) {
      refused(
          ErrorCode.UNSUPPORTED.exception(
              "a login of " + login.message().length + " bytes, which RDMA cannot carry"));
      return;
    }
    outdated = false;
    attempt = new Attempt(login);
    rdma.connect(address(), deadlineNanos, shared.options(), hello, attempt);
  }

  /** One attempt to connect. Its result counts only while it is the present attempt. */
  private final class Attempt implements RdmaLoop.ConnectListener {
    private final ClientLogin login;
    private RdmaConnection made;

    Attempt(ClientLogin login) {
      this.login = login;
    }

    @Override
    public QueuePair.Handler created(QueuePair pair) {
      made = new RdmaConnection(RdmaStorageEndpoint.this, shared, pair);
      return made;
    }

    @Override
    public void connected(QueuePair pair, ByteBuffer peerData) {
      if (attempt != this) {
        pair.close("no longer needed");
        return;
      }
      attempt = null;
      DataHello.Response answer = DataHello.response(peerData);
      if (DataHello.answer(peerData) != ErrorCode.OK || answer.more()) {
        pair.close("no datanode");
        refused(ErrorCode.PROTOCOL.exception(address() + " is no datanode of this version"));
        return;
      }
      try {
        login.answered(false, answer.message().bytes());
      } catch (CrailException e) {
        pair.close(e.getMessage());
        refused(e);
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
      RdmaStorageEndpoint.this.connected();
    }

    @Override
    public void failed(String cause, ByteBuffer peerData) {
      if (attempt != this) {
        return;
      }
      attempt = null;
      helloRefused(DataHello.answer(peerData), cause);
    }
  }

  @Override
  public void closed(
      RdmaConnection gone,
      String cause,
      TransferQueue<RdmaTransfer> inFlight,
      RdmaTransfer refused,
      String refusal) {
    if (gone != connection) {
      return;
    }
    connection = null;
    // The fault of one transfer, or its deadline, does not count against the other transfers.
    TransferQueue<RdmaTransfer> hopeless =
        refused == null && !givingUp ? takeHopeless(inFlight) : new TransferQueue<>();
    connectionLost(cause, gone.wasUseful(), inFlight, hopeless);
    if (refused != null) {
      refused.end(
          ErrorCode.UNAVAILABLE.exception(
              "region "
                  + refused.transfer().region()
                  + " of datanode "
                  + addressText()
                  + ": "
                  + refusal));
    }
  }

  @Override
  protected void disconnect(CrailException cause) {
    attempt = null;
    if (connection != null) {
      connection.close("closed by this side");
    }
  }

  @Override
  protected void watch(long nowNanos) {
    if (connection.isOverdue(nowNanos)) {
      // First, so that no owner sees the end of a transfer that still continues.
      givingUp = true;
      connection.close("a transfer was not done in time");
      givingUp = false;
    } else if (outdated && queue().isEmpty() && connection.isIdle()) {
      connection.close("the datanode has to be described anew");
    }
  }
}
