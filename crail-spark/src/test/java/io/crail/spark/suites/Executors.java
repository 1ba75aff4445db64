/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;

/** What executors in processes of their own need, if Spark is here as single jars. */
public final class Executors {
  private Executors() {}

  /**
   * Gives executors the class path of this process, and Spark a directory of jars, an empty one.
   */
  public static SparkConf set(SparkConf conf) throws IOException {
    Files.createDirectories(Path.of(System.getProperty("spark.test.home"), "jars"));
    return conf.set("spark.executor.extraClassPath", classPath());
  }

  /** {@return the class path of this process} */
  public static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }
}
