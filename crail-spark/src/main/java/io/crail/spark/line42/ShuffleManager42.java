/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.ParentNotFoundException;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.SparkKeys;
import io.crail.spark.application.Stores;
import io.crail.spark.fetch.Fetcher;
import io.crail.spark.line42.LocatedWriter.SealedOutput;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.OutputWriter;
import io.crail.spark.output.RemovedShuffleException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A writer for outputs in Crail, or else Spark's writers, whose outputs go there through {@link
 * CrailShuffleDataIO}, and a reader that fetches from Crail. Thread-safe.
 */
public class ShuffleManager42 implements ShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleManager42.class);
  private static final String DATA_IO_KEY = "spark.shuffle.sort.io.plugin.class";
  private static final String TRACKING_KEY = "spark.dynamicAllocation.shuffleTracking.enabled";

  /**
   * What Spark would have to fetch from an executor, and what other programs would have to read.
   */
  private static final Map<String, String> REFUSED =
      Map.of(
          "spark.shuffle.useOldFetchProtocol", "Crail's outputs need the new one",
          "spark.shuffle.push.enabled", "Crail's outputs are never pushed to other executors");

  private final boolean isDriver;
  private final ApplicationStore application;
  private final OutputPlace outputs;
  private final SortShuffleManager sort;
  private final Fetcher fetcher;
  private final ShuffleBlockResolver resolver = new NoLocalBlocks();

  /** In the driver, else null. */
  private final DriverShuffles shuffles;

  /** The output that a thread has sealed within one of Spark's writers. */
  private final ThreadLocal<SealedOutput> sealed = new ThreadLocal<>();

  /**
   * Connects to the store.
   *
   * @param dataIo where Spark's writers put their outputs
   */
  protected ShuffleManager42(
      SparkConf conf, boolean isDriver, Class<? extends ShuffleDataIO> dataIo) throws Exception {
    this.isDriver = isDriver;
    REFUSED.forEach((key, reason) -> refuse(conf, key, reason));
    String configured = conf.get(DATA_IO_KEY, dataIo.getName());
    if (!configured.equals(dataIo.getName())) {
      throw new ConfigException("key '" + DATA_IO_KEY + "' is " + configured + ", not Crail's own");
    }
    conf.set(DATA_IO_KEY, configured);
    if (isDriver) {
      Stores.nameApplication(conf);
      freeIdleExecutors(conf);
    }
    this.application = Stores.PROCESS.of(conf);
    this.outputs = application.outputs();
    this.sort = new SortShuffleManager(conf);
    this.fetcher = new Fetcher(outputs, limits(application));
    this.shuffles = isDriver ? new DriverShuffles(application) : null;
    if (isDriver) {
      createRoots();
    }
  }

  private static Fetcher.Limits limits(ApplicationStore application) {
    Configuration configuration = application.configuration();
    return new Fetcher.Limits(
        configuration.get(SparkKeys.FETCH_THREADS),
        application.shares().fetchedBytes(),
        configuration.get(SparkKeys.INDEX_CACHE),
        configuration.get(SparkKeys.PATIENCE));
  }

  private void createRoots() throws IOException {
    try {
      outputs.createRoots();
    } catch (IOException e) {
      stop();
      throw e;
    }
    LOG.info("shuffle data lie in Crail, at {}", application.roots().get(0));
  }

  /**
   * By default Spark keeps executors that have written outputs. Crail's do not lie there, so such
   * executors may go.
   */
  private static void freeIdleExecutors(SparkConf conf) {
    if (!conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
      return;
    }
    if (!conf.contains(TRACKING_KEY)) {
      conf.set(TRACKING_KEY, "false");
    } else if (conf.getBoolean(TRACKING_KEY, true)) {
      LOG.warn("{} is set: it keeps idle executors, though no outputs lie there", TRACKING_KEY);
    }
  }

  private static void refuse(SparkConf conf, String key, String reason) {
    if (conf.getBoolean(key, false)) {
      throw new ConfigException("key '" + key + "' is set: " + reason);
    }
  }

  /** The manager of this process. */
  static ShuffleManager42 current() {
    return (ShuffleManager42) SparkEnv.get().shuffleManager();
  }

  OutputPlace outputs() {
    return outputs;
  }

  DriverShuffles shuffles() {
    return shuffles;
  }

  Fetcher fetcher() {
    return fetcher;
  }

  /** Creates the file of an output. */
  OutputWriter open(OutputId id, int partitions) throws IOException {
    String attempt = Long.toHexString(ThreadLocalRandom.current().nextLong());
    try {
      return new OutputWriter(outputs, id, attempt, partitions);
    } catch (ParentNotFoundException e) {
      int shuffle = id.shuffle();
      if (!(isDriver ? shuffles.remake(shuffle) : ShuffleEndpoint.askDriver(shuffle))) {
        throw new RemovedShuffleException(id, e);
      }
    }
    return new OutputWriter(outputs, id, attempt, partitions);
  }

  /** Notes what this thread has sealed. */
  void sealed(SealedOutput output) {
    sealed.set(output);
  }

  private SealedOutput takeSealed() {
    SealedOutput output = sealed.get();
    sealed.remove();
    return output;
  }

  private String makeRoom() {
    return isDriver ? shuffles.makeRoom() : ShuffleEndpoint.askForRoom();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    shuffles.register(shuffleId, dependency.rdd().context());
    return sort.registerShuffle(shuffleId, dependency);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    ShuffleDependency<K, V, ?> dependency = ((BaseShuffleHandle<K, V, ?>) handle).dependency();
    if (application.configuration().get(SparkKeys.WRITER) == SparkKeys.Writer.AUTO
        && RunWriter.suits(dependency, SparkEnv.get().conf())) {
      OutputId id = new OutputId(handle.shuffleId(), mapId);
      return new RoomWriter<>(
          new RunWriter<>(this::open, id, dependency, context, metrics), this::makeRoom);
    }
    ShuffleWriter<K, V> writer = sort.getWriter(handle, mapId, context, metrics);
    return new RoomWriter<>(new LocatedWriter<>(writer, context, this::takeSealed), this::makeRoom);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    return new BlockReader<>(
        fetcher,
        ((BaseShuffleHandle<K, ?, C>) handle).dependency(),
        new BlockReader.Range(startMapIndex, endMapIndex, startPartition, endPartition),
        context,
        metrics);
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    sort.unregisterShuffle(shuffleId);
    fetcher.forgetShuffle(shuffleId);
    if (isDriver) {
      removeShuffle(shuffleId);
    }
    return true;
  }

  /** Deletes the outputs of a shuffle, in the driver. */
  void removeShuffle(int shuffleId) {
    shuffles.remove(shuffleId);
  }

  /** Deletes all that the application has in the store. */
  void removeAll() {
    shuffles.end();
    application.removeAll();
  }

  @Override
  public ShuffleBlockResolver shuffleBlockResolver() {
    return resolver;
  }

  @Override
  public void stop() {
    sort.stop();
    fetcher.close();
    if (isDriver) {
      // Tasks that ended late may have written after the application was cleaned up.
      removeAll();
    }
    try {
      application.close();
    } catch (Exception e) {
      LOG.warn("cannot close the store", e);
    }
  }
}
