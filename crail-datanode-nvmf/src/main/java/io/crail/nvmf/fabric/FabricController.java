/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.CommandSlots;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerData;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.QueueId;
import io.crail.nvmf.Subsystem;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A controller in Java: an admin queue and one queue for I/O, each with a connection of its own,
 * which a {@link Fabric} carries.
 *
 * <p>The start goes on, each step after the answer to the one before:
 *
 * <pre>
 *   identify                     the controller
 *   read the keep-alive time     what the controller has made of the one that it was asked for
 *   identify                     each namespace
 *   set the number of queues     and open one, with a connection of its own
 *   connect the I/O queue
 * </pre>
 */
final class FabricController extends AdminController implements Controller {
  private final List<Integer> wanted;
  private final Listener listener;
  private final List<NamespaceData> namespaces = new ArrayList<>();
  private NvmeQueue io;
  private ControllerData data;

  /**
   * Creates a controller; {@link #start} follows.
   *
   * @param namespaces the numbers of the namespaces to use; empty for all
   */
  FabricController(
      FabricServices services,
      Subsystem subsystem,
      List<Integer> namespaces,
      ControllerLimits limits,
      Listener listener) {
    super(services, subsystem, limits);
    this.wanted = new ArrayList<>(namespaces);
    this.listener = listener;
  }

  @Override
  public void start() {
    begin();
  }

  @Override
  public Subsystem subsystem() {
    return target();
  }

  @Override
  public ControllerData data() {
    return data;
  }

  @Override
  public List<NamespaceData> namespaces() {
    return namespaces;
  }

  @Override
  public NvmeQueue io() {
    return io;
  }

  @Override
  public void close(String cause) {
    end(cause);
  }

  @Override
  protected void reported(CrailException refusal) {
    listener.refused(refusal);
  }

  @Override
  protected void reportedLost(String cause) {
    listener.lost(cause);
  }

  @Override
  protected void ending(String cause) {
    if (io != null) {
      io.close(cause);
    }
  }

  // The start.

  @Override
  protected void started() {
    identify(NvmeCommand.CONTROLLER, 0, this::identified);
  }

  private void identified(ByteBuffer answer) {
    data = ControllerData.of(answer, pageShift());
    String problem = data.keepAliveProblem(limits());
    if (problem != null) {
      refuse(ErrorCode.UNSUPPORTED, problem);
      return;
    }
    AdminRequest.send(
        admin(), new AdminRequest(NvmeCommand::getKeepAliveTime, this::haveKeepAliveTime));
  }

  /** Space rests for a time that follows from the one that was asked for. */
  private void haveKeepAliveTime(int status, long result) {
    long reported = Integer.toUnsignedLong((int) result);
    long asked = limits().keepAlive().toMillis();
    if (isEnded()) {
      return;
    }
    // A target that does not say is trusted.
    if (status == NvmeStatus.OK && (reported == 0 || reported > asked)) {
      refuse(
          ErrorCode.UNSUPPORTED,
          "the target keeps a controller without a sign of its host "
              + (reported == 0 ? "without a limit" : "for " + reported + " ms")
              + ", and was asked for "
              + asked
              + " ms");
    } else if (wanted.isEmpty()) {
      identify(NvmeCommand.NAMESPACES, 0, this::listed);
    } else {
      identifyNext();
    }
  }

  private void listed(ByteBuffer answer) {
    for (int at = 0;
        at < NvmeCommand.IDENTIFY_DATA && answer.getInt(at) != 0;
        at += Integer.BYTES) {
      wanted.add(answer.getInt(at));
    }
    if (wanted.isEmpty()) {
      refuse(ErrorCode.UNSUPPORTED, "the subsystem has no namespace for this host");
    } else if (wanted.size() == NvmeCommand.IDENTIFY_DATA / Integer.BYTES) {
      // There may be more, which the answer has no room for.
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the subsystem has "
              + wanted.size()
              + " namespaces or more; name those to use by their numbers");
    } else {
      identifyNext();
    }
  }

  private void identifyNext() {
    if (namespaces.size() < wanted.size()) {
      int number = wanted.get(namespaces.size());
      identify(
          NvmeCommand.NAMESPACE,
          number,
          answer -> {
            namespaces.add(NamespaceData.of(answer, number));
            identifyNext();
          });
      return;
    }
    AdminRequest.send(
        admin(),
        new AdminRequest((out, at) -> NvmeCommand.setQueueCount(out, at, 1), this::haveQueues));
  }

  private void haveQueues(int status, long result) {
    if (isRefused(status, "set features")) {
      return;
    }
    int most =
        data.maxCommands() == 0 ? mostEntries() : Math.min(mostEntries(), data.maxCommands());
    int entries = entries(most, limits().depth());
    await("opening the I/O queue");
    io = new QueueStart(this, new QueueId(id(), 1), entries, controller -> ioConnected()).open();
  }

  /** Entries of the queue for I/O; the target is asked for as many as its connection has. */
  static int entries(int most, int depth) {
    return Math.max(2, Math.min(most, Math.min(depth, CommandSlots.MOST) + 1));
  }

  private void ioConnected() {
    io.inCapsule(data.inCapsule());
    awaitNothing();
    listener.ready();
  }
}
