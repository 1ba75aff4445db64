/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/**
 * The right of one writer to append to a node. It is identified by its token, belongs to a client,
 * and lasts while that client renews it. Changed by the {@link LeaseTable} under the node's
 * monitor.
 *
 * @param <T> what the lease is for, a node
 */
public final class WriteLease<T> extends Term {
  private final T subject;
  private final long token;
  private final ClientLeases client;
  private final long grantedNanos;

  private boolean ending;
  // In no record of changes, as the next one: see ADR 46.
  private boolean spaceInUse;

  WriteLease(T subject, long token, ClientLeases client, long grantedNanos, long endNanos) {
    super(endNanos);
    this.subject = subject;
    this.token = token;
    this.client = client;
    this.grantedNanos = grantedNanos;
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
    return !ending && !isOverdue();
  }

  /** True when renewals do not change its end any more. Under the node's monitor. */
  public boolean isEnding() {
    return ending;
  }

  /** The next end is the last one. Under the node's monitor. */
  void renewNoMore() {
    ending = true;
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
