/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Addresses;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A datanode and the space that it lends: whole blocks, and blocks that are split into smaller
 * extents. Its accounts are exact at any moment: {@code free + used + waiting = capacity}. While a
 * datanode is offline or being removed, its free space counts neither as free nor as capacity.
 * Thread-safe.
 */
public final class DatanodeSpace {
  /** What the datanode may be used for. */
  public enum State {
    /** Gets new data while it is online. */
    ACTIVE(0),
    /** Gets no new data and may end when all of its space is free. */
    DRAINING(1),
    /** Its data is lost: its address was taken, or it fell silent while it was leaving or empty. */
    DEAD(2);

    private final int number;

    State(int number) {
      this.number = number;
    }

    /** Its number in records, which is permanent. */
    public int number() {
      return number;
    }
  }

  /** The most regions of a datanode at one namenode. */
  static final int MAX_REGIONS = 1 << 16;

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
  private final Keeping keeping = new Keeping();
  private final int blockSize;
  private final Map<Integer, RegionSpace> regions = new TreeMap<>();
  // Regions whose space is not given out yet.
  private final Set<RegionSpace> resting = new HashSet<>();
  private final DatanodeHeap heap;
  private final FreePieces pieces;
  private final SignsOfLife signs;

  private volatile int host;
  private volatile RegisterDatanode.Description description;
  private volatile State state;
  private volatile boolean stopped;
  private volatile long drainNanos;
  private volatile long free;
  private long used;
  private long waiting;
  // A part of the waiting bytes.
  private long granted;
  private boolean isHeld;

  /**
   * Creates a datanode without regions, and takes heap for it.
   *
   * @param host its host as a number of {@link HostNames}
   * @param description what it has said of itself; also whether it is being removed
   */
  public DatanodeSpace(
      int id,
      int host,
      RegisterDatanode.Description description,
      int blockSize,
      long nowNanos,
      HeapBudget budget)
      throws CrailException {
    this.id = id;
    this.host = host;
    this.description = description;
    this.blockSize = blockSize;
    this.signs = new SignsOfLife(nowNanos);
    this.heap = new DatanodeHeap(budget, description);
    this.pieces = new FreePieces(blockSize, heap);
    this.state = description.draining() ? State.DRAINING : State.ACTIVE;
    this.drainNanos = nowNanos;
  }

  /** The heap that it takes. */
  DatanodeHeap heap() {
    return heap;
  }

  public int id() {
    return id;
  }

  public int host() {
    return host;
  }

  public int storageClass() {
    return description.storageClass();
  }

  /** What it has said of itself. */
  public RegisterDatanode.Description description() {
    return description;
  }

  /** Whose bytes it has, if it keeps them. */
  public Keeping keeping() {
    return keeping;
  }

  /** A process has the bytes that this keeps, and is another one than before, or the first. */
  synchronized void keep(
      UUID keeper, long start, int newHost, RegisterDatanode.Description process) {
    heap.describe(description, process);
    description = process;
    host = newHost;
    keeping.set(keeper, start);
  }

  /** Another address and key for a region. */
  synchronized void renew(Region region) {
    regions.get(region.index()).renew(region);
  }

  public boolean isAt(Utf8 address, int port) {
    return description.port() == port && description.host().equals(address);
  }

  public boolean checksGeneration() {
    return description.traits().checksGeneration();
  }

  /** How long its space rests after the end of a lease: at least this margin of all tiers. */
  public long marginNanos(long marginNanos) {
    return Math.max(marginNanos, description.traits().drainMillis() * 1_000_000L);
  }

  /** Whether requests of a connection that has ended may still be executed. */
  public boolean executesLate() {
    return description.traits().drainMillis() > 0;
  }

  /** Whether the datanode can cut off a client: end what the client has begun. */
  boolean cutsOff() {
    return description.traits().fence() == FenceKind.CUT_OFF;
  }

  public State state() {
    return state;
  }

  /** True once it has the answer that it may end. */
  public boolean isStopped() {
    return stopped;
  }

  /** Whether it is dead or may end. What nodes have there is lost. */
  public boolean isGone() {
    return state == State.DEAD || stopped;
  }

  /** What it has let this namenode hear of itself. */
  public SignsOfLife signs() {
    return signs;
  }

  /** True when it has sent a sign of life within this time. */
  public boolean isOnline(long nowNanos, long timeoutNanos) {
    return state != State.DEAD && signs.silentNanos(nowNanos) < timeoutNanos;
  }

