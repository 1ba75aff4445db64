/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.QueueId;
import io.crail.nvmf.Subsystem;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Sweepable;
import java.nio.ByteBuffer;

/**
 * What controllers of all kinds have: an admin queue, a start, deadlines, signs of life and an end.
 * Used only in the loop.
 *
 * <p>The start, each step after the answer to the one before:
 *
 * <pre>
 *   connect the admin queue      the target makes a controller; {@link QueueStart}
 *   read CAP                     limits; how long the start may take
 *   set CC, read CSTS            until the controller is ready
 * </pre>
 */
abstract class AdminController extends QueueStart.Owner implements Sweepable {
  private static final int ADMIN_ENTRIES = 32;
  private static final int ENABLE = 0x00460001;
  private static final int PAGE_SIZE_AT = 7;
  private static final int LEAST_PAGE_SHIFT = 12;
  private static final int STATE_READY = 1;
  private static final int STATE_FAILED = 2;
  private static final long START_UNIT_NANOS = 500_000_000;
  private static final long POLL_NANOS = Sweepable.INTERVAL_NANOS;

  private final FabricServices services;
  private final ClientLoop loop;
  private final Subsystem subsystem;
  private final ControllerLimits limits;
  private NvmeQueue admin;
  private int id = NvmeCommand.ANY_CONTROLLER;
  private int pageShift;
  private int mostEntries;
  private boolean ended;

  /** Why this ends, while this is being reported to the target. */
  private CrailException doom;

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
   * Creates a controller; {@link #begin} follows.
   *
   * @param limits a keep-alive time of 0 means that the controller lives without signs
   */
  AdminController(FabricServices services, Subsystem subsystem, ControllerLimits limits) {
    this.services = services;
    this.loop = services.loop();
    this.subsystem = subsystem;
    this.limits = limits;
  }

  /** The controller is ready for commands of the admin queue. */
  protected abstract void started();

  /** The target refuses for good. This has ended. */
  protected abstract void reported(CrailException refusal);

  /** The target is lost. This has ended. */
  protected abstract void reportedLost(String cause);

  /** This ends: other queues are to be closed. */
  protected void ending(String cause) {}

  // For those who start.

  @Override
  final FabricServices services() {
    return services;
  }

  @Override
  final Subsystem target() {
    return subsystem;
  }

  @Override
  final ControllerLimits limits() {
    return limits;
  }

  final NvmeQueue admin() {
    return admin;
  }

  /** The number of the controller at the target. */
  final int id() {
    return id;
  }

  /** The smallest page of the controller, as a power of two. */
  final int pageShift() {
    return pageShift;
  }

  /** The most entries of a queue. */
  final int mostEntries() {
    return mostEntries;
  }

  @Override
  final boolean isEnded() {
    return ended;
  }

  @Override
  final long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  final void await(String what) {
    await(what, limits.timeoutNanos());
  }

  private void await(String what, long nanos) {
    step = what;
    waiting = true;
    deadlineNanos = loop.clock().nanoTime() + nanos;
  }

  /** All steps are done. */
  final void awaitNothing() {
    waiting = false;
  }

  @Override
  final void lose(String cause) {
    if (ended) {
      return;
    }
    end(cause);
    if (doom != null) {
      reported(doom);
    } else {
      reportedLost(cause);
    }
  }

  @Override
  final void refuse(ErrorCode code, String why) {
    if (!ended) {
      end(why);
      reported(doom != null ? doom : code.exception(subsystem + ": " + why));
    }
  }

  @Override
  final void doom(ErrorCode code, String why) {
    doom = code.exception(subsystem + ": " + why);
    await("ending it");
  }

  /** Ends this at once. Only the requests in flight learn of it. */
  final void end(String cause) {
    if (ended) {
      return;
    }
    ended = true;
    loop.unregister(this);
    ending(cause);
    if (admin != null) {
      admin.close(cause);
    }
  }

  /** Ends this when a command was refused. */
  final boolean isRefused(int status, String command) {
    return isRefused(status, command, "");
  }

  @Override
  final boolean isRefused(int status, String command, String more) {
    if (ended || status == NvmeStatus.OK) {
      return ended;
    }
    String why = "the target refuses the " + command + ": " + NvmeStatus.text(status) + more;
    if (NvmeStatus.isFinal(status)) {
      refuse(ErrorCode.UNSUPPORTED, why);
    } else {
      lose(why);
    }
    return true;
  }

  // The start.

  final void begin() {
    loop.register(this);
    await("connecting");
    admin = new QueueStart(this, QueueId.ADMIN, ADMIN_ENTRIES, this::adminConnected).open();
  }

  private void adminConnected(int controller) {
    id = controller;
    await("asking for the capabilities");
    AdminRequest.send(
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
    AdminRequest.send(
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
    AdminRequest.send(
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
      if (!limits.keepAlive().isZero()) {
        nextSignNanos = loop.clock().nanoTime() + signNanos();
      }
      await("identifying");
      started();
    }
  }

  /** Takes the data of an answer. */
  interface Taker {
    void take(ByteBuffer data) throws CrailException;
  }

  /** Gives the data of an answer to a taker, and refuses when it does. */
  final void take(Taker taker, ByteBuffer answer) {
    try {
      taker.take(answer);
    } catch (CrailException e) {
      refuse(e.code(), e.detail());
    }
  }

  /** Identifies the controller or namespaces. */
  final void identify(int what, int namespace, Taker taker) {
    ByteBuffer memory = NvmeRequest.newMemory(NvmeCommand.IDENTIFY_DATA);
    AdminRequest.send(
        admin,
        new AdminRequest(
                (out, at) -> NvmeCommand.identify(out, at, what, namespace),
                (status, result) -> {
                  if (what == NvmeCommand.NAMESPACE
                      && NvmeStatus.is(status, NvmeStatus.INVALID_NAMESPACE)) {
                    refuse(ErrorCode.UNSUPPORTED, "there is no namespace " + namespace);
                  } else if (!isRefused(status, "identify")) {
                    take(taker, memory);
                  }
                })
            .reading(memory));
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
      AdminRequest.send(admin, new AdminRequest(NvmeCommand::keepAlive, this::signed));
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
