/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A datanode and the space that it lends: whole blocks, and blocks that are split into smaller
 * extents. Its accounts are exact at any moment, {@code free + used + waiting = capacity}; what is
 * free at a datanode that gets no new data, for good or while it is offline, counts neither as free
 * nor as capacity. Thread-safe.
 */
public final class DatanodeSpace {
  /** What the datanode is there for. */
  public enum State {
    /** Gets new data, when it was heard of lately. */
    ACTIVE,
    /** Gets no new data and may end when all of its space is free. */
    DRAINING,
    /**
     * What it held is lost: another process has taken its address, or it fell silent while it was
     * being removed or had held nothing.
     */
    DEAD
  }

  /** The most regions of a datanode at one namenode. */
  static final int MAX_REGIONS = 1 << 16;

  /** Space is lent ahead while one part in so many is free. */
  private static final int SPARE_PART = 4;

  /** One part in so many is lent ahead at most. */
  private static final int LENT_PART = 16;

  /**
   * The accounts.
   *
   * @param capacity bytes
   * @param free bytes
   * @param used bytes
   * @param waiting bytes
   * @param largest bytes of the largest free extent
   */
  public record Accounts(long capacity, long free, long used, long waiting, int largest) {}

  private final int id;
  private final int host;
  private final RegisterDatanode.Request description;
  private final int blockSize;
  private final Map<Integer, RegionSpace> regions = new TreeMap<>();
  // Regions of which no space is given out yet.
  private final Set<RegionSpace> resting = new HashSet<>();
  private final FreePieces pieces;
  private final CutOffs cutOffs = new CutOffs();

  private volatile State state = State.ACTIVE;
  private volatile boolean stopped;
  private volatile long lastSeenNanos;
  private volatile boolean suspected;
  private volatile long free;
  private long used;
  private long waiting;
  // A part of what waits.
  private long lent;

  /**
   * Creates a datanode without regions.
   *
   * @param host its host as a number of {@link HostNames}
   */
  DatanodeSpace(
      int id, int host, RegisterDatanode.Request description, int blockSize, long nowNanos) {
    this.id = id;
    this.host = host;
    this.description = description;
    this.blockSize = blockSize;
    this.pieces = new FreePieces(blockSize);
    this.lastSeenNanos = nowNanos;
  }

  int id() {
    return id;
  }

  int host() {
    return host;
  }

  int storageClass() {
    return description.storageClass();
  }

  RegisterDatanode.Request description() {
    return description;
  }

  boolean checksGeneration() {
    return description.traits().checksGeneration();
  }

  /** Whether the datanode ends what a client has begun, when it is told to. */
  boolean cutsOff() {
    return description.traits().fence() == FenceKind.CUT_OFF;
  }

  public State state() {
    return state;
  }

  /** True once it was told to end. */
  boolean isStopped() {
    return stopped;
  }

  void markStopped() {
    stopped = true;
  }

  /** Notes a sign of life. Only the datanode's own messages are one. */
  void seen(long nowNanos) {
    lastSeenNanos = nowNanos;
    suspected = false;
  }

  /** Notes that a client could not reach it; false when that was known. */
  boolean suspect() {
    boolean known = suspected;
    suspected = true;
    return !known;
  }

  /** True when a client could not reach it, and it was not heard of since. */
  boolean isSuspected() {
    return suspected;
  }

  boolean isOnline(long nowNanos, long timeoutNanos) {
    return state != State.DEAD && nowNanos - lastSeenNanos < timeoutNanos;
  }

  /** Free bytes; exact when nobody allocates. */
  long freeBytes() {
    return free;
  }

  /** Gives it no new data from now on. */
  synchronized void drain() {
    if (state == State.ACTIVE) {
      state = State.DRAINING;
    }
  }

  /** Whom it is to cut off before space is given to others. */
  CutOffs cutOffs() {
    return cutOffs;
  }

  /**
   * Declares it dead if it holds nothing but what waits for its own word, so that nobody takes
   * space from it any more.
   */
  synchronized boolean dieIfEmpty() {
    if (used == 0 && waiting == cutOffs.bytes()) {
      state = State.DEAD;
    }
    return state == State.DEAD;
  }

  /** Declares what it holds lost. */
  synchronized void die() {
    state = State.DEAD;
  }

  /** True when nothing is used and nothing waits. */
  synchronized boolean isEmpty() {
    return used == 0 && waiting == 0;
  }

  /**
   * The accounts.
   *
   * @param online whether what is free can be had
   */
  public synchronized Accounts accounts(boolean online) {
    long counted = state == State.ACTIVE && online ? free : 0;
    return new Accounts(counted + used + waiting, counted, used, waiting, pieces.largest());
  }

  public synchronized long freeBlocks() {
    return pieces.blocks();
  }

  public synchronized long totalBlocks() {
    long total = 0;
    for (RegionSpace region : regions.values()) {
      total += region.blocks();
    }
    return total;
  }

  /** The regions, by ascending index. */
  synchronized List<Region> regions() {
    List<Region> list = new ArrayList<>(regions.size());
    regions.values().forEach(region -> list.add(region.region()));
    return list;
  }

