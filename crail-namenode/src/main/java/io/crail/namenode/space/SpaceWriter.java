/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.Region;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;

/**
 * The only way to change which datanodes there are, what they lend, and which space a node has. It
 * decides nothing. Only {@code io.crail.namenode.change} uses it: for datanodes under their lock,
 * for the space of a node under the node's monitor.
 */
public final class SpaceWriter {
  /**
   * More than the generations that a region can have given by changes that are lost: some 16 MiB of
   * records, of 25 bytes for each extent. Far less than the gap of a fence, so that many such
   * starts stay below it.
   */
  private static final long LOST = Generation.GAP >> 8;

  private final Datanodes datanodes;
  private final Allocator allocator;
  private final RestingMoves moves;
  private final SmallValues values;

  public SpaceWriter(
      Datanodes datanodes, Allocator allocator, RestingMoves moves, SmallValues values) {
    this.datanodes = datanodes;
    this.allocator = allocator;
    this.moves = moves;
    this.values = values;
  }

  /** Adds a datanode without regions. */
  public void add(DatanodeSpace datanode) {
    datanodes.add(datanode);
    allocator.use(datanodes.all());
  }

  /**
   * A process has the bytes that a datanode keeps, and is another one than before, or the first.
   */
  public void keep(
      DatanodeSpace datanode,
      UUID keeper,
      long start,
      int host,
      RegisterDatanode.Description process) {
    datanode.keep(keeper, start, host, process);
    allocator.use(datanodes.all());
  }

  /** A region that a datanode lends has another address and key. */
  public void renew(DatanodeSpace datanode, Region region) {
    datanode.renew(region);
  }

  /** Lets the id of the next datanode follow one that may have been given. */
  public void haveGiven(int datanodeId) {
    datanodes.haveGiven(datanodeId);
  }

  /** Says what a datanode may be used for. */
  public void state(
      DatanodeSpace datanode, DatanodeSpace.State state, boolean isStopped, long nowNanos) {
    datanode.state(state, isStopped, nowNanos);
    if (state == DatanodeSpace.State.DEAD) {
      // It need not cut off clients any more.
      allocator.letGo(datanode);
    }
    allocator.use(datanodes.all());
  }

  /** Lets no node get space of a datanode that is to be forgotten. */
  public void close(DatanodeSpace datanode, long nowNanos) {
    datanode.state(DatanodeSpace.State.DEAD, datanode.isStopped(), nowNanos);
    allocator.letGo(datanode);
  }

  /** Forgets datanodes that nothing belongs to. */
  public void forget(List<DatanodeSpace> forgotten) {
    datanodes.removeAll(forgotten);
    for (DatanodeSpace datanode : forgotten) {
      datanode.heap().forget();
      allocator.quarantine().forget(datanode);
    }
    allocator.use(datanodes.all());
  }

  /**
   * Adds a region, for which {@link DatanodeSpace#admit} has taken heap.
   *
   * @param generation the number above which its generations begin
   * @param restNanos how long none of its space is given out; 0 if no client has had any
   */
  public void add(DatanodeSpace datanode, Region region, long generation, long restNanos) {
    RegionSpace space = datanode.add(region, generation);
    if (restNanos == 0) {
      datanode.wake(space);
    } else {
      allocator.rest(datanode, space, restNanos);
    }
  }

  /** Makes bytes visible. */
  public void commit(NodeSpace space, long size) {
    space.commit(size);
  }

  /** The space of a node, which may be null, with one more extent: the same or another object. */
  public NodeSpace append(NodeSpace space, Allocation next) {
    return AllocationList.append(space, next);
  }

  /**
   * The extents of a node, and those of staged bytes behind them.
   *
   * @param space those of the node, which has no writer; null for none
   * @param size how many bytes are added
   */
  public NodeSpace join(NodeSpace space, NodeSpace added, long size) {
    return AllocationList.joined(space, added, size);
  }

  /**
   * The space of a node with other extents for the bytes of one extent: the same or another object.
   */
  public NodeSpace replace(NodeSpace space, int index, NodeSpace others) {
    if (space instanceof MovingBytes moving) {
      moving.extents(AllocationList.replacing(moving.extents(), index, others));
      return moving;
    }
    return AllocationList.replacing(space, index, others);
  }

  /**
   * Takes back an extent of a node.
   *
   * @param leaseEndNanos when the writer's lease ends or ended; ignored without a writer
   * @param writer the holder of the lease; null without a lease
   * @param canReport whether the writer can still report that no write is on its way
   */
  public void release(
      Allocation extent, long leaseEndNanos, Quarantine.Writer writer, boolean canReport) {
    allocator.release(extent, leaseEndNanos, writer, canReport);
  }

  /** Takes back an extent whose bytes are elsewhere now, and which readers may still look for. */
  public void releaseMoved(Allocation extent) {
    allocator.releaseMoved(extent);
  }

  /** Takes back the former extent of a move, which may have to be undone. */
  public void rest(RestingMoves.Move move) {
    moves.add(move);
  }

