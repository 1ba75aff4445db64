/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.protocol.Hello;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.RenewLeases;
import io.crail.rpc.ClientLoop;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps the write leases of a store alive while it has output streams open, one renewal per
 * namenode for all of them. {@link #tick} decides; a timer of the store and the sweeps of a loop
 * call it. Thread-safe.
 *
 * <p>A lease lasts from when the request was sent that acquired or renewed it, by the clock of the
 * client, so that it ends here before it ends at the namenode. A renewal prolongs the leases that
 * still last when its answer comes; one that has run out before is lost for good, for meanwhile
 * somebody else may have had it.
 *
 * <p>A namenode that was restarted knows no lease from before, and says so by another incarnation
 * in its handshake: whatever lease another incarnation has granted is lost, and no renewal is taken
 * for it.
 */
final class WriteLeases implements ClientLoop.Sweepable {
  /**
   * Renewals in the time of a lease. Each is given up when the next is due, so that one may be lost
   * with the connection that it was sent on.
   */
  private static final int RENEWALS_PER_LEASE = 3;

  private final LoopContext context;
  private final long clientId;
  private final CreatorLeases creatorLeases;
  private final AtNamenode[] namenodes;
  private final AtomicInteger open = new AtomicInteger();

  /** The leases at one namenode. */
  private static final class AtNamenode {
    final Set<Held> held = ConcurrentHashMap.newKeySet();
    final AtomicInteger open = new AtomicInteger();
    final AtomicBoolean asking = new AtomicBoolean();

    /** When the next renewal is to be sent. */
    final AtomicLong dueNanos = new AtomicLong();

    volatile long leaseNanos;

    /** Of the last handshake, on whichever loop; leases of another one are lost. */
    volatile long incarnation;

    long pauseNanos() {
      return leaseNanos / RENEWALS_PER_LEASE;
    }
  }

  WriteLeases(LoopContext context, long clientId, CreatorLeases creatorLeases) {
    this.context = context;
    this.clientId = clientId;
    this.creatorLeases = creatorLeases;
    this.namenodes = new AtNamenode[context.namenodes().count()];
    for (int i = 0; i < namenodes.length; i++) {
      namenodes[i] = new AtNamenode();
    }
  }

  /** True while an output stream is open. */
  boolean areHeld() {
    return open.get() > 0;
  }

  /** How long the timer may sleep after a tick. */
  long tickNanos(long nowNanos) {
    long shortest = Long.MAX_VALUE;
    for (AtNamenode namenode : namenodes) {
      if (namenode.open.get() > 0) {
        // Another stream may make it due earlier meanwhile.
        long most = namenode.pauseNanos() / 2;
        long left = namenode.dueNanos.get() - nowNanos;
        shortest = Math.min(shortest, left > 0 && left < most ? left : most);
      }
    }
    return shortest;
  }

  /**
   * Counts a stream that was opened.
   *
   * @param id its node
   * @param acquiredNanos when its lease was asked for
   * @param incarnation which start of its namenode has granted it
   */
  Held opened(long id, long acquiredNanos, long leaseNanos, long incarnation) {
    AtNamenode namenode = namenodes[(int) Long.remainderUnsigned(id, namenodes.length)];
    namenode.leaseNanos = leaseNanos;
    long dueNanos = acquiredNanos + namenode.pauseNanos();
    if (namenode.open.getAndIncrement() == 0) {
      namenode.dueNanos.set(dueNanos);
    } else {
      // The lease of a created node is not new when a stream first uses it.
      namenode.dueNanos.accumulateAndGet(dueNanos, (a, b) -> a - b < 0 ? a : b);
    }
    open.incrementAndGet();
    Held lease = new Held(namenode, incarnation, context.nanoTime(), acquiredNanos + leaseNanos);
    namenode.held.add(lease);
    // In this order: a handshake finds the lease, or the lease the handshake.
    lease.knownBy(namenode.incarnation, acquiredNanos);
    return lease;
  }

  /** Namenode {@code index} has answered a handshake, on any loop of the store. */
  void greeted(int index, Hello.Response hello) {
    AtNamenode namenode = namenodes[index];
    if (namenode.incarnation != hello.incarnation()) {
      namenode.incarnation = hello.incarnation();
      long now = context.nanoTime();
      for (Held lease : namenode.held) {
        lease.knownBy(hello.incarnation(), now);
      }
    }
  }

  /** The lease of one open stream. */
  final class Held implements AutoCloseable {
    private final AtNamenode namenode;
    private final long incarnation;
    private final long openedNanos;
    private volatile long validUntilNanos;
    private volatile boolean lost;
    private boolean closed;
    private volatile boolean unknown;

    private Held(AtNamenode namenode, long incarnation, long openedNanos, long validUntilNanos) {
      this.namenode = namenode;
      this.incarnation = incarnation;
      this.openedNanos = openedNanos;
      this.validUntilNanos = validUntilNanos;
    }

    /** False when the lease may have run out; it does not become valid again. */
    boolean isValid(long nowNanos) {
      if (lost) {
        return false;
      }
      if (nowNanos - validUntilNanos < 0) {
        return true;
      }
      return !expires(nowNanos);
    }

    /** Why it is lost. */
    String loss() {
      return unknown
          ? "the namenode that gave the lease was restarted"
          : "the lease could not be renewed in time";
    }

    /** Until when the lease lasts if it is not renewed again; past once it is known to be lost. */
    long validUntilNanos() {
      return validUntilNanos;
    }

    private synchronized boolean expires(long nowNanos) {
      if (nowNanos - validUntilNanos >= 0) {
        lost = true;
      }
      return lost;
    }

    /** An incarnation of the namenode was heard of: it knows its own leases only. */
    private synchronized void knownBy(long other, long lostNanos) {
      if (other != incarnation && !lost) {
        unknown = true;
        lost = true;
        validUntilNanos = lostNanos;
      }
    }

    /** The namenode has renewed what was sent to it at a time. */
    private synchronized void renewed(long sentNanos, long leaseNanos, long nowNanos) {
      if (closed || expires(nowNanos)) {
        return;
      }
      long until = sentNanos + leaseNanos;
      if (until - validUntilNanos > 0) {
        validUntilNanos = until;
      }
    }

    /** The namenode knew of no lease after a time. */
    private synchronized void unknownAt(long sentNanos) {
      // A lease that was acquired while the question was under way may be younger than the answer.
      if (openedNanos - sentNanos < 0) {
        lost = true;
        validUntilNanos = sentNanos;
      }
    }

    /** The lease is renewed no more; the stream is closed, or its node removed. */
    @Override
    public void close() {
      synchronized (this) {
        if (closed) {
          return;
        }
        closed = true;
      }
      namenode.held.remove(this);
      namenode.open.decrementAndGet();
      open.decrementAndGet();
    }
  }

  @Override
  public void sweep(long nowNanos) {
    tick(nowNanos);
  }

  /** Sends the renewals that are due. */
  void tick(long nowNanos) {
    if (open.get() == 0) {
      return;
    }
    for (int i = 0; i < namenodes.length; i++) {
      AtNamenode namenode = namenodes[i];
      if (namenode.open.get() > 0
          && nowNanos - namenode.dueNanos.get() >= 0
          && namenode.asking.compareAndSet(false, true)) {
        renew(i, namenode, nowNanos);
      }
    }
  }

  private void renew(int index, AtNamenode namenode, long nowNanos) {
    namenode.dueNanos.set(nowNanos + namenode.pauseNanos());
    // A renewal is for all leases of this client; those that nobody uses are not to live by it.
    creatorLeases.releaseOlderThan(nowNanos - namenode.leaseNanos / 2);
    OperationCall<RenewLeases.Request, RenewLeases.Response> call =
        new OperationCall<>(NameNodeOperations.RENEW_LEASES);
    call.prepare(
        context.namenodes().peer(index),
        new RenewLeases.Request(clientId),
        nowNanos + Math.min(context.rpcTimeoutNanos(), namenode.pauseNanos()));
    call.whenComplete(
        () -> {
          if (call.failure() == null) {
            long incarnation = context.namenodes().hello(index).incarnation();
            renewed(namenode, incarnation, nowNanos, call.response().leases());
          }
          namenode.asking.set(false);
          // The next one is due already when this one was lost.
          tick(context.nanoTime());
        });
    call.submit();
  }

  private void renewed(AtNamenode namenode, long incarnation, long sentNanos, int leases) {
    long now = context.nanoTime();
    for (Held lease : namenode.held) {
      if (lease.incarnation != incarnation) {
        lease.knownBy(incarnation, now);
      } else if (leases == 0) {
        lease.unknownAt(sentNanos);
      } else {
        lease.renewed(sentNanos, namenode.leaseNanos, now);
      }
    }
  }
}
