/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

/**
 * The right of one writer to append to a node. It is given by its token, belongs to a client and
 * lasts while that client renews its leases. Changed by the {@link LeaseTable} and under the node's
 * monitor.
 */
final class WriteLease {
  private final Node node;
  private final long token;
  private final ClientLeases client;

  // Links of the client's list; guarded by the client's monitor.
  private WriteLease previous;
  private WriteLease next;
  private boolean linked;

  private boolean ending;
  private boolean spaceInUse;
  private boolean valueRefused;
  private long endNanos;

  WriteLease(Node node, long token, ClientLeases client) {
    this.node = node;
    this.token = token;
    this.client = client;
  }

  Node node() {
    return node;
  }

  long token() {
    return token;
  }

  ClientLeases client() {
    return client;
  }

  /** True while the holder may write. Under the node's monitor. */
  boolean isHeld() {
    return !ending && !client.isGone();
  }

  /** True when it has an end of its own, whatever its client renews. Under the node's monitor. */
  boolean isEnding() {
    return ending;
  }

  /** When it ends. Under the node's monitor. */
  long endNanos() {
    return ending ? endNanos : client.renewedUntilNanos();
  }

  /** Lets it run out at a time of its own. Under the node's monitor. */
  void endAt(long nanos) {
    ending = true;
    endNanos = nanos;
  }

  /** True when its holder may be writing to its space: it has asked for that, or has named it. */
  boolean mayBeWriting() {
    return spaceInUse;
  }

  /** Notes that its holder may be writing to its space. Under the node's monitor. */
  void spaceInUse() {
    spaceInUse = true;
  }

  /** True when its holder was told to write a small value to extents. */
  boolean isValueRefused() {
    return valueRefused;
  }

  /** Notes that its holder has to write a small value to extents. Under the node's monitor. */
  void refuseValue() {
    valueRefused = true;
  }

  WriteLease previous() {
    return previous;
  }

  WriteLease next() {
    return next;
  }

  boolean isLinked() {
    return linked;
  }

  void link(WriteLease newPrevious, WriteLease newNext, boolean nowLinked) {
    previous = newPrevious;
    next = newNext;
    linked = nowLinked;
  }
}
