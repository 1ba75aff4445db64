/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/**
 * The right of one writer to append to a node. It is identified by its token, belongs to a client,
 * and lasts while that client renews its leases. Changed by the {@link LeaseTable} and under the
 * node's monitor.
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
  private boolean valueRefused;
  private long endNanos;

  WriteLease(T subject, long token, ClientLeases client, long grantedNanos) {
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
    return !ending && !client.isGone();
  }

  /** True when it has an end of its own, which renewals do not change. Under the node's monitor. */
  public boolean isEnding() {
    return ending;
  }

  /** When it ends. Under the node's monitor. */
  public long endNanos() {
    return ending ? endNanos : client.renewedUntilNanos();
  }

  /** Gives it an end of its own. Under the node's monitor. */
  void endAt(long nanos) {
    ending = true;
    endNanos = nanos;
  }

  /** True when the holder may be writing to the node's space, because it has asked for space. */
  public boolean mayBeWriting() {
    return spaceInUse;
  }

  /** Notes that the holder may be writing to the node's space. Under the node's monitor. */
  public void spaceInUse() {
    spaceInUse = true;
  }

  /** True when the holder was told to write a small value to extents. */
  public boolean isValueRefused() {
    return valueRefused;
  }

  /** Notes that the holder has to write a small value to extents. Under the node's monitor. */
  public void refuseValue() {
    valueRefused = true;
  }
}
