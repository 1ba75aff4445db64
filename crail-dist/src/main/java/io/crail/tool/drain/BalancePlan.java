/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What has to move so that the datanodes of one storage class are about equally full: as little as
 * needed, from those above the average to those below it. Immutable.
 *
 * @param average the part of all space that is used, 0 to 1
 * @param flows what moves
 */
record BalancePlan(double average, List<Flow> flows) {
  /**
   * A datanode.
   *
   * @param capacity bytes that it lends
   * @param used bytes of them that are in use
   */
  record Load(int datanode, long capacity, long used) {}

  /** Bytes to move from a datanode to another one. */
  record Flow(int from, int to, long bytes) {}

  /** A datanode while the plan is made. */
  private static final class State {
    private final Load load;
    // Down or up to the average.
    private long most;
    // Into the band around the average.
    private long least;

    State(Load load, long most, long least) {
      this.load = load;
      this.most = most;
      this.least = least;
    }

    private void planned(long bytes) {
      most -= bytes;
      least = Math.max(0, least - bytes);
    }
  }

  /**
   * Makes a plan.
   *
   * @param threshold how far a datanode may be from the average, as a part of its capacity
   * @param leastFlow what would be moved from one to another is more bytes than that
   */
  static BalancePlan of(List<Load> loads, double threshold, long leastFlow) {
    double capacity = loads.stream().mapToDouble(Load::capacity).sum();
    double used = loads.stream().mapToDouble(Load::used).sum();
    double average = capacity == 0 ? 0 : used / capacity;
    List<State> full = new ArrayList<>();
    List<State> empty = new ArrayList<>();
    for (Load load : loads) {
      double over = load.used() - average * load.capacity();
      long most = (long) Math.abs(over);
      long least = (long) Math.max(0, Math.abs(over) - threshold * load.capacity());
      (over > 0 ? full : empty).add(new State(load, most, least));
    }
    Comparator<State> mostFirst = Comparator.comparingLong((State state) -> state.most).reversed();
    full.sort(mostFirst);
    empty.sort(mostFirst);
    List<Flow> flows = new ArrayList<>();
    for (State from : full) {
      for (State to : empty) {
        plan(from, to, from.least, flows);
      }
    }
    for (State to : empty) {
      for (State from : full) {
        plan(from, to, to.least, flows);
      }
    }
    flows.removeIf(flow -> flow.bytes() <= leastFlow);
    return new BalancePlan(average, List.copyOf(flows));
  }

  private static void plan(State from, State to, long wanted, List<Flow> flows) {
    long bytes = Math.min(wanted, Math.min(from.most, to.most));
    if (bytes > 0) {
      from.planned(bytes);
      to.planned(bytes);
      flows.add(new Flow(from.load.datanode(), to.load.datanode(), bytes));
    }
  }

  /** The bytes of all flows. */
  long bytes() {
    return flows.stream().mapToLong(Flow::bytes).sum();
  }
}