  /** True when nothing says that its bytes may be out of reach. */
  boolean isWell(long nowNanos, long presentNanos) {
    return !isGone() && signs.areGood(nowNanos, presentNanos);
  }

  /** Free bytes; exact while no thread allocates. */
  long freeBytes() {
    return free;
  }

  /** Bytes that nodes can get later, when no client may use them any more. */
  synchronized long waitingBytes() {
    return waiting - granted;
  }

  /** Sets what it may be used for, and whether it may end. */
  synchronized void state(State newState, boolean isStopped, long nowNanos) {
    if (newState == State.DRAINING && state != State.DRAINING) {
      drainNanos = nowNanos;
    }
    state = newState;
    stopped = isStopped;
  }

  /** How long it has been draining. */
  public long drainNanos(long nowNanos) {
    return state == State.DRAINING ? nowNanos - drainNanos : 0;
  }

  /**
   * True when it holds nothing but space that waits for its confirmation of a cut-off, or regions
   * that rest. Under its monitor this stays true until it may be given out.
   *
   * @param bytes bytes that wait so
   */
  public synchronized boolean holdsOnly(long bytes) {
    return used == 0 && waiting == bytes;
  }

  /** True when nothing is used and nothing waits. */
  public synchronized boolean isEmpty() {
    return used == 0 && waiting == 0;
  }

  /**
   * The accounts.
   *
   * @param online whether a node can get its free space
   */
  public synchronized Accounts accounts(boolean online) {
    long counted = state == State.ACTIVE && online ? free : 0;
    return new Accounts(counted + used + waiting, counted, used, waiting, pieces.largest());
  }

  public synchronized long freeBlocks() {
    return pieces.blocks();
  }

  public synchronized long totalBlocks() {
    return regions.values().stream().mapToLong(RegionSpace::blocks).sum();
  }

  /** The regions, by ascending index. */
  public synchronized List<Region> regions() {
    return regions.values().stream().map(RegionSpace::region).toList();
  }

  /** The region of an index; null for none. */
  public synchronized Region region(int index) {
    RegionSpace known = regions.get(index);
    return known == null ? null : known.region();
  }

  /** True when another namenode has given out space of a region since it was registered here. */
  public synchronized boolean wasLentElsewhere(int index, long generation) {
    RegionSpace known = regions.get(index);
    return known != null && generation > known.generation();
  }

