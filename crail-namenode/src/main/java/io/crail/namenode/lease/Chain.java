/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/** A list that is linked through its elements. Not thread-safe. */
final class Chain {
  private Link first;
  private int count;

  /** An element of at most one list. */
  abstract static class Link {
    private Link previous;
    private Link next;
    private boolean linked;
  }

  /** The number of elements. */
  int count() {
    return count;
  }

  /** Any element; null when there is none. */
  Link any() {
    return first;
  }

  /** Adds an element that is in no list. */
  void add(Link link) {
    link.linked = true;
    link.next = first;
    if (first != null) {
      first.previous = link;
    }
    first = link;
    count++;
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
    if (link.next != null) {
      link.next.previous = link.previous;
    }
    link.previous = null;
    link.next = null;
    link.linked = false;
    count--;
    return true;
  }
}
