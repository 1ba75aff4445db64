/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.RenewLeases;
import io.crail.rpc.loop.Sweepable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps the write leases of a store alive while it has output streams open. One renewal per
 * namenode covers many leases. {@link #tick} decides; a timer of the store and the sweeps of a loop
 * call it. Thread-safe.
 *
 * <p>The client counts the time of a lease from when it sent the request that acquired or renewed
 * the lease, by its own clock. So the lease ends here before it ends at the namenode. A renewal
 * prolongs the leases that it named and that still last when its answer comes. A lease that ran out
 * before is lost for good, since another client may have had the lease in between.
 *
 * <p>Other clients delete and replace files that are being written. The answer to a renewal says
 * which of the named leases are gone. No later answer renews these, in whatever order answers come,
 * and their terms end before the namenode gives the space to another node. Neither side has to
 * remember anything for that, so nothing is lost when an answer is lost.
 *
 * <p>A restarted namenode knows no lease from before, and its handshake tells another incarnation.
 * So a lease that another incarnation granted is lost, and no renewal counts for it.
 */
public final class WriteLeases implements Sweepable {
  /**
   * Renewals in the time of a lease. Each is given up when the next is due, so that one may be lost
   * with the connection that it was sent on.
   */
  private static final int RENEWALS_PER_LEASE = 3;

  private final LoopContext context;
  private final CreatorLeases creatorLeases;
  private final Runnable eachTick;
  private final AtNamenode[] namenodes;
  private final AtomicInteger open = new AtomicInteger();

  /** The leases at one namenode. */
  private static final class AtNamenode {
    final Set<Held> held = ConcurrentHashMap.newKeySet();
    final AtomicInteger open = new AtomicInteger();

    /** Parts of a renewal that have not ended. */
    final AtomicInteger asking = new AtomicInteger();

    /** When the next renewal is to be sent. */
    final AtomicLong dueNanos = new AtomicLong();

    volatile long leaseNanos;

    /**
     * The incarnation of the last handshake, on any loop. Leases of another incarnation are lost.
     */
    volatile long incarnation;

    long pauseNanos() {
      return leaseNanos / RENEWALS_PER_LEASE;
    }
  }

  WriteLeases(LoopContext context, CreatorLeases creatorLeases, Runnable eachTick) {
    this.context = context;
    this.creatorLeases = creatorLeases;
    this.eachTick = eachTick;
    this.namenodes = new AtNamenode[context.namenodes().count()];
    for (int i = 0; i < namenodes.length; i++) {
      namenodes[i] = new AtNamenode();
    }
  }

  /** True while an output stream is open. */
  boolean areHeld() {
    return open.get() > 0;
  }

  /** The number of leases of open streams. */
  public int count() {
    return open.get();
  }

  /** How long the timer may sleep after a tick. */
  long tickNanos(long nowNanos) {
    long shortest = Long.MAX_VALUE;
    for (AtNamenode namenode : namenodes) {
      if (namenode.open.get() > 0) {
        // Another stream may make the renewal due earlier.
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
   * @param token its lease
   * @param acquiredNanos when its lease was asked for
   * @param incarnation which start of its namenode has granted it
   */
  public Held opened(long id, long token, long acquiredNanos, long leaseNanos, long incarnation) {
    AtNamenode namenode = namenodes[(int) Long.remainderUnsigned(id, namenodes.length)];
    namenode.leaseNanos = leaseNanos;
    Held lease =
        new Held(
            namenode, new RenewLeases.Lease(id, token), incarnation, acquiredNanos + leaseNanos);
    // First: a renewal that does not name this lease was then sent before the next one is made due.
    namenode.held.add(lease);
    long dueNanos = acquiredNanos + namenode.pauseNanos();
    if (namenode.open.getAndIncrement() == 0) {
      namenode.dueNanos.set(dueNanos);
    } else {
      // The lease of a created node is not new when a stream first uses it.
      namenode.dueNanos.accumulateAndGet(dueNanos, (a, b) -> a - b < 0 ? a : b);
    }
    open.incrementAndGet();
    // After the lease was added: either the handshake finds the lease, or the lease finds the
    // handshake.
    lease.knownBy(namenode.incarnation, acquiredNanos);
    return lease;
  }

  /** Namenode {@code index} has answered a handshake, on any loop of the store. */
  public void greeted(int index, Hello.Response hello) {
    AtNamenode namenode = namenodes[index];
    if (namenode.incarnation != hello.incarnation()) {
      namenode.incarnation = hello.incarnation();
      long now = context.nanoTime();
      for (Held lease : namenode.held) {
        lease.knownBy(hello.incarnation(), now);
      }
    }
  }

  /** Why a lease is lost. */
  private enum Loss {
    OVERDUE(ErrorCode.WRITE_LEASE_LOST, ": the lease could not be renewed in time"),
    RESTART(ErrorCode.WRITE_LEASE_LOST, ": the namenode that gave the lease was restarted"),
    ENDED(ErrorCode.WRITE_LEASE_LOST, ": the namenode has ended the lease"),
    GONE(ErrorCode.STALE_NODE, " while it was being written");

    private final ErrorCode code;
    private final String how;

    Loss(ErrorCode code, String how) {
      this.code = code;
      this.how = how;
    }
  }

  /** The lease of one open stream. */
  public final class Held implements AutoCloseable {
    private final AtNamenode namenode;
    private final RenewLeases.Lease lease;
    private final long incarnation;
    private volatile long validUntilNanos;
    private volatile Loss loss;
    private boolean closed;

    private Held(
        AtNamenode namenode, RenewLeases.Lease lease, long incarnation, long validUntilNanos) {
      this.namenode = namenode;
      this.lease = lease;
      this.incarnation = incarnation;
      this.validUntilNanos = validUntilNanos;
    }

    /** By the token, so that a repeated run meets the leases in the same order. */
    @Override
    public int hashCode() {
      return Long.hashCode(lease.token());
    }

    /** False when the lease may have run out; it does not become valid again. */
    public boolean isValid(long nowNanos) {
      if (loss != null) {
        return false;
      }
      if (nowNanos - validUntilNanos < 0) {
        return true;
      }
      return !expires(nowNanos);
    }

    /**
     * The error of an operation that needs the lease.
     *
     * @param path the file that is written
     */
    public CrailException loss(String path) {
      Loss known = loss;
      return known.code.exception(path + known.how);
    }

    /**
     * Until when operations begun under the lease may continue, if the lease is not renewed again.
     */
    public long validUntilNanos() {
      return validUntilNanos;
    }

    private synchronized boolean expires(long nowNanos) {
      if (loss == null && nowNanos - validUntilNanos >= 0) {
        loss = Loss.OVERDUE;
      }
      return loss != null;
    }

    /** Notes an incarnation of the namenode, which knows only its own leases. */
    private synchronized void knownBy(long other, long lostNanos) {
      if (other != incarnation && loss == null) {
        loss = Loss.RESTART;
        validUntilNanos = lostNanos;
      }
    }

    /** The namenode has renewed this lease when it was asked at a time. */
    private synchronized void renewed(long sentNanos, long leaseNanos, long nowNanos) {
      if (closed || expires(nowNanos)) {
        return;
      }
      long until = sentNanos + leaseNanos;
      if (until - validUntilNanos > 0) {
        validUntilNanos = until;
      }
    }

    /**
     * The namenode has said that the lease is gone. It keeps the space free until the time that
     * this lease was good for, so writes in flight may end.
     */
    private synchronized void refused(ErrorCode why, long nowNanos) {
      if (!closed && !expires(nowNanos)) {
        loss = why == ErrorCode.STALE_NODE ? Loss.GONE : Loss.ENDED;
      }
    }

    /** Ends the renewals: the stream is closed, or its node removed. */
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
    eachTick.run();
    if (open.get() == 0) {
      return;
    }
    for (int i = 0; i < namenodes.length; i++) {
      AtNamenode namenode = namenodes[i];
      if (namenode.open.get() > 0
          && nowNanos - namenode.dueNanos.get() >= 0
          && namenode.asking.compareAndSet(0, 1)) {
        renew(i, namenode, nowNanos);
      }
    }
  }

  private void renew(int index, AtNamenode namenode, long nowNanos) {
    namenode.dueNanos.set(nowNanos + namenode.pauseNanos());
    // They would run out, and then their space would have to rest.
    creatorLeases.releaseOlderThan(nowNanos - namenode.leaseNanos / 2);
    List<Held> all = namenode.held.stream().filter(held -> held.loss == null).toList();
    for (int from = 0; from < all.size(); from += RenewLeases.MAX_LEASES) {
      int to = Math.min(all.size(), from + RenewLeases.MAX_LEASES);
      namenode.asking.incrementAndGet();
      new Renewal(index, all.subList(from, to), nowNanos).submit();
    }
    partEnded(namenode);
  }

  private void partEnded(AtNamenode namenode) {
    if (namenode.asking.decrementAndGet() == 0) {
      // When this renewal was lost, the next one is due already.
      tick(context.nanoTime());
    }
  }

  /** Renews some of the leases at a namenode. */
  private final class Renewal extends OperationCall<RenewLeases.Request, RenewLeases.Response> {
    private final int index;
    private final AtNamenode namenode;
    private final List<Held> named;
    private final long sentNanos;

    Renewal(int index, List<Held> named, long sentNanos) {
      super(NameNodeOperations.RENEW_LEASES);
      this.index = index;
      this.namenode = namenodes[index];
      this.named = named;
      this.sentNanos = sentNanos;
      List<RenewLeases.Lease> leases = new ArrayList<>(named.size());
      for (Held held : named) {
        leases.add(held.lease);
      }
      prepare(
          context.namenodes().peer(index),
          new RenewLeases.Request(leases),
          sentNanos + Math.min(context.rpcTimeoutNanos(), namenode.pauseNanos()));
    }

    @Override
    protected void completed() {
      if (failure() == null) {
        apply(response().lost(), context.namenodes().hello(index).incarnation());
      }
      partEnded(namenode);
    }

    private void apply(List<RenewLeases.Lost> lost, long incarnation) {
      long now = context.nanoTime();
      for (Held held : named) {
        held.knownBy(incarnation, now);
      }
      for (RenewLeases.Lost each : lost) {
        if (each.index() >= named.size()) {
          // The answer makes no sense, so it says nothing about any lease.
          return;
        }
        named.get(each.index()).refused(ErrorCode.of(each.error()), now);
      }
      // After the lost ones: a lease that is lost is not renewed.
      for (Held held : named) {
        held.renewed(sentNanos, namenode.leaseNanos, now);
      }
    }
  }
}
