/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import org.apache.spark.ShuffleSuite;

/** Spark's own suite of shuffles, on Crail. ScalaTest runs it. */
public final class CrailShuffleSuite extends ShuffleSuite {
  private SparkOnCrail crail;

  @Override
  public void beforeAll() {
    super.beforeAll();
    try {
      crail = new SparkOnCrail(EmbeddedCrail.builder());
      crail.set(conf());
      Executors.set(conf());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void afterAll() {
    try {
      super.afterAll();
    } finally {
      crail.close();
    }
  }
}
