/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.protocol.part.Region;
import io.crail.storage.daemon.Datanode;
import io.crail.storage.daemon.RegistrationStatus;
import java.util.Map;
import java.util.Optional;

/** The metrics of a datanode. */
final class DatanodeMetrics implements MetricsSource {
  private static final double NANOS = 1e9;

  private final Datanode datanode;
  private final long patienceNanos;

  /**
   * Creates the metrics.
   *
   * @param patienceNanos a namenode that has not answered for this long does not know the datanode
   *     any more
   */
  DatanodeMetrics(Datanode datanode, long patienceNanos) {
    this.datanode = datanode;
    this.patienceNanos = patienceNanos;
  }

  @Override
  public Optional<String> lacks() {
    if (isRemoved()) {
      return Optional.of("the namenodes have removed this datanode; it lends nothing any more");
    }
    for (RegistrationStatus status : datanode.registrations()) {
      String namenode = "namenode " + status.namenode();
      if (!status.isSettled()) {
        return Optional.of("not registered at " + namenode + ", state " + status.state());
      }
      if (status.silentNanos() > patienceNanos && !status.isRemoved()) {
        long seconds = status.silentNanos() / 1_000_000_000;
        return Optional.of(namenode + " has not answered for " + seconds + " s");
      }
    }
    return lost(datanode.server().targets());
  }

  /** True when no namenode needs it any more. Its server may be closed then. */
  private boolean isRemoved() {
    return datanode.registrations().stream().allMatch(RegistrationStatus::isRemoved);
  }

  /** What to say of targets, each with whether it is reached; empty when all are. */
  static Optional<String> lost(Map<String, Boolean> targets) {
    return targets.entrySet().stream()
        .filter(each -> !each.getValue())
        .findFirst()
        .map(each -> "target " + each.getKey() + " is lost");
  }

  /** Not at a namenode that has asked it to end, though that one needs nothing more of it. */
  static boolean isKnown(RegistrationStatus status) {
    return status.state() == RegistrationStatus.State.REGISTERED;
  }

  @Override
  public void collect(Readings readings) {
    for (RegistrationStatus status : datanode.registrations()) {
      readings.add(Metric.REGISTERED, isKnown(status) ? 1 : 0, status.namenode());
      readings.add(Metric.SILENCE_SECONDS, status.silentNanos() / NANOS, status.namenode());
    }
    if (isRemoved()) {
      readings.add(Metric.LENT_BYTES, 0);
      return;
    }
    long lent = datanode.server().regions().stream().mapToLong(Region::length).sum();
    readings.add(Metric.LENT_BYTES, lent);
    datanode
        .server()
        .targets()
        .forEach((target, reached) -> readings.add(Metric.TARGET_REACHED, reached ? 1 : 0, target));
    datanode
        .server()
        .connections()
        .ifPresent(count -> readings.add(Metric.DATA_CONNECTIONS, count));
    datanode
        .server()
        .statistics()
        .ifPresent(
            statistics -> {
              readings.add(Metric.HELD_BYTES, statistics.heldBytes());
              readings.add(Metric.TRANSFERS, statistics.reads(), "read");
              readings.add(Metric.TRANSFERS, statistics.writes(), "write");
              readings.add(Metric.TRANSFERRED_BYTES, statistics.readBytes(), "read");
              readings.add(Metric.TRANSFERRED_BYTES, statistics.writtenBytes(), "write");
              readings.addErrors(Metric.REFUSALS, Readings.ALERTED, datanode.server()::refusals);
            });
  }
}
