/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.Subsystem;
import io.crail.protocol.part.Extent;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Sweepable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A target whose namespaces a datanode lends. The datanode keeps a controller there, so that it
 * notices when the target is gone, and keeps reconnecting. It moves no data. Used in the loop,
 * except where said.
 */
final class WatchedTarget implements Sweepable {
  /**
   * A namespace that the datanode has claimed.
   *
   * @param namespace what the target says about it
   * @param wasLent whether clients may know it from an earlier datanode
   */
  record Held(NamespaceData namespace, boolean wasLent) {}

  private static final Logger LOG = LoggerFactory.getLogger(WatchedTarget.class);
  private static final long FIRST_BACK_OFF_NANOS = 1_000_000_000;

  /** Shorter than other datanodes wait for a sign of this one. */
  private static final long LAST_BACK_OFF_NANOS = 2_000_000_000;

  /** Attempts to claim the namespaces for the first time. */
  private static final int FIRST_ATTEMPTS = 4;

  /** The most causes of one outage that are logged. */
  private static final int MOST_CAUSES = 16;

  private static final int LONGEST_BLOCK = Extent.MIN_LENGTH;

  private final ClientLoop loop;
  private final Initiators initiators;
  private final Digests digests;
  private final Subsystem subsystem;
  private final List<Integer> wanted;
  private final ControllerLimits limits;
  private final Claimant claimant;
  private final CompletableFuture<List<Held>> held = new CompletableFuture<>();
  private final List<NamespaceClaim> claims = new ArrayList<>();
  private Controller controller;

  /** As they were at the first connection; null before. */
  private List<NamespaceData> found;

  private boolean allHeld;
  private int failedAttempts;
  private long attemptNanos;

  /** Why the target could not be used since it was lost; what was logged is not logged again. */
  private final Set<String> causes = new HashSet<>();

  private int claimed;
  private int released;
  private boolean connecting;
  private boolean connected;
  private boolean lost;
  private boolean backingOff;
  private long backOffNanos = FIRST_BACK_OFF_NANOS;
  private long againNanos;
  private boolean closed;
  private volatile boolean reached;
  private volatile String failure;

  WatchedTarget(
      ClientLoop loop,
      Initiators initiators,
      Digests digests,
      Subsystem subsystem,
      List<Integer> wanted,
      ControllerLimits limits,
      Claimant claimant) {
    this.loop = loop;
    this.initiators = initiators;
    this.digests = digests;
    this.subsystem = subsystem;
    this.wanted = wanted;
    this.limits = limits;
    this.claimant = claimant;
  }

  /** Connects and claims; {@link #held} says how that ends. For any thread. */
  void start() {
    loop.submit(
        () -> {
          loop.register(this);
          connect();
        });
  }

  /**
   * The namespaces, once they are claimed. Fails when the target refuses, or has answered too late
   * in several attempts. For any thread.
   */
  CompletableFuture<List<Held>> held() {
    return held;
  }

  /** Gives the namespaces back, for other datanodes. For any thread. */
  CompletableFuture<Void> release() {
    CompletableFuture<Void> end = new CompletableFuture<>();
    loop.submit(
        () -> {
          closed = true;
          if (!connected || claims.isEmpty()) {
            end.complete(null);
            return;
          }
          for (NamespaceClaim claim : claims) {
            claim.release(
                () -> {
                  released++;
                  if (released == claims.size()) {
                    end.complete(null);
                  }
                });
          }
        });
    return end;
  }

  @Override
  public String toString() {
    return subsystem.toString();
  }

  /** Whether its namespaces have been seen. For any thread. */
  boolean wasReached() {
    return reached;
  }

  /** Whether all of its namespaces can be used now. For any thread, once they are claimed. */
  boolean isUsable() {
    return claims.stream().allMatch(NamespaceClaim::isUsable);
  }

  /** Why the target can never be used again as it was, or null. For any thread. */
  String failure() {
    return failure;
  }

  private void connect() {
    // So that the loop looks at its connections all the time meanwhile.
    connecting = true;
    attemptNanos = loop.clock().nanoTime();
    loop.operationBegun();
    try {
      controller =
          initiators
              .of(subsystem.transport(), digests)
              .controller(
                  subsystem,
                  // What came to the subsystem later is not lent.
                  found == null ? wanted : found.stream().map(NamespaceData::number).toList(),
                  limits,
                  new Attempt());
    } catch (CrailException e) {
      ended(Printable.line(e.detail()));
      return;
    }
    controller.start();
  }

  private final class Attempt implements Controller.Listener {
    @Override
    public void ready() {
      opened();
    }

    @Override
    public void refused(CrailException cause) {
      ended(Printable.line(cause.detail()));
    }

    @Override
    public void lost(String cause) {
      ended(subsystem + ": " + cause);
    }
  }