  /** Takes back an extent that no reader knows, and to which no write is on its way. */
  public void giveBack(Allocation extent) {
    allocator.quarantine().returned().free(extent);
  }

  /** Takes back the memory of a small value, which no node has any more. */
  public void giveBack(SmallBytes value) {
    values.giveBack(value);
  }

  /**
   * Takes back the memory of a small value, unless the node's next one is in it.
   *
   * @param next the value that the node has now; null for none
   */
  public void succeed(SmallBytes former, SmallBytes next) {
    values.succeed(former, next);
  }

  /** Begins to take space as records say. */
  public void beginReplay() {
    allocator.beginReplay();
  }

  /** Notes when the changes of the next records were made. */
  public void replayedAt(long nanos) {
    allocator.replayedAt(nanos);
  }

  /**
   * The changes before this moment are lost. Nothing is given out again before clients that know
   * them can write to it no more, and no generation that they may have got is given again.
   *
   * @param clients all that may have got space by them
   */
  public void lost(Collection<Long> clients) {
    for (DatanodeSpace datanode : datanodes.all()) {
      datanode.forEachRegion(
          (region, given, isResting) -> datanode.haveGiven(region.index(), given + LOST));
      hold(datanode, clients);
    }
  }

  /** Gives out nothing that is free at a datanode before these clients can write there no more. */
  public void hold(DatanodeSpace datanode, Collection<Long> clients) {
    allocator.resting().hold(datanode, clients);
  }

  /** Whether no client can write any more to what is held back at a datanode. */
  public boolean isToBeReleased(DatanodeSpace datanode, long nowNanos) {
    return allocator.resting().isToBeReleased(datanode, allocator.cutOffs(datanode), nowNanos);
  }

  /** Gives out what was held back at a datanode. */
  public void release(DatanodeSpace datanode) {
    allocator.resting().release(datanode);
  }

  /** The clients for which what is free at a datanode is held back; null if it is not. */
  public List<Long> heldFor(DatanodeSpace datanode) {
    return allocator.resting().heldFor(datanode);
  }

  /** Lets rest what the last records have freed. */
  public void endReplay() {
    allocator.endReplay(datanodes.all());
  }

  /**
   * Takes the space of an extent that a node has according to a record.
   *
   * @param allocated bytes of its space
   * @return null unless all of it is free
   */
  public Allocation claim(Extent extent, int allocated) {
    DatanodeSpace datanode = datanodes.find(extent.place().datanode());
    return datanode != null && datanode.claim(extent.place(), allocated)
        ? new Allocation(datanode, extent, allocated)
        : null;
  }

  /** The same space as another extent, which may hold fewer bytes of the node. */
  public Allocation same(Allocation extent, Extent now) {
    return new Allocation(extent.datanode(), now, extent.allocatedLength());
  }

  /**
   * Notes that a client may access space that was given to it, and that belongs to no node.
   *
   * @param writer the client that may write to it; null if it may only read
   */
  public void mayBeAccessed(Extent extent, int allocated, Quarantine.Writer writer) {
    DatanodeSpace datanode = datanodes.find(extent.place().datanode());
    if (datanode != null) {
      datanode.haveGiven(extent.place().region(), extent.place().generation());
      allocator.mayBeAccessed(new Allocation(datanode, extent, allocated), writer);
    }
  }

  /** Visits the regions of a datanode. */
  public void forEachRegion(DatanodeSpace datanode, DatanodeSpace.RegionVisitor visitor) {
    datanode.forEachRegion(visitor);
  }

  /**
   * Visits the extents that rest, and those that are granted for copies, each with the client that
   * may write to it, or null.
   */
  public void forEachResting(BiConsumer<Allocation, Quarantine.Writer> visitor) {
    allocator.quarantine().forEach(visitor);
    moves.forEach(extent -> visitor.accept(extent, null));
  }

  /** Notes that a generation was given in a region. */
  public void haveGiven(DatanodeSpace datanode, int region, long generation) {
    datanode.haveGiven(region, generation);
  }

  /** Orders that a client be cut off from a datanode. */
  public void cutOff(DatanodeSpace datanode, long client) {
    allocator.cutOff(datanode, client);
  }

  /**
   * The space of a node as a record says it.
   *
   * @param small its small value; null for none
   * @param extents its extents; with a small value those to which its writer moves it
   */
  public NodeSpace restored(SmallBytes small, List<Allocation> extents, long size) {
    if (extents.isEmpty()) {
      return small;
    }
    return small == null
        ? AllocationList.of(extents, size)
        : new MovingBytes(small, AllocationList.of(extents, 0));
  }

  /**
   * A small value with the bytes that a record has.
   *
   * @return null when there is no memory
   */
  public SmallBytes restoredValue(byte[] bytes) {
    return values.restored(bytes);
  }

  /** Notes that a writer lost its lease, and that the node keeps the extent. */
  public void cutOff(Allocation extent, long client) {
    allocator.cutOff(extent.datanode(), client);
  }

  /** Grants an extent that was taken to the writer of a copy. */
  public void grant(Allocation extent, Quarantine.Grant grant) {
    allocator.grant(extent, grant);
  }
}
