/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.SetSize;
import io.crail.rpc.RpcCall;

/**
 * The write lease of one handle. Thread-safe.
 *
 * <ul>
 *   <li><em>None.</em> A stream that is opened acquires a lease under a new token.
 *   <li><em>Kept.</em> A create asked for the lease; its answer may be outstanding. A stream uses
 *       this lease. The lease is given back when no stream is opened for long, when newer leases
 *       push it out of {@link CreatorLeases}, or when another handle of the store wants to write
 *       the node. While the create is unanswered, the node's id is not known, so giving back begins
 *       with the answer.
 *   <li><em>Giving back.</em> From the decision until the namenode has answered. A stream that is
 *       opened waits for the answer first; otherwise the namenode would refuse it because of the
 *       lease on its way back. Without an answer the lease runs out, since it is not renewed.
 *   <li><em>Used</em> by one stream, from the beginning of its opening to its end; only the stream
 *       gives the lease back then. When the stream ends, the lease is given back. The same happens
 *       when the opening of a stream fails and may have brought the lease.
 * </ul>
 */
public final class HandleLease {
  /** The leases of the store that this is one of. Thread-safe. */
  abstract static class Owner {
    /** Notes a lease that is being given back. */
    abstract void leaving(HandleLease lease);

    /** Notes that there is nothing to give back. */
    abstract void left(HandleLease lease);

    /** Notes that a lease has come back. */
    abstract void returned(HandleLease lease);
  }

  private final Owner leases;
  private final String path;
  private final CreateCall create;

  /** The lease that is kept or used; 0 for none. */
  private volatile long token;

  // Guarded by "this".
  private boolean used;

  /** The previous lease, until it is gone. */
  private LeaseReturn back;

  /**
   * The lease of a new handle.
   *
   * @param create the call that creates the node; null for a handle that came from elsewhere
   * @param token what the create asks for; 0 for nothing
   */
  public HandleLease(Owner leases, String path, CreateCall create, long token) {
    this.leases = leases;
    this.path = path;
    this.create = create;
    this.token = token;
  }

  /** By the path, so that a repeated run meets leases in the same order. */
  @Override
  public int hashCode() {
    return path.hashCode();
  }

  /**
   * The node's id. It is 0 while the create has no answer, after the create has failed, and when
   * there is no create and nothing is given back.
   */
  private synchronized long knownId() {
    if (create == null) {
      return back == null ? 0 : back.id();
    }
    return create.isComplete() && !create.isFailed() ? create.node().id() : 0;
  }

  /** Whether the node is known to be there. */
  boolean isNodeKnown() {
    return knownId() != 0;
  }

  /** True when the create of the node was sent before a time. */
  boolean createdBefore(long nanos) {
    return create.sentNanos() - nanos < 0;
  }

  /** The lease that a stream can use at once or uses; 0 for none. */
  public long token() {
    return token;
  }

  /** True while a stream is open or being opened. */
  public synchronized boolean isUsed() {
    return used;
  }

  /**
   * Begins to open a stream; waits until an earlier lease is gone.
   *
   * @throws CrailException with WRITE_LEASE_HELD when a stream is open, or the error of giving the
   *     earlier lease back
   */
  public void beginUse() throws CrailException, InterruptedException {
    LeaseReturn before;
    synchronized (this) {
      if (used) {
        throw ErrorCode.WRITE_LEASE_HELD.exception(
            path + ": this handle has an output stream open");
      }
      used = true;
      before = back;
    }
    if (before != null) {
      try {
        before.tried().awaitGone();
      } catch (CrailException | InterruptedException | RuntimeException e) {
        endUse();
        throw e;
      }
    }
  }

  /** A stream is opened as soon as the node is created. Only for a handle that no user has yet. */
  public synchronized void useAtOnce() {
    used = true;
  }

  /** The stream that is being opened has acquired a lease. */
  public void acquired(long newToken) {
    token = newToken;
  }

  /**
   * The stream that is being opened has no lease, whatever the handle kept before.
   *
   * @param wanted the lease that it asked for. If there was no answer, the namenode may have
   *     granted it, and the next stream asks for the same one
   */
  public void notAcquired(CrailException failure, long wanted) {
    boolean isUnknown =
        failure.code() == ErrorCode.TIMED_OUT || failure.code() == ErrorCode.UNAVAILABLE;
    token = isUnknown ? wanted : 0;
  }

  /** The opening of the stream was given up before the answer: gives the lease back with it. */
  public void givenUp(LoopContext context, RpcCall acquire, long id, long wanted) {
    LeaseReturn unwanted =
        new LeaseReturn(
            context, path, acquire, id, wanted, 0, SetSize.END, SmallValue.NONE, this::returned);
    synchronized (this) {
      giveBack(unwanted);
    }
    unwanted.tried();
  }

  /** The stream could not be opened. */
  public synchronized void endUse() {
    used = false;
  }

  /**
   * The stream has ended.
   *
   * @param leaseReturn gives its lease back, and has been begun
   */
  public void endUse(LeaseReturn leaseReturn) {
    synchronized (this) {
      used = false;
      token = 0;
      if (!leaseReturn.isGone()) {
        giveBack(leaseReturn);
      }
    }
    if (leaseReturn.isGone()) {
      // The lease may have come back before this noted it.
      returned(leaseReturn);
    }
  }

  /** The stream has ended, and the namenode has ended its lease. */
  public synchronized void leaseEnded() {
    used = false;
    token = 0;
  }

  /** Under the monitor. */
  private void giveBack(LeaseReturn lease) {
    token = 0;
    back = lease;
    leases.leaving(this);
  }

  /** A lease is gone. */
  public void returned(LeaseReturn lease) {
    synchronized (this) {
      if (back == lease) {
        back = null;
        leases.returned(this);
      }
    }
  }

  /** As {@link #giveBack()}, for another handle of the node. */
  LeaseReturn.Try giveBackFor(long wantedId, String wantedPath) {
    long known = knownId();
    boolean same = known != 0 ? known == wantedId : path.equals(wantedPath);
    return same ? giveBack() : null;
  }

  /**
   * Gives back a lease that no stream uses.
   *
   * @return the try, which may have begun before; null when there is nothing to give back
   */
  public LeaseReturn.Try giveBack() {
    LeaseReturn giving;
    synchronized (this) {
      if (back == null) {
        if (used || token == 0 || create == null || create.isFailed()) {
          leases.left(this);
          return null;
        }
        giveBack(
            new LeaseReturn(
                create.context(),
                path,
                create,
                0,
                token,
                0,
                SetSize.END,
                SmallValue.NONE,
                this::returned));
      }
      giving = back;
    }
    return giving.tried();
  }
}
