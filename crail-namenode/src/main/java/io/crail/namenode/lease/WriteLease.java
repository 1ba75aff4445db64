/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/**
 * The right of one writer to append to a node. It is identified by its token, belongs to a client,
 * and lasts while that client renews it. Changed by the {@link LeaseTable} under the node's
 * monitor.
 *
 * @param <T> what the lease is for, a node
 */
public final class WriteLease<T> extends Chain.Link {
  private final T subject;
  private final long token;
  private final ClientLeases client;
  private final long grantedNanos;

  private boolean ending;
  // In no record of changes, as the next one: see ADR 46.
  private boolean spaceInUse;
  private long endNanos;

  /** Set by the thread that ends the leases that have run out, before it takes the monitor. */
  private volatile boolean overdue;

  WriteLease(T subject, long token, ClientLeases client, long grantedNanos, long endNanos) {
    this.subject = subject;
    this.token = token;
    this.client = client;
    this.grantedNanos = grantedNanos;
    this.endNanos = endNanos;
  }

  /** The node to which the holder may append. */
  public T subject() {
    return subject;
  }

  public long token() {
    return token;
  }

  public ClientLeases client() {
    return client;
  }

  /** When it was granted. */
  public long grantedNanos() {
    return grantedNanos;
  }

  /** True while the holder may write. Under the node's monitor. */
  public boolean isHeld() {
    return !ending && !overdue;
  }

  /** True when renewals do not change its end any more. Under the node's monitor. */
  public boolean isEnding() {
    return ending;
  }

  /** When it ends. Under the node's monitor, or that of the client. */
  public long endNanos() {
    return endNanos;
  }

  /** Sets its end. Under both monitors. */
  void endAt(long nanos) {
    endNanos = nanos;
  }

  /** The next end is the last one. Under the node's monitor. */
  void renewNoMore() {
    ending = true;
  }

  /** It has run out. Under the client's monitor. */
  void markOverdue() {
    overdue = true;
  }

  /** True when the holder may be writing to the node's space, because it has asked for space. */
  public boolean mayBeWriting() {
    return spaceInUse;
  }

  /** Notes that the holder may be writing to the node's space. Under the node's monitor. */
  public void spaceInUse() {
    spaceInUse = true;
  }
}
