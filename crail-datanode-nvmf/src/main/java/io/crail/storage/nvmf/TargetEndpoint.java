/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Controller;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.sector.SectorAccess;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Transfer;
import io.crail.storage.network.NetworkEndpoint;
import io.crail.storage.network.TransferQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A target of a datanode as a client reaches it: one controller. A read whose connection was lost
 * is sent again. A write is not, since the target may still execute the first one, after other
 * writes to the same place; its writer takes other space. When a write is given up, the connection
 * ends before the owner is told.
 */
final class TargetEndpoint extends NetworkEndpoint<NvmfTransfer> {
  private static final int MAX_REPEATS = 1;

  /**
   * Steps of a controller's start, each of which has the time that a user allows for connecting.
   */
  private static final int START_STEPS = 4;

  private final NvmfStorageClient client;
  private final NvmfStorageEndpoint datanode;
  private final int index;
  private final Subsystem subsystem;
  private final Map<Integer, SectorAccess> accesses = new HashMap<>();
  private final List<NvmfTransfer> inFlight = new ArrayList<>();
  private final TransferQueue<NvmfTransfer> lostReads = new TransferQueue<>();
  private final TransferQueue<NvmfTransfer> lostWrites = new TransferQueue<>();

  /** The transfer of which some commands could not be sent yet, or null. */
  private NvmfTransfer partial;

  private Controller controller;
  private boolean answered;

  TargetEndpoint(
      NvmfStorageClient client, NvmfStorageEndpoint datanode, int index, TargetAddress target) {
    super(
        client.loop(),
        describe(datanode.datanode(), target),
        START_STEPS * client.limits().timeoutNanos(),
        MAX_REPEATS);
    this.client = client;
    this.datanode = datanode;
    this.index = index;
    this.subsystem = new Subsystem(target.address(), target.nqn(), client.host());
  }

  /** The datanode, at the address of one of its targets. */
  private static DatanodeDescription describe(DatanodeDescription datanode, TargetAddress target) {
    return new DatanodeDescription(
        datanode.uuid(),
        datanode.tier(),
        target.address(),
        datanode.storageClass(),
        datanode.traits(),
        datanode.regions());
  }

  @Override
  protected NvmfTransfer stateOf(Transfer transfer, boolean write) {
    return NvmfTransfer.of(transfer, this, write);
  }

  // The connection.

  @Override
  protected void connect(long deadlineNanos) {
    answered = false;
    Attempt attempt = new Attempt();
    controller =
        new Controller(
            loop(),
            client.fabric(datanode.lent()),
            subsystem,
            datanode.namespaces(index),
            client.limits(),
            attempt);
    attempt.made = controller;
    controller.start();
  }

  /** One controller. What it tells counts only while it is the present one. */
  private final class Attempt implements Controller.Listener {
    private Controller made;

    @Override
    public void ready() {
      if (made == controller) {
        opened();
      }
    }

    @Override
    public void refused(CrailException cause) {
      if (made == controller) {
        controller = null;
        TargetEndpoint.this.refused(cause);
      }
    }

    @Override
    public void lost(String cause) {
      if (made == controller) {
        controllerLost(cause);
      }
    }
  }

  private void opened() {
    accesses.clear();
    for (NamespaceData namespace : controller.namespaces()) {
      String problem = datanode.problem(index, namespace);
      if (problem != null) {
        Controller unusable = controller;
        controller = null;
        unusable.close(problem);
        refused(ErrorCode.DATA_LOST.exception(subsystem + ": " + problem));
        return;
      }
      accesses.put(
          namespace.number(),
          new SectorAccess(
              controller.io(),
              namespace,
              client.limits().depth(),
              controller.data().maxTransfer(),
              this::roomAgain));
    }
    connected();
  }

  private void controllerLost(String cause) {
    boolean wasReady = isReady();
    controller = null;
    if (partial != null) {
      NvmfTransfer begun = partial;
      partial = null;
      begun.queueLost(cause);
    }
    if (!wasReady) {
      notConnected(cause);
      return;
    }
    TransferQueue<NvmfTransfer> hopeless = takeHopeless(lostReads);
    for (NvmfTransfer write = lostWrites.pollFirst();
        write != null;
        write = lostWrites.pollFirst()) {
      hopeless.addLast(write);
    }
    connectionLost(cause, answered, lostReads, hopeless);
  }

