/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

import io.crail.common.Utf8;
import io.crail.namenode.memory.Footprint;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The name of a user or group: its number, and how many nodes have it as their owner or group. A
 * name that no node has may be dropped; it is then never held again. Thread-safe.
 */
public final class UserName {
  private static final int DROPPED = -1;

  private final Utf8 text;
  private final int number;
  private final AtomicInteger nodes = new AtomicInteger();

  UserName(Utf8 text, int number) {
    this.text = text;
    this.number = number;
  }

  /** Bytes of heap that a name takes. */
  static long footprint(Utf8 text) {
    return Footprint.object(2, 4)
        + Footprint.object(0, 4)
        + Footprint.object(1, 12)
        + Footprint.bytes(text.length())
        + Footprint.MAP_ENTRY;
  }

  Utf8 text() {
    return text;
  }

  /** Its number. */
  public int number() {
    return number;
  }

  /** Counts one more node. Returns false when the name was dropped. */
  boolean hold() {
    int present;
    do {
      present = nodes.get();
      if (present == DROPPED) {
        return false;
      }
    } while (!nodes.compareAndSet(present, present + 1));
    return true;
  }

  /** Counts one node less. */
  void release() {
    if (nodes.decrementAndGet() < 0) {
      throw new AssertionError("'" + text + "' was released once more than it was held");
    }
  }

  /** Drops the name unless a node has it. */
  boolean drop() {
    return nodes.compareAndSet(0, DROPPED);
  }

  /** The number of nodes; for tests. */
  int nodes() {
    return nodes.get();
  }
}
