/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** A cluster of Crail in this process, and the configuration of Spark for it. */
public final class SparkOnCrail implements AutoCloseable {
  private static final long STORAGE_BYTES = 512L << 20;

  private final EmbeddedCrail cluster;

  /** Starts a cluster. */
  public SparkOnCrail(EmbeddedCrail.Builder builder) throws Exception {
    this(builder, STORAGE_BYTES);
  }

  /** Starts a cluster that lends so many bytes. */
  public SparkOnCrail(EmbeddedCrail.Builder builder, long storageBytes) throws Exception {
    cluster = builder.storage(storageBytes).start();
  }

  /** {@return the cluster} */
  public EmbeddedCrail cluster() {
    return cluster;
  }

  /** {@return the configuration that a user would write, and what tests need} */
  public SparkConf conf(String master, Path localDirectory) {
    return set(new SparkConf(false))
        .setMaster(master)
        .setAppName("A test")
        .set("spark.local.dir", localDirectory.toString())
        .set("spark.storage.exceptionOnPinLeak", "true");
  }

  /** Adds the settings that every application on this cluster needs. */
  public SparkConf set(SparkConf conf) {
    return set(conf, cluster.configuration().texts().get("crail.namenode.address"));
  }

  /** Adds the settings that every application needs on the cluster with these namenodes. */
  public static SparkConf set(SparkConf conf, String namenodes) {
    return conf.set("spark.shuffle.manager", CrailShuffleManager.class.getName())
        .set("spark.crail.namenode.address", namenodes)
        .set("spark.ui.enabled", "false")
        .set("spark.unsafe.exceptionOnMemoryLeak", "true")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1");
  }

  /** {@return a context with that configuration} */
  public static JavaSparkContext context(SparkConf conf) {
    return new JavaSparkContext(conf);
  }

  /** {@return a client of the cluster} */
  public CrailStore store() throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  /** Ends a client and the cluster. Fails when applications have left something in the store. */
  public void closeEmpty(CrailStore store) throws Exception {
    try {
      assertEquals(List.of(), Broadcasts.children(store, "/"), "what applications left");
    } finally {
      store.close();
      close();
    }
  }

  @Override
  public void close() {
    cluster.close();
  }
}
