/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.client.ClientKeys;
import io.crail.client.CoreStore;
import io.crail.client.loop.LoopContext;
import io.crail.common.Addresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.Answers;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.report.ClusterQuery;
import io.crail.tool.report.ClusterReport;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** The cluster as a command sees it that moves data. Used by one thread. */
final class MoveCluster implements AutoCloseable {
  private final Closeable cluster;
  private final CoreStore store;
  private final LoopContext connections;
  private final long transferNanos;
  private final long silenceNanos;

  private MoveCluster(Closeable cluster, Configuration configuration, CoreStore store)
      throws CrailException {
    this.cluster = cluster;
    this.store = store;
    this.connections = store.connections();
    this.transferNanos = configuration.get(ClientKeys.DATA_TIMEOUT).toNanos();
    this.silenceNanos =
        configuration.get(ClusterKeys.KEEP_ALIVE).toNanos() * ClusterKeys.MISSED_KEEP_ALIVES;
  }

  /** Opens the cluster in a command's configuration. */
  static MoveCluster of(CommandContext context) throws IOException {
    CommandCluster cluster = new CommandCluster(context);
    try {
      return of(cluster::close, cluster.openConfigured());
    } catch (IOException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** Opens a cluster that somebody else ends. */
  static MoveCluster of(Configuration configuration) throws IOException {
    return of(() -> {}, configuration);
  }

  private static MoveCluster of(Closeable cluster, Configuration configuration)
      throws CrailException {
    return new MoveCluster(cluster, configuration, CoreStore.open(configuration));
  }

  /** Its connections. */
  LoopContext connections() {
    return connections;
  }

  /** How long a read or a write of an extent may take. */
  long transferNanos() {
    return transferNanos;
  }

  /** How long a datanode may be silent before it counts as offline. */
  long silenceNanos() {
    return silenceNanos;
  }

  /** The number of namenodes. */
  int count() {
    return connections.namenodes().count();
  }

  /** Names a namenode for a user. */
  String name(int index) {
    return MissingNamenode.name(
        index, Addresses.text(connections.namenodes().peer(index).address()));
  }

  /**
   * A namenode that has failed.
   *
   * @throws CrailException the failure itself, unless the namenode is down
   */
  MissingNamenode missing(int index, CrailException failure) throws CrailException {
    return Answers.missing(connections.namenodes(), index, failure);
  }

  /** The number of the start of a namenode that has answered. */
  long incarnation(int index) {
    return connections.namenodes().hello(index).incarnation();
  }

  /** Asks a namenode and waits for the answer. */
  <Q, R> R ask(int index, Operation<Q, R> operation, Q request)
      throws CrailException, InterruptedException {
    return connections.namenodes().callAt(index, operation, request).join();
  }

  /** What all namenodes say. */
  ClusterReport report() throws CrailException, InterruptedException {
    return ClusterQuery.of(connections.namenodes());
  }

  /** How a namenode sees its datanodes, ascending by id. */
  List<ReportDatanodes.Datanode> datanodes(int index) throws CrailException, InterruptedException {
    return ClusterQuery.datanodes(connections.namenodes(), index);
  }

  /**
   * Visits the extents at a datanode.
   *
   * @param datanode its id at that namenode, or {@link ListExtents#ANY_DATANODE}
   */
  void extents(int index, int datanode, ClusterQuery.ExtentVisitor visitor)
      throws CrailException, InterruptedException {
    ClusterQuery.extents(connections.namenodes(), index, datanode, visitor);
  }

  @Override
  public void close() throws Exception {
    try {
      store.close();
    } finally {
      cluster.close();
    }
  }
}
