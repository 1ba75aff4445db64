/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Region;
import java.util.List;

/**
 * The only way to change which datanodes there are, and what they lend. It decides nothing. Only
 * {@code io.crail.namenode.change} uses it, under the lock of the datanodes.
 */
public final class SpaceWriter {
  private final Datanodes datanodes;
  private final Allocator allocator;

  public SpaceWriter(Datanodes datanodes, Allocator allocator) {
    this.datanodes = datanodes;
    this.allocator = allocator;
  }

  /** Adds a datanode without regions. */
  public void add(DatanodeSpace datanode) {
    datanodes.add(datanode);
    allocator.use(datanodes.all());
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
   * @param restNanos how long none of its space is given out; 0 if nobody has had any
   */
  public void add(DatanodeSpace datanode, Region region, long generation, long restNanos) {
    RegionSpace space = datanode.add(region, generation);
    if (restNanos == 0) {
      datanode.wake(space);
    } else {
      allocator.rest(datanode, space, restNanos);
    }
  }
}
