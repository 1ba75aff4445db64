/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import io.crail.spark.line42.CrailDriver;
import io.crail.spark.line42.CrailExecutor;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Keeps Spark's large broadcast values in Crail: {@code spark.plugins io.crail.spark.CrailPlugin}.
 * Each executor reads a value once, from the store and not from the driver. A small value, and one
 * that cannot be stored, is broadcast by Spark as ever. With it or without the shuffle manager.
 */
public final class CrailPlugin implements SparkPlugin {
  /**
   * Created by Spark.
   *
   * @throws IllegalStateException for another line of Spark
   */
  public CrailPlugin() {
    SparkVersion.check();
  }

  @Override
  public DriverPlugin driverPlugin() {
    return new CrailDriver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new CrailExecutor();
  }
}
