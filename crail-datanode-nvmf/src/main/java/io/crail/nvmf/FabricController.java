/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A controller in Java: an admin queue and one queue for I/O, each with a connection of its own,
 * which a {@link Fabric} carries.
 *
 * <p>The start, each step after the answer to the one before:
 *
 * <pre>
 *   connect the admin queue      the target makes a controller
 *   read CAP                     limits; how long the start may take
 *   set CC, read CSTS            until the controller is ready
 *   identify                     the controller, then each namespace
 *   set the number of queues     and open one, with a connection of its own
 *   connect the I/O queue
 * </pre>
 */
final class FabricController implements Controller, ClientLoop.Sweepable {
  private static final int ADMIN_ENTRIES = 32;
  private static final int ENABLE = 0x00460001;
  private static final int PAGE_SIZE_AT = 7;
  private static final int LEAST_PAGE_SHIFT = 12;
  private static final int STATE_READY = 1;
  private static final int STATE_FAILED = 2;
  private static final int AUTHENTICATE = 0x60000;
  private static final long START_UNIT_NANOS = 500_000_000;
  private static final long POLL_NANOS = ClientLoop.SWEEP_INTERVAL_NANOS;

  private final ClientLoop loop;
  private final Fabric fabric;
  private final Subsystem subsystem;
  private final List<Integer> wanted;
  private final ControllerLimits limits;
  private final Listener listener;
  private final List<NamespaceData> namespaces = new ArrayList<>();
  private NvmeQueue admin;
  private NvmeQueue io;
  private int id = NvmeCommand.ANY_CONTROLLER;
  private int pageShift;
  private int mostEntries;
  private ControllerData data;
  private boolean ready;
  private boolean ended;

  // What is being waited for: a deadline of the step, and the time of the next look at CSTS.
  private String step = "connecting";
  private long deadlineNanos;
  private boolean waiting;
  private long lookAtNanos;
  private boolean looking;

  // The sign of life.
  private long nextSignNanos;
  private boolean signSent;

  /**
   * Creates a controller; {@link #start} follows.
   *
   * @param namespaces the numbers of the namespaces to use; empty for all
   */
  FabricController(
      ClientLoop loop,
      Fabric fabric,
      Subsystem subsystem,
      List<Integer> namespaces,
      ControllerLimits limits,
      Listener listener) {
    this.loop = loop;
    this.fabric = fabric;
    this.subsystem = subsystem;
    this.wanted = new ArrayList<>(namespaces);
    this.limits = limits;
    this.listener = listener;
  }

  @Override
  public void start() {
    loop.register(this);
    await("connecting", limits.timeoutNanos());
    admin =
        fabric.open(
            subsystem.address(),
            QueueId.ADMIN,
            ADMIN_ENTRIES,
            deadlineNanos,
            new NvmeQueue.Listener() {
              @Override
              public void opened() {
                connectAdmin();
              }

              @Override
              public void lost(String cause) {
                lose(cause);
              }
            });
  }

