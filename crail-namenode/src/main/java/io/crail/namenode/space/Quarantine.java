/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.NodeSpace.Allocation;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Extents that belong to no node, but that a client may still access. Each has the time from which
 * it may be given out again. They are in a heap, since waits have different lengths and none may
 * delay another. An extent may rest only because the writer of a removed node might still write to
 * it. It becomes free as soon as that writer reports that it does not. If the writer reports
 * nothing and the datanode does not check generations, the datanode must cut the writer off first.
 * Holds at most the store's capacity in smallest extents. Thread-safe.
 */
public final class Quarantine {
  private static final int FIRST_CAPACITY = 64;

  /** Bytes of heap that a writer takes that can still release extents. */
  public static final long WRITER_FOOTPRINT = Footprint.object(1, 36) + Footprint.MAP_ENTRY;

  /** A writer that lost space before it had ended its lease. */
  public static class Writer {
    private final long node;
    private final long token;
    private final long client;
    // The list of its resting extents. Guarded by the quarantine.
    private Rest first;

    public Writer(long node, long token, long client) {
      this.node = node;
      this.token = token;
      this.client = client;
    }

    /** The id of the node, or that of a grant. */
    public long node() {
      return node;
    }

    public long token() {
      return token;
    }

    public long client() {
      return client;
    }
  }

  /** A writer that has an extent for a copy, which no node has yet. */
  public static final class Grant extends Writer {
    private final int storageClass;
    private final int host;

    /**
     * Creates a grant.
     *
     * @param id its id, which is the id of no node
     * @param storageClass the storage class of the space, which the copy must stay in
     * @param host the preferred host, as a number of {@link HostNames}
     */
    public Grant(long id, long token, long client, int storageClass, int host) {
      super(id, token, client);
      this.storageClass = storageClass;
      this.host = host;
    }

    public int storageClass() {
      return storageClass;
    }

    public int host() {
      return host;
    }

    private boolean isFor(Purpose purpose) {
      return storageClass == purpose.storageClass() && host == purpose.host();
    }
  }

  /** An extent that rests. */
  private static final class Rest {
    private final Allocation extent;
    private final long readyNanos;
    private final boolean endsEarly;
    // The client that may write to it; null once that client has reported that it does not.
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

  private final HeapBudget budget;
  private final Map<Long, Writer> writers = new HashMap<>();
  private final ConcurrentHashMap<DatanodeSpace, CutOffs> cutOffs = new ConcurrentHashMap<>();
  // Extents whose writers were cut off.
  private final ArrayDeque<Allocation> safe = new ArrayDeque<>();
  private final ReturnedSpace returned = new ReturnedSpace();
  private volatile long lastCutOffNumber;
  private Rest[] heap = new Rest[FIRST_CAPACITY];
  private int count;

  public Quarantine(HeapBudget budget) {
    this.budget = budget;
  }

  /** What need not rest any more. */
  ReturnedSpace returned() {
    return returned;
  }

  /** The clients that a datanode must cut off before their space is given to others. */
  CutOffs cutOffs(DatanodeSpace datanode) {
    return cutOffs.computeIfAbsent(datanode, any -> new CutOffs(lastCutOffNumber));
  }

  /** Numbers the lists of clients to cut off from here on; none may have been handed out. */
  void numberCutOffsAfter(long number) {
    lastCutOffNumber = number;
    cutOffs.values().forEach(each -> each.numberAfter(number));
  }

  /** Forgets a datanode that has no space any more. */
  void forget(DatanodeSpace datanode) {
    cutOffs.remove(datanode);
  }

  /**
   * Takes an extent whose datanode counts it as waiting.
   *
   * @param writer the writer that may still write to it; null when there is none, or when the
   *     datanode refuses its writes
   * @param canReport whether the writer can still report that it does not write
   * @param endsEarly whether the extent is free after this report and need not rest for other
   *     clients
   */
  synchronized void add(
      Allocation extent, long readyAtNanos, Writer writer, boolean canReport, boolean endsEarly) {
    if (count == heap.length) {
      heap = Arrays.copyOf(heap, count * 2);
    }
    Rest rest = new Rest(extent, readyAtNanos, writer, endsEarly);
    up(count++, rest);
    if (writer != null && canReport) {
      rest.linked = true;
      rest.next = writer.first;
      if (writer.first == null) {
        writers.put(writer.node, writer);
        budget.add(WRITER_FOOTPRINT);
      } else {
        writer.first.previous = rest;
      }
      writer.first = rest;
    }
  }

  /**
   * Frees extents whose time has come.
   *
   * @param most the most extents to look at, so that other threads do not wait long
   * @return the number of freed extents
   */
  int reclaim(long nowNanos, int most) {
    int reclaimed = 0;
    for (int looked = 0; looked < most; looked++) {
      Allocation extent = pollSafe();
      if (extent != null) {
        returned.freeAwaited(extent);
        reclaimed++;
        continue;
      }
      Rest rest = poll(nowNanos);
      if (rest == null) {
        break;
      }
      reclaimed += timeHasCome(rest, nowNanos) ? 1 : 0;
    }
    return reclaimed + returned.reclaim(most);
  }

