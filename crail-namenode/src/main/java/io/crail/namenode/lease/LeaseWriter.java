/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/**
 * The only way to end the lease of a node before it runs out. It decides nothing. Only {@code
 * io.crail.namenode.change} uses it, under the node's monitor.
 *
 * @param <T> what the leases are for, a node
 */
public final class LeaseWriter<T> {
  private final LeaseTable<T> leases;

  public LeaseWriter(LeaseTable<T> leases) {
    this.leases = leases;
  }

  /** Ends a lease whose holder is known to have stopped writing, or whose node is gone. */
  public void end(WriteLease<T> lease) {
    leases.end(lease);
  }

  /** A lease that was granted by an earlier start, whatever the limits are now. */
  public WriteLease<T> restore(T subject, long clientId, long token) {
    return leases.restore(subject, clientId, token);
  }

  /** Lets all leases last for their whole time again. */
  public void renewAll() {
    leases.renewAll();
  }

  /** Lets a lease run out a lease time from now, even if its client renews its leases. */
  public void endLater(WriteLease<T> lease) {
    leases.endLater(lease);
  }
}
