/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.common.error.ErrorCode;
import io.crail.namenode.LogStanding;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.part.ClassUsage;
import io.crail.rpc.ConnectionScheduler;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The metrics of a namenode. */
final class NamenodeMetrics implements MetricsSource {
  private static final double NANOS = 1e9;
  private static final double MILLIS = 1e3;
  private static final String ENDED = "ended-";

  private final NameNodeServer server;

  NamenodeMetrics(NameNodeServer server) {
    this.server = server;
  }

  /** A namenode serves from its start on. */
  @Override
  public Optional<String> lacks() {
    return Optional.empty();
  }

  @Override
  public void collect(Readings readings) {
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      OperationCounters counters = server.counters(operation);
      readings.add(Metric.OPERATION_SECONDS, counters, operation.name());
      readings.addErrors(Metric.ERRORS, Readings.ALERTED, counters::errors, operation.name());
    }
    readings.addErrors(
        Metric.FAILED_LISTS, Set.of(ErrorCode.CONDITION_FAILED), server::failedLists);
    NameNodeServer.Holdings holdings = server.holdings();
    holdings
        .nodesByType()
        .forEach(
            (type, count) ->
                readings.add(Metric.NODES, count, type.name().toLowerCase(Locale.ROOT)));
    readings.add(Metric.WRITE_LEASES, holdings.leases());
    readings.add(Metric.LEASE_CLIENTS, holdings.leaseHolders());
    readings.add(Metric.AWAITED_WRITERS, holdings.awaitedWriters());
    readings.add(Metric.SMALL_VALUE_BYTES, holdings.smallValueBytes());
    readings.add(Metric.SMALL_VALUE_LIMIT_BYTES, holdings.smallValueLimitBytes());
    readings.add(Metric.MEMORY_BYTES, holdings.memoryBytes());
    readings.add(Metric.MEMORY_LIMIT_BYTES, holdings.memoryLimitBytes());
    readings.add(Metric.LOCATED_BYTES, holdings.locatedBytes());
    readings.add(Metric.COMMITTED_BYTES, holdings.committedBytes());
    readings.add(Metric.EXPIRED_NODES, holdings.expiredNodes());
    readings.add(Metric.SUCCESSOR, holdings.successor() ? 1 : 0);
    server.log().ifPresent(log -> collect(readings, log));
    for (ClassUsage usage : holdings.usage()) {
      String storageClass = String.valueOf(usage.storageClass());
      readings.add(Metric.CAPACITY_BYTES, usage.capacityBytes(), storageClass);
      readings.add(Metric.FREE_BYTES, usage.freeBytes(), storageClass);
      readings.add(Metric.USED_BYTES, usage.usedBytes(), storageClass);
      readings.add(Metric.WAITING_BYTES, usage.waitingBytes(), storageClass);
      readings.add(Metric.LOST_BYTES, usage.lostBytes(), storageClass);
      readings.add(Metric.LARGEST_FREE_BYTES, usage.largestFreeExtentBytes(), storageClass);
    }
    server
        .datanodeStates()
        .forEach((state, count) -> readings.add(Metric.DATANODES, count, state.toString()));
    server
        .transportStatistics()
        .forEach(
            (figure, value) -> {
              if (figure.startsWith(ENDED)) {
                String reason = figure.substring(ENDED.length());
                readings.add(Metric.CONNECTIONS_ENDED, value, reason);
              } else if (figure.equals(ConnectionScheduler.WAITED)) {
                readings.add(Metric.WAITED_SECONDS, value / 1e9);
              } else {
                readings.add(Metric.TRANSPORT, value, figure);
              }
            });
  }

  /** Adds how a log stands. */
  static void collect(Readings readings, LogStanding log) {
    readings.add(Metric.LOG_RECORDS, log.records());
    readings.add(Metric.LOG_FINAL_RECORDS, log.finalRecords());
    readings.add(Metric.LOG_RECORDS_BEHIND, log.recordsBehind());
    readings.add(Metric.LOG_BYTES_BEHIND, log.bytesBehind());
    readings.add(Metric.LOG_WAITING_BYTES, log.waitingBytes());
    readings.add(Metric.LOG_REFUSES, log.refusal().isEmpty() ? 0 : 1);
    readings.add(Metric.LOG_FORCES, log.forces());
    readings.add(Metric.LOG_FORCE_SECONDS, log.forceNanos() / NANOS);
    readings.add(Metric.SNAPSHOTS, log.snapshots());
    readings.add(Metric.FAILED_SNAPSHOTS, log.failedSnapshots());
    readings.add(Metric.SNAPSHOT_TIMESTAMP, log.snapshotMillis() / MILLIS);
    readings.add(Metric.SNAPSHOT_SECONDS, log.snapshotNanos() / NANOS);
  }
}
