/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import org.apache.spark.ShuffleSuite;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/** Spark's own suite of shuffles, which reads no system properties by itself. */
public final class CrailShuffleSuite extends ShuffleSuite {
  @Override
  public void beforeAll() {
    super.beforeAll();
    for (Tuple2<String, String> each : new SparkConf().getAll()) {
      conf().set(each._1(), each._2());
    }
  }
}
