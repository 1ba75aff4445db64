/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.HeapBudget;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A hash table of nodes that readers search without a lock: open addressing with linear probing,
 * references only, cut into segments that grow one by one. A thread that changes a segment holds
 * its monitor. A reader makes acquire-loads and sees each node either completely or not at all.
 *
 * <p>A reader that runs during a change may miss a node that is being added, or find one that is
 * being removed. It never misses a node that is there all the time: nodes do not move within an
 * array, and a growing segment gets a new array.
 *
 * <p>The upper bits of a hash choose the segment, the lower ones the slot.
 */
public abstract class NodeTable {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Node[].class);

  private static final int SEGMENT_BITS = 8;
  private static final int FIRST_CAPACITY = 16;

  /** Where nodes are expected, a segment gets room for this part more than the others. */
  private static final int SPREAD_PART = 16;

  /** An array of slots; its length is a power of two, and at least half of them are null. */
  private static final class Segment {
    private volatile Node[] slots = new Node[FIRST_CAPACITY];
    // used counts the slots that are not null; live does not count tombstones.
    private int used;
    private int live;
  }

  private final Segment[] segments = new Segment[1 << SEGMENT_BITS];
  private final HeapBudget budget;

  NodeTable(HeapBudget budget) {
    this.budget = budget;
    for (int i = 0; i < segments.length; i++) {
      segments[i] = new Segment();
    }
    budget.add(bytes());
  }

  /** Bytes of its arrays. A segment that is just growing has two. */
  final long bytes() {
    long bytes = 0;
    for (Segment segment : segments) {
      bytes += Footprint.references(segment.slots.length);
    }
    return bytes;
  }

  /** The hash of a node that is in the table. */
  abstract long hash(Node node);

  /** True when both have the same key. */
  abstract boolean sameKey(Node a, Node b);

  /** The array that nodes with this hash are in now. */
  public final Node[] slots(long hash) {
    return segments[(int) (hash >>> (Long.SIZE - SEGMENT_BITS))].slots;
  }

  /** The slot where the search for a hash begins. */
  public static int firstIndex(Node[] slots, long hash) {
    return (int) hash & (slots.length - 1);
  }

  /** The slot after another. */
  public static int nextIndex(Node[] slots, int index) {
    return (index + 1) & (slots.length - 1);
  }

  /** The content of a slot. Null ends a search; a tombstone or another node does not. */
  public static Node at(Node[] slots, int index) {
    return (Node) SLOT.getAcquire(slots, index);
  }

  /** The number of nodes; inexact while other threads change the table. */
  final long size() {
    long size = 0;
    for (Segment segment : segments) {
      synchronized (segment) {
        size += segment.live;
      }
    }
    return size;
  }

  /** Adds a node whose key is not in the table. */
  final void add(Node node) {
    long hash = hash(node);
    Segment segment = segments[(int) (hash >>> (Long.SIZE - SEGMENT_BITS))];
    synchronized (segment) {
      if ((segment.used + 1) * 2 > segment.slots.length) {
        rehash(segment);
      }
      Node[] slots = segment.slots;
      int index = firstIndex(slots, hash);
      int free = -1;
      for (Node other = slots[index]; other != null; other = slots[index]) {
        if (other == Node.TOMBSTONE) {
          free = free < 0 ? index : free;
        } else if (sameKey(other, node)) {
          throw new AssertionError("added twice: " + node);
        }
        index = nextIndex(slots, index);
      }
      if (free < 0) {
        free = index;
        segment.used++;
      }
      SLOT.setRelease(slots, free, node);
      segment.live++;
    }
  }

  /** Makes room for so many nodes more, as if the segments had grown to it. */
  final void expect(long nodes) {
    for (Segment segment : segments) {
      synchronized (segment) {
        long own = segment.live + nodes / segments.length;
        // The nodes are not quite evenly spread.
        long least = 2 * (own + own / SPREAD_PART);
        if (least > segment.slots.length) {
          rehash(segment, least);
        }
      }
    }
  }

  /** Replaces a node by another with the same key. Readers see one or the other. */
  final void replace(Node old, Node replacement) {
    long hash = hash(old);
    Segment segment = segments[(int) (hash >>> (Long.SIZE - SEGMENT_BITS))];
    synchronized (segment) {
      SLOT.setRelease(segment.slots, indexOf(segment, old, hash), replacement);
    }
  }

  /** Removes a node. */
  final void remove(Node node) {
    long hash = hash(node);
    Segment segment = segments[(int) (hash >>> (Long.SIZE - SEGMENT_BITS))];
    synchronized (segment) {
      Node[] slots = segment.slots;
      int index = indexOf(segment, node, hash);
      segment.live--;
      if (slots[nextIndex(slots, index)] != null) {
        SLOT.setRelease(slots, index, Node.TOMBSTONE);
      } else {
        // The next slot is empty, so no search needs this slot or the tombstones directly before
        // it.
        do {
          SLOT.setRelease(slots, index, (Node) null);
          segment.used--;
          index = (index - 1) & (slots.length - 1);
        } while (slots[index] == Node.TOMBSTONE);
      }
      if (slots.length > FIRST_CAPACITY && segment.live * 16 < slots.length) {
        rehash(segment);
      }
    }
  }

  private int indexOf(Segment segment, Node node, long hash) {
    Node[] slots = segment.slots;
    int index = firstIndex(slots, hash);
    for (Node other = slots[index]; other != node; other = slots[index]) {
      if (other == null) {
        throw new AssertionError("not in the table: " + node);
      }
      index = nextIndex(slots, index);
    }
    return index;
  }

  /** Gives the segment a new array that is between a quarter and less than half full. */
  private void rehash(Segment segment) {
    rehash(segment, (segment.live + 1) * 3L);
  }

  private void rehash(Segment segment, long leastCapacity) {
    Node[] old = segment.slots;
    int capacity = FIRST_CAPACITY;
    while (capacity < leastCapacity) {
      capacity *= 2;
    }
    // The next node that needs room notices that the table has grown.
    budget.add(Footprint.references(capacity));
    Node[] fresh = new Node[capacity];
    for (Node node : old) {
      if (node != null && node != Node.TOMBSTONE) {
        int index = firstIndex(fresh, hash(node));
        while (fresh[index] != null) {
          index = nextIndex(fresh, index);
        }
        fresh[index] = node;
      }
    }
    segment.used = segment.live;
    segment.slots = fresh;
    budget.give(Footprint.references(old.length));
  }

  /** Receives the nodes of a walk. */
  public interface Visitor {
    /** Takes a node. Returns false when the walk must stop before it. */
    boolean visit(Node node);
  }

  /**
   * Walks over the nodes, beginning at a cursor; 0 is the beginning. A node that is there from
   * beginning to end is visited once, unless its segment grows in the meantime.
   *
   * @param mostSlots the most places, with or without a node, after which the walk stops too
   * @return the cursor at which to continue, or -1 at the end
   */
  public final long walk(long cursor, long mostSlots, Visitor visitor) {
    long left = mostSlots;
    // A cursor comes from the network, so any value must give a valid index.
    int from = Math.max((int) cursor, 0);
    for (int i = (int) (cursor >>> 32); i < segments.length; i++, from = 0) {
      Node[] slots = segments[i].slots;
      for (int index = from; index < slots.length; index++) {
        Node node = at(slots, index);
        boolean stays = left-- > 0;
        if (!stays || (node != null && node != Node.TOMBSTONE && !visitor.visit(node))) {
          return (long) i << 32 | index;
        }
      }
    }
    return -1;
  }
}
