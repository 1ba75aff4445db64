/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import io.crail.spark.line42.CrailShuffleDataIO;
import io.crail.spark.line42.ShuffleManager42;
import org.apache.spark.SparkConf;

/**
 * Keeps Spark's shuffle data in Crail: {@code spark.shuffle.manager
 * io.crail.spark.CrailShuffleManager}. Spark creates one in the driver and in each executor.
 */
public final class CrailShuffleManager extends ShuffleManager42 {
  /**
   * Connects to the store.
   *
   * @param conf Spark's configuration
   * @param isDriver whether this process is the driver
   * @throws Exception a {@code ConfigException} for an unknown key or a bad value; an {@code
   *     IllegalStateException} for another line of Spark
   */
  public CrailShuffleManager(SparkConf conf, boolean isDriver) throws Exception {
    super(SparkVersion.checked(conf), isDriver, CrailShuffleDataIO.class);
  }
}