  private void connectingEnded() {
    if (connecting) {
      connecting = false;
      loop.operationEnded();
    }
  }

  private void opened() {
    reached = true;
    List<NamespaceData> now = List.copyOf(controller.namespaces());
    for (NamespaceData namespace : now) {
      if (namespace.readOnly() && !allHeld) {
        refuse("namespace " + namespace.number() + " is write protected");
        return;
      }
      if (namespace.blockLength() > LONGEST_BLOCK) {
        refuse(
            "namespace "
                + namespace.number()
                + " has blocks of "
                + namespace.blockLength()
                + " bytes; the most are "
                + LONGEST_BLOCK);
        return;
      }
    }
    String change = change(now);
    if (change != null) {
      refuse("its namespaces are no longer those that were lent: " + change);
      return;
    }
    if (found == null) {
      found = now;
      now.forEach(each -> claims.add(new NamespaceClaim(claimant, loop, new Claimed())));
    }
    if (allHeld) {
      connectingEnded();
    }
    connected = true;
    for (int i = 0; i < now.size(); i++) {
      claims.get(i).connected(controller, now.get(i));
    }
  }

  /** Waits for the claims to all namespaces. */
  private final class Claimed implements NamespaceClaim.Listener {
    @Override
    public void held() {
      claimed++;
      if (claimed == found.size()) {
        connectingEnded();
        allHeld = true;
        List<Held> all = new ArrayList<>();
        for (int i = 0; i < claimed; i++) {
          all.add(new Held(found.get(i), claims.get(i).wasLent()));
        }
        WatchedTarget.this.held.complete(all);
      }
    }

    @Override
    public void renewed() {
      if (lost && isUsable()) {
        lost = false;
        backOffNanos = FIRST_BACK_OFF_NANOS;
        causes.clear();
        LOG.info("{} is there again", subsystem);
      }
    }

    @Override
    public void refused(String why) {
      refuse(why);
    }

    @Override
    public void silent(String why) {
      controller.close(why);
      ended(subsystem + ": " + why);
    }
  }

  /** What has happened to the namespaces that were lent; null when nothing has. */
  private String change(List<NamespaceData> now) {
    for (int i = 0; found != null && i < found.size(); i++) {
      String change =
          i < now.size()
              ? now.get(i).change(found.get(i))
              : "there is no namespace " + found.get(i).number();
      if (change != null) {
        return change;
      }
    }
    return null;
  }

  /** The controller stays, over which the other namespaces are given back. */
  private void refuse(String why) {
    connectingEnded();
    if (failure == null) {
      failure = subsystem + ": " + why;
    }
    closed = true;
    loop.unregister(this);
    held.completeExceptionally(new IllegalStateException(failure));
  }

  private void ended(String cause) {
    connectingEnded();
    boolean wasConnected = connected;
    connected = false;
    claims.forEach(NamespaceClaim::lost);
    if (closed) {
      return;
    }
    long now = loop.clock().nanoTime();
    if (!allHeld && !mayTryAgain(now)) {
      failure = cause;
      closed = true;
      loop.unregister(this);
      held.completeExceptionally(new IllegalStateException(cause));
      return;
    }
    log(cause, wasConnected);
    lost = true;
    backingOff = true;
    againNanos = now + backOffNanos;
    backOffNanos = Math.min(2 * backOffNanos, LAST_BACK_OFF_NANOS);
  }

  /**
   * Whether a first claim that has failed is repeated: when the target was too slow. One that
   * refuses at once would do so again.
   */
  private boolean mayTryAgain(long nowNanos) {
    failedAttempts++;
    boolean slow = found != null || nowNanos - attemptNanos >= limits.timeoutNanos();
    return slow && failedAttempts < FIRST_ATTEMPTS;
  }

  /** Each cause once, until the target is there again. */
  private void log(String cause, boolean wasConnected) {
    if (!allHeld) {
      LOG.warn(
          "{}; its namespaces could not be claimed in attempt {} of {}, and are tried again",
          cause,
          failedAttempts,
          FIRST_ATTEMPTS);
    } else if (causes.size() < MOST_CAUSES && causes.add(cause)) {
      LOG.warn("{}; {}", cause, wasConnected ? "connecting again" : "cannot connect again yet");
    }
  }

  @Override
  public void sweep(long nowNanos) {
    if (backingOff && nowNanos - againNanos >= 0) {
      backingOff = false;
      connect();
    } else if (connected) {
      // One of them may end the connection.
      for (int i = 0; i < claims.size() && connected; i++) {
        claims.get(i).sweep(nowNanos);
      }
    }
  }

  @Override
  public void loopClosing() {
    closed = true;
    connectingEnded();
    if (controller != null) {
      controller.close("the datanode ends");
    }
  }
}