  @Override
  protected void disconnect(CrailException cause) {
    if (controller == null) {
      return;
    }
    Controller closing = controller;
    controller = null;
    closing.close(cause.getMessage());
    if (partial != null) {
      NvmfTransfer begun = partial;
      partial = null;
      begun.queueLost(cause.getMessage());
    }
    lostReads.endAll(cause);
    lostWrites.endAll(cause);
  }

  // The transfers.

  @Override
  protected void queued(NvmfTransfer transfer) {
    if (inFlight.isEmpty()) {
      send();
    } else {
      flushLater();
    }
  }

  @Override
  protected void flush() {
    send();
  }

  private void roomAgain() {
    if (controller != null && (partial != null || !queue().isEmpty())) {
      send();
    }
  }

  @Override
  protected void sendQueued() {
    long now = loop().clock().nanoTime();
    while (isReady() && controller != null) {
      if (partial == null) {
        if (queue().isEmpty() || !controller.io().hasRoom()) {
          break;
        }
        NvmfTransfer next = queue().pollFirst();
        if (next.isOverdue(now)) {
          next.end(overdueError());
          continue;
        }
        Region region = datanode.region(next.transfer());
        next.begin(
            accesses.get(LentTargets.namespace(region.key())),
            region.address() + next.transfer().regionOffset());
        next.place(inFlight.size());
        inFlight.add(next);
        partial = next;
      }
      if (!partial.send()) {
        break;
      }
      partial = null;
    }
    if (controller != null && controller.io() != null) {
      controller.io().flush();
    }
  }

  private void leave(NvmfTransfer transfer) {
    int place = transfer.place();
    NvmfTransfer last = inFlight.remove(inFlight.size() - 1);
    if (last != transfer) {
      inFlight.set(place, last);
      last.place(place);
    }
    transfer.place(-1);
    if (partial == transfer) {
      partial = null;
    }
  }

  /** The device has done what a transfer asked for, or has refused it. */
  void ended(NvmfTransfer transfer, int status) {
    answered = true;
    if (transfer.place() < 0) {
      // It was given up, and its owner told.
      return;
    }
    leave(transfer);
    if (transfer.isDropped()) {
      transfer.end(overdueError());
    } else if (status == NvmeStatus.OK) {
      transfer.end();
    } else {
      transfer.end(error(transfer, status));
    }
    answered();
  }

  private CrailException error(NvmfTransfer transfer, int status) {
    return ErrorCode.UNAVAILABLE.exception(
        (transfer.isWrite() ? "write to region " : "read of region ")
            + transfer.transfer().extent().region()
            + " at "
            + subsystem
            + ": "
            + NvmeStatus.text(status));
  }

  /** The queue is lost, and nobody knows what the device has done. */
  void lost(NvmfTransfer transfer) {
    if (transfer.place() >= 0) {
      leave(transfer);
      (transfer.isWrite() ? lostWrites : lostReads).addLast(transfer);
    }
  }

  @Override
  protected void watch(long nowNanos) {
    TransferQueue<NvmfTransfer> overdue = null;
    boolean unsafe = false;
    for (int i = inFlight.size() - 1; i >= 0; i--) {
      NvmfTransfer transfer = inFlight.get(i);
      if (transfer.isOverdue(nowNanos)) {
        overdue = overdue == null ? new TransferQueue<>() : overdue;
        unsafe |= transfer.isWrite() || transfer == partial;
        leave(transfer);
        // Its commands still refer to it, so the next use makes another one.
        transfer.transfer().attach(null);
        overdue.addLast(transfer);
      }
    }
    if (overdue == null) {
      return;
    }
    if (unsafe) {
      // First, so that no owner is told of the end of a write that still continues.
      Controller closing = controller;
      closing.close("a transfer was not done in time");
      controllerLost("a transfer was not done in time");
    }
    overdue.endAll(overdueError());
  }
}
