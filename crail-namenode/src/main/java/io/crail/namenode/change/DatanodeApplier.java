/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.SpaceWriter;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Region;
import java.util.List;

/**
 * Makes the changes of datanodes that rules have decided, as the {@link Applier} makes those of
 * nodes: which datanodes there are, what they lend, and what they may be used for. The caller holds
 * {@link Locks#ofDatanodes}. Each change is reported before space that it brings is given out.
 */
public final class DatanodeApplier {
  private final SpaceWriter space;
  private final ChangeSink sink;

  /**
   * Creates the writer of a state.
   *
   * @param sink receives the changes; null for none
   */
  public DatanodeApplier(State state, ChangeSink sink) {
    this.space = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.sink = sink;
  }

  private void report(DatanodeSpace datanode, int state, boolean isStopped) {
    if (sink != null) {
      sink.changed(SpaceChange.Datanode.of(datanode, state, isStopped));
    }
  }

  /** A datanode has registered. */
  public void add(DatanodeSpace datanode) {
    report(datanode, datanode.state().number(), datanode.isStopped());
    space.add(datanode);
  }

  /**
   * A datanode lends a region, for which heap was taken.
   *
   * @param generation the number above which its generations begin
   * @param restNanos how long none of its space is given out; 0 if no client has had any
   */
  public void add(DatanodeSpace datanode, Region region, long generation, long restNanos) {
    if (sink != null) {
      sink.changed(new SpaceChange.LentRegion(datanode.id(), generation, region));
    }
    space.add(datanode, region, generation, restNanos);
  }

  /**
   * A process has the bytes that a datanode keeps: the first one, or one that has come back with
   * them.
   *
   * @param host number of its host
   */
  public void keep(DatanodeSpace datanode, int host, RegisterDatanode.Request process) {
    keep(
        new SpaceChange.Kept(
            datanode.id(), host, process.keeper(), process.start(), process.description()),
        datanode);
  }

  void keep(SpaceChange.Kept change, DatanodeSpace datanode) {
    if (sink != null) {
      sink.changed(change);
    }
    space.keep(datanode, change.keeper(), change.start(), change.host(), change.description());
  }

  /** A region that is lent has another address and key. */
  public void renew(DatanodeSpace datanode, Region region) {
    if (sink != null) {
      sink.changed(new SpaceChange.LentRegion(datanode.id(), 0, region));
    }
    space.renew(datanode, region);
  }

  /** A datanode may be used for something else, or may end. */
  public void state(
      DatanodeSpace datanode, DatanodeSpace.State state, boolean isStopped, long nowNanos) {
    report(datanode, state.number(), isStopped);
    space.state(datanode, state, isStopped, nowNanos);
  }

  /** Gives out what is held back at a datanode, once no client can write to it any more. */
  public void releaseWhatIsSafe(DatanodeSpace datanode, long nowNanos) {
    if (space.isToBeReleased(datanode, nowNanos)) {
      if (sink != null) {
        sink.changed(new SpaceChange.HeldBack(datanode.id(), false, List.of()));
      }
      space.release(datanode);
    }
  }

  /** A datanode that is to be forgotten gets no data until then. */
  public void close(DatanodeSpace datanode, long nowNanos) {
    space.close(datanode, nowNanos);
  }

  /** Datanodes are forgotten, since nothing belongs to them. */
  public void forget(List<DatanodeSpace> forgotten) {
    for (DatanodeSpace datanode : forgotten) {
      report(datanode, SpaceChange.Datanode.FORGOTTEN, datanode.isStopped());
    }
    space.forget(forgotten);
  }
}
