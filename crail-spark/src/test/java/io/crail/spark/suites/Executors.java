/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import org.apache.spark.SparkConf;

/** What executors in processes of their own need, if Spark lies here as single jars. */
final class Executors {
  private Executors() {}

  /** Gives executors the class path of this process. */
  static SparkConf set(SparkConf conf) {
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return conf.set("spark.executor.extraClassPath", path);
  }
}
