/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailLocationClass;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.spark.application.Applications.Report;
import io.crail.spark.broadcast.StoreSilence;
import io.crail.spark.broadcast.ValueLoads;
import io.crail.spark.output.BackgroundDelete;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.OutputStatistics;
import io.crail.spark.output.WriterTurns;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store of one process of an application, and the application's roots. The parts of the plugin
 * that live in one process share it: it is closed with the last of them. Thread-safe.
 */
public final class ApplicationStore implements AutoCloseable {
  /** No host has this name (RFC 2606), so each output is together on any one host. */
  private static final CrailLocationClass NO_HOST = CrailLocationClass.of("any.invalid");

  private static final Logger LOG = LoggerFactory.getLogger(ApplicationStore.class);

  private final Release release;
  private final String application;
  private final Configuration configuration;
  private final CrailStore store;
  private final List<String> roots;
  private final ApplicationLease lease;
  private final Holdings holdings;
  private final OutputStatistics counts = new OutputStatistics();
  private final BufferShares shares;
  private final WriterTurns turns;
  private final ValueLoads loads = new ValueLoads();
  private final StoreSilence silence = new StoreSilence(System::nanoTime);
  private final BackgroundDelete deletions = new BackgroundDelete(path -> outputs().remove(path));

  /** Gives a share back, and {@linkplain #end ends} the store with the last one. */
  @FunctionalInterface
  interface Release {
    /** Gives it back. */
    void run() throws Exception;
  }

  ApplicationStore(
      Release release, String application, Configuration configuration, CrailStore store) {
    this.release = release;
    this.application = application;
    this.configuration = configuration;
    this.shares = BufferShares.of(configuration);
    this.turns = new WriterTurns(shares.writers(), configuration.get(SparkKeys.PATIENCE));
    this.store = store;
    NamenodeAddresses namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    this.roots = Roots.of(application, namenodes.size());
    this.holdings = new Holdings(new Applications(store, namenodes), application, roots);
    this.lease = new ApplicationLease(broadcasts());
  }

  /** {@return the application's name in the store} */
  public String application() {
    return application;
  }

  /** {@return the settings of plugin and store} */
  public Configuration configuration() {
    return configuration;
  }

  /** {@return how readers and writers of map outputs share the store's buffers} */
  public BufferShares shares() {
    return shares;
  }

  /** {@return the store} */
  public CrailStore store() {
    return store;
  }

  /** {@return the paths of the application's roots} */
  public List<String> roots() {
    return roots;
  }

  /** {@return where the application's map outputs lie} */
  public OutputPlace outputs() {
    return new OutputPlace(
        store,
        roots,
        CrailStorageClass.get(configuration.get(SparkKeys.SHUFFLE_STORAGE_CLASS)),
        configuration.get(SparkKeys.LOCATION_AFFINITY) ? store.getLocationClass() : NO_HOST,
        configuration.get(SparkKeys.LEASE),
        counts,
        turns);
  }

  /** {@return what this process has written and fetched of map outputs} */
  public OutputStatistics counts() {
    return counts;
  }

  /**
   * Looks at what the application has in the store now.
   *
   * @param patience how long to wait for the namenodes; the report names those that have not
   *     answered then
   * @return the application; none when no namenode has answered
   * @throws Exception an error of the store, other than that a namenode is down
   */
  public Report held(Duration patience) throws Exception {
    return holdings.look(patience);
  }

  /**
   * Looks at what all applications have in the store now, at the namenodes that answer.
   *
   * @return the applications
   */
  public List<Applications.Application> all() throws Exception {
    return new Applications(store, configuration.get(ClusterKeys.NAMENODE_ADDRESS))
        .list()
        .applications();
  }

  /** {@return where the application's broadcast values lie} */
  public OutputPlace broadcasts() {
    return new OutputPlace(
        store,
        roots,
        CrailStorageClass.get(configuration.get(SparkKeys.BROADCAST_STORAGE_CLASS)),
        CrailLocationClass.DEFAULT,
        configuration.get(SparkKeys.LEASE));
  }

  /**
   * {@return the path of a broadcast value}
   *
   * @param id its number in the application
   */
  public String broadcastPath(long id) {
    String root = roots.get((int) Long.remainderUnsigned(id, roots.size()));
    return root + "/broadcast/" + Long.toUnsignedString(id);
  }

  /** {@return the loads of broadcast values in this process} */
  public ValueLoads loads() {
    return loads;
  }

  /** {@return whether the store answers those who write and read broadcast values} */
  public StoreSilence silence() {
    return silence;
  }

  /** {@return what deletes broadcast values, and what could not be deleted at once} */
  public BackgroundDelete deletions() {
    return deletions;
  }

  /** Deletes all that the application has in the store. What is left ends with its lease. */
  public void removeAll() {
    try {
      outputs().removeRoots();
    } catch (IOException e) {
      LOG.warn("cannot delete all of {}", roots, e);
    }
  }

  /** Ends what it started, all of it: also when the thread is interrupted, or a part fails. */
  void end() throws Exception {
    try (store;
        lease;
        deletions;
        holdings) {
      // They close in the opposite order.
    }
  }

  /** Gives this part's share back. */
  @Override
  public void close() throws Exception {
    release.run();
  }
}