  /**
   * Takes a region into account, or confirms it. It rests until {@link #wake}.
   *
   * @param generation above which its generations begin
   * @return null when it was known
   * @throws CrailException when it contradicts itself or a region that is known
   */
  synchronized RegionSpace register(Region region, long generation) throws CrailException {
    RegionSpace known = regions.get(region.index());
    if (known != null) {
      if (known.region().equals(region) || stopped) {
        // Who is to end may have lent it to others meanwhile.
        return null;
      }
      throw refuse(region, "is known with other values");
    }
    if (region.index() < 0 || region.length() <= 0 || region.length() % blockSize != 0) {
      throw refuse(region, "is no multiple of the block size " + blockSize);
    }
    if (region.length() / blockSize > Integer.MAX_VALUE - 8) {
      throw refuse(region, "is too long");
    }
    if (generation < 0 || generation > Generation.MAX) {
      throw refuse(region, "has generation " + generation);
    }
    if (regions.size() == MAX_REGIONS) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(MAX_REGIONS + " regions of datanode " + id);
    }
    for (RegionSpace other : regions.values()) {
      if (overlap(region, other.region())) {
        throw refuse(region, "overlaps region " + other.index());
      }
    }
    RegionSpace space =
        new RegionSpace(this, region, (int) (region.length() / blockSize), generation);
    regions.put(region.index(), space);
    resting.add(space);
    waiting += region.length();
    return space;
  }

  /** True when a region has had other owners than this namenode knows, since it was registered. */
  synchronized boolean wasLentElsewhere(int index, long generation) {
    RegionSpace known = regions.get(index);
    return known != null && generation > known.generation();
  }

  /** Gives out space of a region from now on. */
  synchronized void wake(RegionSpace region) {
    resting.remove(region);
    List<RegionSpace> awake = new ArrayList<>(regions.values());
    awake.removeAll(resting);
    pieces.add(awake.toArray(new RegionSpace[0]), region);
    waiting -= region.region().length();
    free += region.region().length();
  }

  /** Bytes of the regions that rest. */
  synchronized long restingBytes() {
    return resting.stream().mapToLong(region -> region.region().length()).sum();
  }

  private CrailException refuse(Region region, String why) {
    return ErrorCode.INVALID_ARGUMENT.exception(
        "region "
            + region.index()
            + " of datanode "
            + id
            + " with "
            + region.length()
            + " bytes "
            + why);
  }

  /** Addresses mean something only to tiers that give them. */
  private static boolean overlap(Region a, Region b) {
    return a.address() != 0
        && b.address() != 0
        && a.key() == b.key()
        && a.address() < b.address() + b.length()
        && b.address() < a.address() + a.length();
  }

  /**
   * Takes an extent.
   *
   * @param length bytes, a power of two up to the block size
   * @param orLess whether a smaller one will do when there is none of that length
   * @return null when there is none
   */
  synchronized FreePieces.Place take(int length, boolean orLess) {
    if (state != State.ACTIVE || free == 0) {
      return null;
    }
    int largest = pieces.largest();
    if (largest < length && !orLess) {
      return null;
    }
    int taken = Math.min(length, largest);
    FreePieces.Place place = pieces.take(taken);
    free -= taken;
    used += taken;
    return place;
  }

  /** Gives an extent back that belonged to a node. */
  synchronized void give(Allocation allocation) {
    used -= allocation.allocatedLength();
    free += allocation.allocatedLength();
    pieces.give(allocation);
  }

  /** Notes that an extent no longer belongs to a node but is not free yet. */
  synchronized void await(Allocation allocation) {
    used -= allocation.allocatedLength();
    waiting += allocation.allocatedLength();
  }

  /** True when an extent can be lent to somebody who has no node for it yet. */
  synchronized boolean mayLend(int length) {
    long capacity = free + used + waiting;
    return state == State.ACTIVE
        && free - length >= capacity / SPARE_PART
        && lent + length <= capacity / LENT_PART
        && pieces.largest() >= length;
  }

  /**
   * Takes an extent for somebody who has no node for it yet; it counts as waiting.
   *
   * @return null where little is free, or much is lent
   */
  synchronized FreePieces.Place takeToLend(int length) {
    if (!mayLend(length)) {
      return null;
    }
    FreePieces.Place place = take(length, false);
    used -= length;
    waiting += length;
    lent += length;
    return place;
  }

  /** Notes that an extent that was lent belongs to a node. */
  synchronized void useLent(Allocation allocation) {
    lent -= allocation.allocatedLength();
    waiting -= allocation.allocatedLength();
    used += allocation.allocatedLength();
  }

  /** Notes that an extent that was lent is only waiting. */
  synchronized void lentNoMore(Allocation allocation) {
    lent -= allocation.allocatedLength();
  }

  /** Gives an extent back that was waiting. */
  synchronized void giveAwaited(Allocation allocation) {
    waiting -= allocation.allocatedLength();
    free += allocation.allocatedLength();
    pieces.give(allocation);
  }

  /**
   * Counts everything again and compares; for tests.
   *
   * @param expectedLent bytes that are lent
   * @param audit knows all extents that are not free
   */
  synchronized void verify(long expectedLent, SpaceAudit audit) {
    if (lent != expectedLent) {
      throw new AssertionError(
          this + " has lent " + lent + " bytes, but " + expectedLent + " can be found");
    }
    long total = restingBytes();
    cutOffs.audit(audit);
    for (RegionSpace region : regions.values()) {
      total += resting.contains(region) ? 0 : region.region().length();
    }
    long counted = pieces.verify(audit);
    if (counted != free || free + used + waiting != total) {
      throw new AssertionError(
          "datanode "
              + id
              + ": counted "
              + counted
              + " free bytes; the accounts say free "
              + free
              + ", used "
              + used
              + ", waiting "
              + waiting
              + ", in all "
              + total);
    }
  }

  @Override
  public String toString() {
    String name = description.host().toString();
    return "datanode "
        + id
        + " ("
        + description.tier()
        + " at "
        + (name.indexOf(':') < 0 ? name : "[" + name + "]")
        + ":"
        + description.port()
        + ", class "
        + storageClass()
        + ")";
  }
}
