/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Extents that belong to no node and that somebody may still access, each with the time from which
 * it may be given away: a heap, for waits are of different lengths and none is to hold another up.
 * What rests only since the writer of a node that is gone might still write is let go as soon as
 * that writer says that it does not. Where it says nothing, and its datanode checks no generations,
 * the datanode has to cut it off before. Holds at most the store's capacity in smallest extents.
 * Thread-safe.
 */
public final class Quarantine {
  private static final int FIRST_CAPACITY = 64;

  /** A writer whose lease had not ended with its word when it lost space. */
  public static class Writer {
    private final long node;
    private final long token;
    private final long client;
    // Its extents that rest, linked. Guarded by the quarantine.
    private Rest first;

    public Writer(long node, long token, long client) {
      this.node = node;
      this.token = token;
      this.client = client;
    }

    public long client() {
      return client;
    }
  }

  /** A writer that has an extent for a node that is still to come. */
  public static final class Grant extends Writer {
    private final int storageClass;
    private final boolean strict;
    private final int host;

    /**
     * Creates one.
     *
     * @param id of no node
     * @param storageClass that of the node
     * @param strict whether it takes space of no other
     * @param host where its space should be, as a number of {@link HostNames}
     */
    public Grant(long id, long token, long client, int storageClass, boolean strict, int host) {
      super(id, token, client);
      this.storageClass = storageClass;
      this.strict = strict;
      this.host = host;
    }

    int storageClass() {
      return storageClass;
    }

    int host() {
      return host;
    }

    private boolean isFor(Allocator.Purpose purpose) {
      return storageClass == purpose.storageClass()
          && strict == purpose.strict()
          && host == purpose.host();
    }
  }

  /** An extent that rests. */
  private static final class Rest {
    private final Allocation extent;
    private final long readyNanos;
    private final boolean endsEarly;
    // Who may write to it; null once it has said that it does not.
    private Writer writer;
    private boolean linked;
    private int index;
    private Rest previous;
    private Rest next;

    Rest(Allocation extent, long readyNanos, Writer writer, boolean endsEarly) {
      this.extent = extent;
      this.readyNanos = readyNanos;
      this.writer = writer;
      this.endsEarly = endsEarly;
    }
  }

  private final Map<Long, Writer> writers = new HashMap<>();
  // Whose writers were cut off.
  private final ArrayDeque<Allocation> safe = new ArrayDeque<>();
  private Rest[] heap = new Rest[FIRST_CAPACITY];
  private int count;

  /**
   * Takes an extent whose datanode counts it as waiting.
   *
   * @param writer who may write to it; null for nobody, or where the datanode would refuse that
   * @param maySay whether that writer can still say that it does not
   * @param endsEarly whether the extent is free when it has said so, and need not rest for others
   */
  synchronized void add(
      Allocation extent, long readyAtNanos, Writer writer, boolean maySay, boolean endsEarly) {
    if (count == heap.length) {
      heap = Arrays.copyOf(heap, count * 2);
    }
    Rest rest = new Rest(extent, readyAtNanos, writer, endsEarly);
    up(count++, rest);
    if (writer != null && maySay) {
      rest.linked = true;
      rest.next = writer.first;
      if (writer.first == null) {
        writers.put(writer.node, writer);
      } else {
        writer.first.previous = rest;
      }
      writer.first = rest;
    }
  }

  /**
   * Gives extents back whose time has come.
   *
   * @param most the most extents, so that nobody waits long
   * @return how many there were
   */
  int reclaim(long nowNanos, int most) {
    int reclaimed = 0;
    for (int looked = 0; looked < most; looked++) {
      Allocation extent = pollSafe();
      if (extent != null) {
        extent.region().datanode().giveAwaited(extent);
        reclaimed++;
        continue;
      }
      Rest rest = poll(nowNanos);
      if (rest == null) {
        break;
      }
      reclaimed += timeHasCome(rest, nowNanos) ? 1 : 0;
    }
    return reclaimed;
  }

  /** Gives an extent back, unless somebody has to be cut off before. */
  private static boolean timeHasCome(Rest rest, long nowNanos) {
    DatanodeSpace datanode = rest.extent.region().datanode();
    if (rest.writer instanceof Grant) {
      datanode.lentNoMore(rest.extent);
    }
    if (datanode.cutsOff() && datanode.cutOffs().keep(rest.extent, rest.writer, nowNanos)) {
      return false;
    }
    datanode.giveAwaited(rest.extent);
    return true;
  }

  /** Takes extents that waited for nothing but that their writers were cut off. */
  synchronized void areSafe(List<Allocation> extents) {
    safe.addAll(extents);
  }

  private synchronized Allocation pollSafe() {
    return safe.poll();
  }

  /**
   * Gives back what rests for the sake of a writer that will not write any more; what rests for
   * others, too, goes on resting, and nobody has to be cut off for it.
   */
  void letGo(long node, long token) {
    for (Rest rest = poll(node, token); rest != null; rest = poll(node, token)) {
      DatanodeSpace datanode = rest.extent.region().datanode();
      if (rest.writer instanceof Grant) {
        datanode.lentNoMore(rest.extent);
      }
      datanode.giveAwaited(rest.extent);
    }
  }

