/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * The datanodes that lend space to this namenode, and those that are gone while nodes have bytes
 * there. Readers take no lock, since a change replaces the table. Thread-safe.
 */
public final class Datanodes {
  /** The most datanodes at a time. */
  private static final int MOST = 1 << 16;

  private final int count;
  private final int index;
  private volatile NavigableMap<Integer, DatanodeSpace> byId = Collections.emptyNavigableMap();
  private volatile int lastId;

  public Datanodes(NameNodeOptions options, RandomGenerator random) {
    this.count = options.count();
    this.index = options.index();
    // Random, so that an id from before a restart names no datanode rather than a wrong one.
    this.lastId = (random.nextInt() >>> 2) / count * count + index;
  }

  /** All of them, ascending by id. */
  public Collection<DatanodeSpace> all() {
    return byId.values();
  }

  /** True when there is no room for one more. */
  public boolean isFull() {
    return byId.size() >= MOST;
  }

  /** The datanode with an id; null for none. */
  public DatanodeSpace find(int id) {
    return byId.get(id);
  }

  /** The datanode with an id. */
  public DatanodeSpace require(int id) throws CrailException {
    DatanodeSpace datanode = byId.get(id);
    if (datanode == null) {
      throw unknown(id);
    }
    return datanode;
  }

  /** The error for a datanode that has to register, perhaps anew. */
  public static CrailException unknown(int id) {
    return ErrorCode.UNKNOWN_DATANODE.exception("datanode " + id);
  }

  /** The datanode of a process, unless that process has to register anew; null for none. */
  public DatanodeSpace find(UUID process) {
    return find(each -> each.description().uuid().equals(process));
  }

  /** The same, whichever process it is, if the identity is that of the bytes that it keeps. */
  public DatanodeSpace findLasting(UUID identity) {
    DatanodeSpace datanode = find(identity);
    return datanode != null ? datanode : find(each -> each.keeping().isOf(identity));
  }

  private DatanodeSpace find(Predicate<DatanodeSpace> wanted) {
    for (DatanodeSpace datanode : byId.values()) {
      boolean isBuried = datanode.state() == DatanodeSpace.State.DEAD && !datanode.isStopped();
      if (!isBuried && wanted.test(datanode)) {
        return datanode;
      }
    }
    return null;
  }

  /**
   * The datanode that keeps some bytes, unless they are given up; null for none. Also one that may
   * end: its next process must not be taken for a new one.
   */
  public DatanodeSpace findKeeper(UUID keeper) {
    for (DatanodeSpace datanode : byId.values()) {
      if (datanode.state() != DatanodeSpace.State.DEAD && datanode.keeping().isOf(keeper)) {
        return datanode;
      }
    }
    return null;
  }

  /** An id that no datanode has. Under the lock of the datanodes. */
  public int newId() {
    int next = lastId;
    do {
      next += count;
      if (next < 0) {
        next = index;
      }
    } while (byId.containsKey(next));
    lastId = next;
    return next;
  }

  /** The last id that was given. */
  public int lastId() {
    return lastId;
  }

  /** Lets the next id follow one that may have been given. Under the lock of the datanodes. */
  void haveGiven(int id) {
    lastId = id / count * count + index;
  }

  /** Adds a datanode. Under the lock of the datanodes, as the other change. */
  void add(DatanodeSpace datanode) {
    NavigableMap<Integer, DatanodeSpace> fresh = new TreeMap<>(byId);
    fresh.put(datanode.id(), datanode);
    byId = fresh;
  }

  void removeAll(List<DatanodeSpace> datanodes) {
    NavigableMap<Integer, DatanodeSpace> fresh = new TreeMap<>(byId);
    datanodes.forEach(datanode -> fresh.remove(datanode.id()));
    byId = fresh;
  }

  /**
   * Counts all space again and compares it with the accounts; for tests, while nothing changes.
   *
   * @param used bytes that belong to nodes, by datanode
   * @param allocator knows what rests
   * @param moves what rests after moves
   * @param audit knows the extents of nodes
   */
  public void verify(
      Map<DatanodeSpace, Long> used, Allocator allocator, RestingMoves moves, SpaceAudit audit) {
    Quarantine quarantine = allocator.quarantine();
    quarantine.audit(audit);
    moves.audit(audit);
    for (DatanodeSpace datanode : all()) {
      datanode.verify(quarantine.grantedOf(datanode), audit);
      DatanodeSpace.Accounts accounts = datanode.accounts(true);
      long expectedUsed = used.getOrDefault(datanode, 0L);
      long expectedWaiting =
          quarantine.bytesOf(datanode) + moves.bytesOf(datanode) + datanode.restingBytes();
      if (accounts.used() != expectedUsed
          || accounts.waiting() != expectedWaiting
          || accounts.free() + accounts.used() + accounts.waiting() != accounts.capacity()) {
        throw new AssertionError(
            datanode
                + ": nodes have "
                + expectedUsed
                + " bytes, "
                + expectedWaiting
                + " wait, but "
                + accounts);
      }
    }
    for (DatanodeSpace datanode : used.keySet()) {
      if (find(datanode.id()) != datanode) {
        throw new AssertionError(datanode + " is forgotten but has extents");
      }
    }
  }

  /** Bytes of heap of datanodes, and of extents that belong to no node; for tests. */
  public long footprint(Allocator allocator, RestingMoves moves) {
    Quarantine quarantine = allocator.quarantine();
    long extents = quarantine.extents() + moves.extents();
    long bytes = quarantine.writers() * Quarantine.WRITER_FOOTPRINT;
    for (DatanodeSpace datanode : all()) {
      bytes += datanode.heap().taken();
      extents += quarantine.cutOffs(datanode).extents();
    }
    return bytes + extents * DatanodeHeap.EXTENT;
  }
}
