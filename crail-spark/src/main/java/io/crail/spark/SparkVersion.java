/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.package$;

/**
 * Refuses a Spark for which this plugin is not made, before a class is used that would fail there
 * in the middle of a task. Stateless.
 */
final class SparkVersion {
  private static final String LINE = "4.2";

  private SparkVersion() {}

  /**
   * Checks the Spark of this process.
   *
   * @throws IllegalStateException when it is of another line
   */
  static void check() {
    String version = package$.MODULE$.SPARK_VERSION();
    if (!version.equals(LINE) && !version.startsWith(LINE + ".")) {
      throw new IllegalStateException(
          "this jar of Crail is for Spark " + LINE + ", and this is Spark " + version);
    }
  }

  /** As {@link #check}; gives the configuration back. */
  static SparkConf checked(SparkConf conf) {
    check();
    return conf;
  }
}