  /**
   * Takes out what was given ahead, for the node that has come; its datanode counts it as waiting.
   *
   * @param purpose what the node's space is for
   * @param bytes how many the writer has written to it, or is writing
   * @param offlineNanos how long a datanode may be silent, at most
   * @return null when it is not there any more, or was given for something else
   */
  synchronized Allocation take(
      long grant,
      long token,
      Allocator.Purpose purpose,
      long bytes,
      long nowNanos,
      long offlineNanos) {
    Writer writer = writers.get(grant);
    if (!(writer instanceof Grant given) || writer.token != token || !given.isFor(purpose)) {
      return null;
    }
    Allocation extent = writer.first.extent;
    // What lies at a datanode that is to go, or has gone, is better written once more.
    DatanodeSpace datanode = extent.region().datanode();
    boolean stays =
        datanode.state() == DatanodeSpace.State.ACTIVE
            && datanode.isOnline(nowNanos, offlineNanos)
            && !datanode.isSuspected();
    return stays && bytes <= extent.length() ? remove(writer.first).extent : null;
  }

  /** Writers that can let something go; for tests. */
  synchronized int writers() {
    return writers.size();
  }

  /** Notes the extents that rest; for tests. */
  synchronized void audit(SpaceAudit audit) {
    for (int i = 0; i < count; i++) {
      audit.owned(heap[i].extent, "the quarantine");
    }
    safe.forEach(extent -> audit.owned(extent, "what need not wait any more"));
  }

  /** Bytes that wait at a datanode; for tests. */
  synchronized long bytesOf(DatanodeSpace datanode) {
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      Allocation extent = heap[i].extent;
      bytes += extent.region().datanode() == datanode ? extent.allocatedLength() : 0;
    }
    for (Allocation extent : safe) {
      bytes += extent.region().datanode() == datanode ? extent.allocatedLength() : 0;
    }
    return bytes + datanode.cutOffs().bytes();
  }

  /** Bytes that a datanode has lent; for tests. */
  synchronized long lentOf(DatanodeSpace datanode) {
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      Rest rest = heap[i];
      boolean lent = rest.writer instanceof Grant && rest.extent.region().datanode() == datanode;
      bytes += lent ? rest.extent.allocatedLength() : 0;
    }
    return bytes;
  }

  private synchronized Rest poll(long nowNanos) {
    if (count == 0) {
      return null;
    }
    Rest rest = heap[0];
    boolean lost = rest.extent.region().datanode().state() == DatanodeSpace.State.DEAD;
    return lost || nowNanos - rest.readyNanos >= 0 ? remove(rest) : null;
  }

  private synchronized Rest poll(long node, long token) {
    Writer writer = writers.get(node);
    if (writer == null || writer.token != token) {
      return null;
    }
    Rest rest = writer.first;
    while (rest != null && !rest.endsEarly) {
      unlink(rest);
      rest.writer = null;
      rest = writer.first;
    }
    return rest == null ? null : remove(rest);
  }

  private Rest remove(Rest rest) {
    Rest last = heap[--count];
    heap[count] = null;
    if (last != rest) {
      boolean earlier = last.readyNanos - rest.readyNanos < 0;
      if (earlier) {
        up(rest.index, last);
      } else {
        down(rest.index, last);
      }
    }
    if (count == 0 && heap.length > FIRST_CAPACITY) {
      heap = new Rest[FIRST_CAPACITY];
    }
    if (rest.linked) {
      unlink(rest);
    }
    return rest;
  }

  private void unlink(Rest rest) {
    Writer writer = rest.writer;
    rest.linked = false;
    if (rest.next != null) {
      rest.next.previous = rest.previous;
    }
    if (rest.previous != null) {
      rest.previous.next = rest.next;
    } else {
      writer.first = rest.next;
      if (writer.first == null) {
        writers.remove(writer.node);
      }
    }
  }

  /** Puts what may be ready earlier than those above it at an index or above. */
  private void up(int from, Rest rest) {
    int index = from;
    while (index > 0) {
      int parent = (index - 1) >>> 1;
      if (rest.readyNanos - heap[parent].readyNanos >= 0) {
        break;
      }
      set(index, heap[parent]);
      index = parent;
    }
    set(index, rest);
  }

  /** Puts what may be ready later than those below it at an index or below. */
  private void down(int from, Rest rest) {
    int index = from;
    for (int child = 2 * index + 1; child < count; child = 2 * index + 1) {
      if (child + 1 < count && heap[child + 1].readyNanos - heap[child].readyNanos < 0) {
        child++;
      }
      if (heap[child].readyNanos - rest.readyNanos >= 0) {
        break;
      }
      set(index, heap[child]);
      index = child;
    }
    set(index, rest);
  }

  private void set(int index, Rest rest) {
    heap[index] = rest;
    rest.index = index;
  }
}
