/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

/**
 * Freed extents that somebody may still access, in the order of their release, each with the time
 * from which it may be given away. An extent waits for those before it too, so it may rest a little
 * longer than it must, never shorter. Holds at most the store's capacity in smallest extents.
 * Thread-safe.
 */
final class Quarantine {
  private static final int FIRST_CAPACITY = 64;

  private Allocation[] extents = new Allocation[FIRST_CAPACITY];
  private long[] readyNanos = new long[FIRST_CAPACITY];
  private WriteLease[] leases = new WriteLease[FIRST_CAPACITY];
  private int first;
  private int count;

  /**
   * Takes an extent whose datanode counts it as waiting.
   *
   * @param lease ends the rest earlier when it is returned; null when nothing does
   */
  synchronized void add(Allocation extent, long readyAtNanos, WriteLease lease) {
    if (count == extents.length) {
      grow();
    }
    int index = (first + count) & (extents.length - 1);
    extents[index] = extent;
    readyNanos[index] = readyAtNanos;
    leases[index] = lease;
    count++;
  }

  /**
   * Gives extents back whose time has come.
   *
   * @param most the most extents, so that nobody waits long
   * @return how many there were
   */
  int reclaim(long nowNanos, int most) {
    for (int reclaimed = 0; reclaimed < most; reclaimed++) {
      Allocation extent = poll(nowNanos);
      if (extent == null) {
        return reclaimed;
      }
      extent.region().datanode().giveAwaited(extent);
    }
    return most;
  }

  /** Bytes that wait at a datanode; for tests. */
  synchronized long bytesOf(DatanodeSpace datanode) {
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      Allocation extent = extents[(first + i) & (extents.length - 1)];
      bytes += extent.region().datanode() == datanode ? extent.allocatedLength() : 0;
    }
    return bytes;
  }

  private synchronized Allocation poll(long nowNanos) {
    if (count == 0) {
      return null;
    }
    Allocation extent = extents[first];
    boolean lost = extent.region().datanode().state() == DatanodeSpace.State.DEAD;
    boolean returned = leases[first] != null && leases[first].isReturned();
    if (!lost && !returned && nowNanos - readyNanos[first] < 0) {
      return null;
    }
    extents[first] = null;
    leases[first] = null;
    first = (first + 1) & (extents.length - 1);
    count--;
    if (count == 0 && extents.length > FIRST_CAPACITY) {
      extents = new Allocation[FIRST_CAPACITY];
      readyNanos = new long[FIRST_CAPACITY];
      leases = new WriteLease[FIRST_CAPACITY];
      first = 0;
    }
    return extent;
  }

  private void grow() {
    Allocation[] newExtents = new Allocation[count * 2];
    long[] newReadyNanos = new long[count * 2];
    WriteLease[] newLeases = new WriteLease[count * 2];
    for (int i = 0; i < count; i++) {
      int index = (first + i) & (extents.length - 1);
      newExtents[i] = extents[index];
      newReadyNanos[i] = readyNanos[index];
      newLeases[i] = leases[index];
    }
    extents = newExtents;
    readyNanos = newReadyNanos;
    leases = newLeases;
    first = 0;
  }
}
