/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/** A queue that is linked through its elements, any of which can leave. Not thread-safe. */
final class Chain {
  private Link first;
  private Link last;

  /** An element of at most one queue. */
  abstract static class Link {
    private Link previous;
    private Link next;
    private boolean linked;

    /** Whether it is in a queue. */
    final boolean isLinked() {
      return linked;
    }
  }

  /** The element that was added first; null when there is none. */
  Link first() {
    return first;
  }

  /** Adds an element that is in no queue. */
  void add(Link link) {
    link.linked = true;
    link.previous = last;
    if (last == null) {
      first = link;
    } else {
      last.next = link;
    }
    last = link;
  }

  /** Removes an element. Returns false when it was already removed. */
  boolean remove(Link link) {
    if (!link.linked) {
      return false;
    }
    if (link.previous == null) {
      first = link.next;
    } else {
      link.previous.next = link.next;
    }
    if (link.next == null) {
      last = link.previous;
    } else {
      link.next.previous = link.previous;
    }
    link.previous = null;
    link.next = null;
    link.linked = false;
    return true;
  }
}
