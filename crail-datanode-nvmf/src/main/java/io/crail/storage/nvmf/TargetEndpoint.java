/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.sector.SectorAccess;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Transfer;
import io.crail.storage.network.NetworkEndpoint;
import io.crail.storage.network.TransferQueue;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A target of a datanode as a client reaches it: one controller. A read whose connection was lost
 * is sent again. A write is not, since the target may still execute the first one, after other
 * writes to the same place; its writer takes other space. When a write is given up, the connection
 * ends before the owner learns of it.
 */
final class TargetEndpoint extends NetworkEndpoint<NvmfTransfer>
    implements LabelWatch.Listener, NvmfTransfer.Listener {
  private static final int MAX_REPEATS = 1;

  private static final String NOT_IN_TIME = "a transfer was not done in time";

  /** A target that ends no command for so long, after some were given up, is taken for lost. */
  private static final long QUIET_NANOS = 1_000_000_000;

  private final TargetAccess access;
  private final LentSpace space;
  private final int index;
  private final TargetAddress target;
  private final Subsystem subsystem;
  private final ControllerLimits limits;
  private final Map<Integer, SectorAccess> accesses = new HashMap<>();

  /** The namespaces when their labels were right for the first time. */
  private final Map<Integer, NamespaceData> first = new HashMap<>();

  private final List<NvmfTransfer> inFlight = new ArrayList<>();
  private final TransferQueue<NvmfTransfer> lostReads = new TransferQueue<>();
  private final TransferQueue<NvmfTransfer> lostWrites = new TransferQueue<>();

  /** The transfer that has commands which could not be sent yet, or null. */
  private NvmfTransfer partial;

  private Controller controller;
  private boolean answered;

  /** The looks at the labels of the namespaces; null without a controller that is ready. */
  private LabelWatch looks;

  // Transfers that were given up and whose commands have not ended, and when a command ended last.
  private int givenUp;
  private boolean heard;
  private long quietSinceNanos;

  /**
   * Creates an endpoint that connects when it is first used.
   *
   * @param index of the target among those of the datanode
   */
  TargetEndpoint(TargetAccess access, LentSpace space, int index) {
    super(
        access.loop(),
        describe(space.datanode(), space.lent().targets().get(index)),
        access.limits().startNanos(),
        MAX_REPEATS);
    this.access = access;
    this.space = space;
    this.index = index;
    ControllerLimits own = access.limits();
    Duration keepAlive = LateExecution.keepAlive(space.datanode().traits().drainMillis());
    this.limits = new ControllerLimits(own.depth(), keepAlive, own.timeoutNanos());
    this.target = space.lent().targets().get(index);
    this.subsystem =
        new Subsystem(target.transport(), target.address(), target.nqn(), access.host());
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
    givenUp = 0;
    heard = true;
    Attempt attempt = new Attempt();
    try {
      controller =
          access
              .initiators()
              .of(target.transport(), space.lent().digests())
              .controller(subsystem, space.namespaces(index), limits, attempt);
    } catch (CrailException e) {
      refused(e);
      return;
    }
    attempt.made = controller;
    controller.start();
  }

  /** One controller. What it reports counts only while it is the present one. */
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
        // Writers take other space: another target may let them.
        TargetEndpoint.this.refused(ErrorCode.UNAVAILABLE.exception(cause.detail()));
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
      NamespaceData before = first.get(namespace.number());
      String change = before == null ? null : namespace.change(before);
      String problem = change != null ? change : space.problem(index, namespace);
      if (problem != null) {
        unusable(ErrorCode.DATA_LOST, problem);
        return;
      }
      accesses.put(
          namespace.number(),
          new SectorAccess(
              controller.io(),
              namespace,
              limits.depth(),
              controller.data().maxTransfer(),
              this::roomAgain));
    }
    forgetLabels();
    looks = new LabelWatch(loop(), controller, limits.keepAlive().toNanos(), this);
    looks.look();
  }

  private void forgetLabels() {
    if (looks != null) {
      looks.end();
      looks = null;
    }
  }

  @Override
  public void checked() {
    if (isReady()) {
      send();
    } else {
      controller.namespaces().forEach(each -> first.putIfAbsent(each.number(), each));
      connected();
    }
  }

  @Override
  protected void watchAttempt(long nowNanos) {
    if (looks != null) {
      watchLabels(nowNanos);
    }
  }

  /**
   * Ends the connection when the last good look has become too old, since a write may follow the
   * read of its sector without asking.
   */
  private void watchLabels(long nowNanos) {
    if (looks.areSilent(nowNanos)) {
      Controller silent = controller;
      silent.close("no answer to a read of a label");
      controllerLost("no answer to a read of a label");
    } else {
      looks.areFresh(nowNanos);
    }
  }

  /** A namespace is used only while it is the datanode's. */
  @Override
  public boolean isOwned(NamespaceData namespace, ByteBuffer block, String problem) {
    UUID owner = space.datanode().uuid();
    if (problem != null) {
      unusable(ErrorCode.UNAVAILABLE, "the label of " + namespace.number() + ": " + problem);
      return false;
    }
    NamespaceLabel label = NamespaceLabel.read(block);
    boolean lent = label != null && label.lent();
    if (lent && label.isOf(owner)) {
      return true;
    }
    unusable(
        ErrorCode.DATA_LOST,
        "namespace "
            + namespace.number()
            + " is no longer lent by datanode "
            + owner
            + (lent ? ", but by " + label : ""));
    return false;
  }

  private void unusable(ErrorCode code, String why) {
    Controller useless = controller;
    controller = null;
    forgetLabels();
    useless.close(why);
    endPartial(why);
    refused(code.exception(subsystem + ": " + why));
  }

  /** Its queue is lost, which learns only of what was sent. */
  private void endPartial(String cause) {
    if (partial != null) {
      NvmfTransfer begun = partial;
      partial = null;
      begun.queueLost(cause);
    }
  }

  private void controllerLost(String cause) {
    boolean wasReady = isReady();
    forgetLabels();
    endPartial(cause);
    controller = null;
    if (!wasReady) {
      notConnected(cause);
      return;
    }
    TransferQueue<NvmfTransfer> hopeless = takeHopeless(lostReads);
    moveAll(lostWrites, hopeless);
    connectionLost(cause, answered, lostReads, hopeless);
  }

  private static void moveAll(TransferQueue<NvmfTransfer> from, TransferQueue<NvmfTransfer> to) {
    for (NvmfTransfer next = from.pollFirst(); next != null; next = from.pollFirst()) {
      to.addLast(next);
    }
  }

  @Override
  protected void disconnect(CrailException cause) {
    if (controller == null) {
      return;
    }
    forgetLabels();
    // It is the present one until its requests have been called.
    controller.close(cause.getMessage());
    endPartial(cause.getMessage());
    controller = null;
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
    boolean fresh = looks != null && looks.areFresh(now);
    while (fresh && isReady() && controller != null) {
      if (partial == null) {
        if (queue().isEmpty() || !controller.io().hasRoom()) {
          break;
        }
        NvmfTransfer next = queue().pollFirst();
        if (next.isOverdue(now)) {
          next.end(overdueError());
          continue;
        }
        Region region = space.region(next.transfer());
        next.begin(
            controller,
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

  @Override
  public void ended(NvmfTransfer transfer, int status) {
    answered = true;
    heard = true;
    if (transfer.place() < 0) {
      givenUp--;
      // It was given up, and its owner knows.
      return;
    }
    leave(transfer);
    if (transfer.isDropped()) {
      transfer.end(overdueError());
    } else if (status == NvmeStatus.OK) {
      transfer.end();
    } else {
      transfer.end(transfer.error(subsystem, status));
    }
    answered();
  }

  @Override
  public void lost(NvmfTransfer transfer) {
    if (transfer.place() < 0) {
      return;
    }
    leave(transfer);
    if (transfer.controller() != controller) {
      // Its queue had been lost before, while a command of it was being ended.
      transfer.end(
          isClosed()
              ? closedError()
              : ErrorCode.UNAVAILABLE.exception(subsystem + ": the connection was lost"));
    } else {
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
        unsafe |= transfer.isWrite() || transfer == partial || !controller.io().leavesMemoryAlone();
        leave(transfer);
        // Its commands still refer to it, so the next use makes another one.
        transfer.transfer().attach(null);
        transfer.drop();
        givenUp++;
        overdue.addLast(transfer);
      }
    }
    if (heard || inFlight.isEmpty() && givenUp == 0) {
      heard = false;
      quietSinceNanos = nowNanos;
    }
    // Commands that were given up keep their room, so a silent target would take all of it.
    unsafe |= givenUp > 0 && nowNanos - quietSinceNanos >= QUIET_NANOS;
    if (unsafe) {
      // First, so that no owner sees the end of a write that still continues.
      Controller closing = controller;
      closing.close(NOT_IN_TIME);
      endPartial(NOT_IN_TIME);
      // The target is as silent to these: it was reached, so their writers may find it again.
      overdue = overdue == null ? new TransferQueue<>() : overdue;
      moveAll(lostWrites, overdue);
      controllerLost(NOT_IN_TIME);
    }
    if (looks != null) {
      watchLabels(nowNanos);
    }
    if (overdue != null) {
      overdue.endAll(overdueError());
    }
  }
}