  @Override
  public Subsystem subsystem() {
    return subsystem;
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

  private void await(String what, long nanos) {
    step = what;
    waiting = true;
    deadlineNanos = loop.clock().nanoTime() + nanos;
  }

  private void lose(String cause) {
    if (!ended) {
      end(cause);
      listener.lost(cause);
    }
  }

  private void refuse(ErrorCode code, String why) {
    if (!ended) {
      end(why);
      listener.refused(code.exception(subsystem + ": " + why));
    }
  }

  private void end(String cause) {
    if (ended) {
      return;
    }
    ended = true;
    ready = false;
    loop.unregister(this);
    if (io != null) {
      io.close(cause);
    }
    if (admin != null) {
      admin.close(cause);
    }
  }

  private void send(NvmeQueue queue, AdminRequest request) {
    queue.send(request);
    queue.flush();
  }

  // The start.

  private void connectAdmin() {
    int keepAlive = (int) limits.keepAlive().toMillis();
    ByteBuffer connectData = NvmeCommand.connectData(subsystem, NvmeCommand.ANY_CONTROLLER);
    send(
        admin,
        new AdminRequest(
                (out, at) -> NvmeCommand.connect(out, at, 0, ADMIN_ENTRIES, keepAlive),
                this::adminConnected)
            .writing(connectData));
  }

  private void adminConnected(int status, long result) {
    if (isRefused(status, "connect")) {
      return;
    }
    if ((result & AUTHENTICATE) != 0) {
      refuse(ErrorCode.UNSUPPORTED, "the target asks for authentication");
      return;
    }
    id = (int) result & 0xffff;
    send(
        admin,
        new AdminRequest(
            (out, at) -> NvmeCommand.propertyGet(out, at, NvmeCommand.CAPABILITIES),
            this::haveCapabilities));
  }

  private void haveCapabilities(int status, long capabilities) {
    if (isRefused(status, "property get")) {
      return;
    }
    mostEntries = (int) (capabilities & 0xffff) + 1;
    pageShift = LEAST_PAGE_SHIFT + (int) (capabilities >> 48 & 0xf);
    long units = Math.max(1, capabilities >> 24 & 0xff);
    await("starting", Math.max(limits.timeoutNanos(), units * START_UNIT_NANOS));
    send(
        admin,
        new AdminRequest(
            (out, at) ->
                NvmeCommand.propertySet(
                    out,
                    at,
                    NvmeCommand.CONFIGURATION,
                    ENABLE | (pageShift - LEAST_PAGE_SHIFT) << PAGE_SIZE_AT),
            this::enabled));
  }

  private void enabled(int status, long result) {
    if (!isRefused(status, "property set")) {
      look();
    }
  }

  private void look() {
    send(
        admin,
        new AdminRequest(
            (out, at) -> NvmeCommand.propertyGet(out, at, NvmeCommand.STATE), this::haveState));
  }

  private void haveState(int status, long state) {
    if (isRefused(status, "property get")) {
      return;
    }
    if ((state & STATE_FAILED) != 0) {
      lose("the controller has failed");
    } else if ((state & STATE_READY) == 0) {
      looking = true;
      lookAtNanos = loop.clock().nanoTime() + POLL_NANOS;
    } else {
      nextSignNanos = loop.clock().nanoTime() + signNanos();
      await("identifying", limits.timeoutNanos());
      identify(NvmeCommand.CONTROLLER, 0, this::identified);
    }
  }

  /** Takes the data of an identify. */
  private interface Taker {
    void take(ByteBuffer data) throws CrailException;
  }

  private void identify(int what, int namespace, Taker taker) {
    ByteBuffer memory = NvmeRequest.newMemory(NvmeCommand.IDENTIFY_DATA);
    send(
        admin,
        new AdminRequest(
                (out, at) -> NvmeCommand.identify(out, at, what, namespace),
                (status, result) -> {
                  if (what == NvmeCommand.NAMESPACE
                      && NvmeStatus.is(status, NvmeStatus.INVALID_NAMESPACE)) {
                    refuse(ErrorCode.UNSUPPORTED, "there is no namespace " + namespace);
                  } else if (!isRefused(status, "identify")) {
                    try {
                      taker.take(memory);
                    } catch (CrailException e) {
                      refuse(e.code(), e.detail());
                    }
                  }
                })
            .reading(memory));
  }

  private void identified(ByteBuffer answer) {
    data = ControllerData.of(answer, pageShift);
    int unit = data.keepAliveUnitMillis();
    long keepAlive = limits.keepAlive().toMillis();
    if (unit == 0) {
      refuse(ErrorCode.UNSUPPORTED, "the target has no keep-alive");
      return;
    }
    if (keepAlive % unit != 0) {
      // It would count a longer time than its host.
      refuse(
          ErrorCode.UNSUPPORTED,
          "the target counts keep-alive times in "
              + unit
              + " ms, and "
              + keepAlive
              + " ms is no multiple of that");
      return;
    }
    if (wanted.isEmpty()) {
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
    send(
        admin,
        new AdminRequest((out, at) -> NvmeCommand.setQueueCount(out, at, 1), this::haveQueues));
  }

  private void haveQueues(int status, long result) {
    if (isRefused(status, "set features")) {
      return;
    }
    int most = data.maxCommands() == 0 ? mostEntries : Math.min(mostEntries, data.maxCommands());
    int entries = Math.max(2, Math.min(most, limits.depth() + 1));
    await("opening the I/O queue", limits.timeoutNanos());
    io =
        fabric.open(
            subsystem.address(),
            new QueueId(id, 1),
            entries,
            deadlineNanos,
            new NvmeQueue.Listener() {
              @Override
              public void opened() {
                connectIo(entries);
              }

              @Override
              public void lost(String cause) {
                lose(cause);
              }
            });
  }

  private void connectIo(int entries) {
    ByteBuffer connectData = NvmeCommand.connectData(subsystem, id);
    send(
        io,
        new AdminRequest(
                (out, at) -> NvmeCommand.connect(out, at, 1, entries, 0), this::ioConnected)
            .writing(connectData));
  }

  private void ioConnected(int status, long result) {
    if (isRefused(status, "connect of the I/O queue")) {
      return;
    }
    io.inCapsule(data.inCapsule());
    waiting = false;
    ready = true;
    listener.ready();
  }

  /** Ends this when a command was refused. */
  private boolean isRefused(int status, String command) {
    if (ended || status == NvmeStatus.OK) {
      return ended;
    }
    String why = "the target refuses the " + command + ": " + NvmeStatus.text(status);
    if (NvmeStatus.isFinal(status)) {
      refuse(ErrorCode.UNSUPPORTED, why);
    } else {
      lose(why);
    }
    return true;
  }

  // The time.

  private long signNanos() {
    return limits.keepAlive().toNanos() / 2;
  }

  @Override
  public void sweep(long nowNanos) {
    if (waiting && nowNanos - deadlineNanos >= 0) {
      lose("no answer in time while " + step);
      return;
    }
    if (looking && nowNanos - lookAtNanos >= 0) {
      looking = false;
      look();
    }
    if (nextSignNanos != 0 && nowNanos - nextSignNanos >= 0) {
      sign(nowNanos);
    }
  }

  private void sign(long nowNanos) {
    if (signSent) {
      lose("no answer to a keep-alive within " + limits.keepAlive().toMillis() / 2 + " ms");
      return;
    }
    if (admin.hasRoom()) {
      signSent = true;
      nextSignNanos = nowNanos + signNanos() | 1;
      send(admin, new AdminRequest(NvmeCommand::keepAlive, this::signed));
    }
  }

  private void signed(int status, long result) {
    signSent = false;
    if (status != NvmeStatus.OK) {
      lose("the target refuses a keep-alive: " + NvmeStatus.text(status));
    }
  }

  @Override
  public void loopClosing() {
    end("the loop is closing");
  }
}