  /** Frees an extent, unless a client must be cut off first. */
  private boolean timeHasCome(Rest rest, long nowNanos) {
    DatanodeSpace datanode = rest.extent.datanode();
    if (rest.writer instanceof Grant) {
      datanode.endGrant(rest.extent.allocatedLength());
    }
    Long client = rest.writer == null ? null : (Long) rest.writer.client();
    if (datanode.cutsOff() && cutOffs(datanode).keep(rest.extent, client, nowNanos)) {
      return false;
    }
    returned.freeAwaited(rest.extent);
    return true;
  }

  /** Takes extents that waited only until their writers were cut off. */
  synchronized void areSafe(List<Allocation> extents) {
    safe.addAll(extents);
  }

  private synchronized Allocation pollSafe() {
    return safe.poll();
  }

  /**
   * Frees the extents that rest only because of a writer that will not write any more. Extents that
   * also rest for other clients keep resting, but this writer need not be cut off from them.
   */
  void letGo(long node, long token) {
    for (Rest rest = poll(node, token); rest != null; rest = poll(node, token)) {
      if (rest.writer instanceof Grant) {
        rest.extent.datanode().endGrant(rest.extent.allocatedLength());
      }
      returned.freeAwaited(rest.extent);
    }
  }

  /** A granted extent; null when it is granted no longer. */
  synchronized Allocation granted(long grant, long token) {
    Writer writer = writers.get(grant);
    return writer instanceof Grant && writer.token == token ? writer.first.extent : null;
  }

  /**
   * Removes and returns a granted extent, since a node now has it. Its datanode still counts it as
   * waiting.
   *
   * @param purpose the purpose of the node's space
   * @param bytes bytes that the writer has written to it
   * @param isOnline whether a datanode is alive
   * @return null when the extent is granted no longer, or was granted for another purpose
   */
  synchronized Allocation take(
      long grant, long token, Purpose purpose, long bytes, Predicate<DatanodeSpace> isOnline) {
    Writer writer = writers.get(grant);
    if (!(writer instanceof Grant given) || writer.token != token || !given.isFor(purpose)) {
      return null;
    }
    Allocation extent = writer.first.extent;
    // If the datanode is being removed or is gone, it is better to write the bytes again elsewhere.
    DatanodeSpace datanode = extent.datanode();
    boolean stays =
        datanode.state() == DatanodeSpace.State.ACTIVE
            && isOnline.test(datanode)
            && !datanode.signs().isAskedLast();
    return stays && bytes <= extent.length() ? remove(writer.first).extent : null;
  }

  /** The number of writers that can still release extents; for tests. */
  synchronized int writers() {
    return writers.size();
  }

  /** The number of extents that rest; for tests. */
  synchronized int extents() {
    return count + safe.size() + returned.extents();
  }

  /** Visits the extents that rest, each with the client that may write to it; null for none. */
  synchronized void forEach(BiConsumer<Allocation, Writer> visitor) {
    for (int i = 0; i < count; i++) {
      visitor.accept(heap[i].extent, heap[i].writer);
    }
    safe.forEach(extent -> visitor.accept(extent, null));
    returned.forEach(extent -> visitor.accept(extent, null));
    cutOffs
        .values()
        .forEach(
            orders ->
                orders.forEach(
                    (extent, client) -> visitor.accept(extent, new Writer(0, 1, client))));
  }

  /** Notes the extents that rest; for tests. */
  synchronized void audit(SpaceAudit audit) {
    forEach((extent, writer) -> extent.audit(audit, "the quarantine"));
  }

  /** Bytes that wait at a datanode; for tests. */
  synchronized long bytesOf(DatanodeSpace datanode) {
    long[] bytes = {cutOffs(datanode).bytes()};
    Consumer<Allocation> add =
        extent -> bytes[0] += extent.datanode() == datanode ? extent.allocatedLength() : 0;
    for (int i = 0; i < count; i++) {
      add.accept(heap[i].extent);
    }
    safe.forEach(add);
    returned.forEach(add);
    return bytes[0];
  }

  /** Bytes of a datanode that are granted; for tests. */
  synchronized long grantedOf(DatanodeSpace datanode) {
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      Rest rest = heap[i];
      boolean granted = rest.writer instanceof Grant && rest.extent.datanode() == datanode;
      bytes += granted ? rest.extent.allocatedLength() : 0;
    }
    return bytes;
  }

  private synchronized Rest poll(long nowNanos) {
    if (count == 0) {
      return null;
    }
    Rest rest = heap[0];
    boolean lost = rest.extent.datanode().state() == DatanodeSpace.State.DEAD;
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
        budget.give(WRITER_FOOTPRINT);
      }
    }
  }

  /** Moves an entry up from an index, while it is ready earlier than its parent. */
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

  /** Moves an entry down from an index, while it is ready later than a child. */
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