  /**
   * Checks a new region, and takes heap for it.
   *
   * @throws CrailException when the region has impossible values or contradicts a known region, or
   *     there is no heap
   */
  public synchronized void admit(Region region, long generation) throws CrailException {
    String wrong = RegionSpace.refusal(region, blockSize, generation);
    if (wrong != null) {
      throw refuse(region, wrong);
    }
    if (regions.size() == MAX_REGIONS) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(MAX_REGIONS + " regions of datanode " + id);
    }
    for (RegionSpace other : regions.values()) {
      if (region.index() == other.index()) {
        throw refuse(region, "is known with other values");
      }
      if (region.overlaps(other.region())) {
        throw refuse(region, "overlaps region " + other.index());
      }
    }
    heap.takeRegion("region " + region.index() + " of " + this);
  }

  /**
   * Adds a region, whose space is not given out before {@link #wake}.
   *
   * @param generation the number above which its generations begin
   */
  synchronized RegionSpace add(Region region, long generation) {
    RegionSpace space =
        new RegionSpace(heap, region, (int) (region.length() / blockSize), generation);
    regions.put(region.index(), space);
    resting.add(space);
    waiting += region.length();
    return space;
  }

  /** Gives out none of its space while it is held. */
  synchronized void hold(boolean holds) {
    isHeld = holds;
  }

  /** Whether space of a region is not given out yet. */
  synchronized boolean isResting(RegionSpace region) {
    return resting.contains(region);
  }

  /** Gives out space of a region from now on, unless it is already. */
  synchronized void wake(RegionSpace region) {
    if (!resting.remove(region)) {
      return;
    }
    List<RegionSpace> awake = new ArrayList<>(regions.values());
    awake.removeAll(resting);
    pieces.add(awake.toArray(new RegionSpace[0]), region);
    waiting -= region.region().length();
    free += region.region().length();
  }

  /** Bytes of the regions that rest. */
  public synchronized long restingBytes() {
    return resting.stream().mapToLong(region -> region.region().length()).sum();
  }

  private CrailException refuse(Region region, String why) {
    String bytes = " with " + region.length() + " bytes ";
    return ErrorCode.INVALID_ARGUMENT.exception(
        "region " + region.index() + " of datanode " + id + bytes + why);
  }

  /**
   * Takes an extent.
   *
   * @param length bytes, a power of two up to the block size
   * @param orLess whether a smaller extent may be taken if there is none of that length
   * @return null when there is none
   */
  synchronized FreePieces.Piece take(int length, boolean orLess) {
    if (state != State.ACTIVE || free == 0 || isHeld) {
      return null;
    }
    int largest = pieces.largest();
    if ((largest < length && !orLess) || !heap.takeExtent()) {
      return null;
    }
    int taken = Math.min(length, largest);
    FreePieces.Piece piece = pieces.take(taken);
    free -= taken;
    used += taken;
    return piece;
  }

  /**
   * Takes the space of an extent that a node has according to a record.
   *
   * @return false unless all of it is free
   */
  synchronized boolean claim(Place place, int length) {
    RegionSpace region = regions.get(place.region());
    if (region == null
        || Integer.bitCount(length) != 1
        || length < Extent.MIN_LENGTH
        || length > blockSize
        || place.offset() < 0
        || place.offset() % length != 0
        || place.offset() > region.region().length() - length) {
      return false;
    }
    // A node has space of it, so it had rested.
    wake(region);
    if (!pieces.claim(place.region(), place.offset(), length)) {
      return false;
    }
    region.haveGiven(place.generation());
    heap.addExtent();
    free -= length;
    used += length;
    return true;
  }

  /** Notes that a generation was given out in a region. */
  synchronized void haveGiven(int index, long generation) {
    RegionSpace region = regions.get(index);
    if (region != null) {
      region.haveGiven(generation);
    }
  }

  /** Receives a region, and the last generation that was given there. */
  public interface RegionVisitor {
    /** Takes it; {@code isResting} says whether its space is not given out yet. */
    void visit(Region region, long generation, boolean isResting);
  }

  /** Visits the regions, in the order of their indexes. */
  synchronized void forEachRegion(RegionVisitor visitor) {
    for (RegionSpace each : regions.values()) {
      visitor.visit(each.region(), each.generation(), resting.contains(each));
    }
  }

  /** Gives space back that belonged to a node. */
  synchronized void give(int region, long regionOffset, int length) {
    used -= length;
    becomeFree(region, regionOffset, length);
  }

  /** Counts bytes as waiting: they no longer belong to a node but are not free yet. */
  synchronized void countAsWaiting(int length) {
    used -= length;
    waiting += length;
  }

  /** Grants an extent that was taken to the writer of a copy. It counts as waiting. */
  synchronized void grant(int length) {
    used -= length;
    waiting += length;
    granted += length;
  }

  /** Notes that bytes that were waiting belong to a node again. */
  synchronized void takeBack(int length) {
    waiting -= length;
    used += length;
  }

  /** Notes that granted bytes now belong to a node. */
  synchronized void useGranted(int length) {
    granted -= length;
    waiting -= length;
    used += length;
  }

  /** Notes that granted bytes only wait from now on. */
  synchronized void endGrant(int length) {
    granted -= length;
  }

  /** Gives space back that was waiting. */
  synchronized void giveAwaited(int region, long regionOffset, int length) {
    waiting -= length;
    becomeFree(region, regionOffset, length);
  }

  private void becomeFree(int region, long regionOffset, int length) {
    free += length;
    pieces.give(region, regionOffset, length);
    heap.giveExtent();
  }

  /** The last generation that was given out in a region. */
  synchronized long generation(int region) {
    return regions.get(region).generation();
  }

  /**
   * Counts everything again and compares; for tests.
   *
   * @param expectedGranted bytes that are granted
   * @param audit knows all extents that are not free
   */
  synchronized void verify(long expectedGranted, SpaceAudit audit) {
    if (granted != expectedGranted) {
      throw new AssertionError(
          this + " has granted " + granted + " bytes, but " + expectedGranted + " can be found");
    }
    long total = regions().stream().mapToLong(Region::length).sum();
    long counted = pieces.verify(this, audit);
    if (counted != free || free + used + waiting != total) {
      throw new AssertionError(
          this + ": counted " + counted + " of " + total + " bytes as free; " + accounts(true));
    }
  }

  @Override
  public String toString() {
    String at = Addresses.text(description.host().toString(), description.port());
    String where = description.tier() + " at " + at + ", class " + storageClass();
    return "datanode " + id + " (" + where + ")";
  }
}
