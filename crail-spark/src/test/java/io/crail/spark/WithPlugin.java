/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A cluster for Spark with the plugin, which has to be empty after each test. */
abstract class WithPlugin {
  static final int MIB = 1 << 20;
  static final int LARGE = 8 * MIB;

  @TempDir Path local;
  SparkOnCrail crail;
  CrailStore store;

  @BeforeEach
  final void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder());
    store = crail.store();
  }

  @AfterEach
  final void stop() throws Exception {
    crail.closeEmpty(store);
  }

  /** The plugin without the shuffle manager. */
  final SparkConf conf() {
    return crail
        .conf("local[4]", local)
        .remove("spark.shuffle.manager")
        .set("spark.plugins", CrailPlugin.class.getName());
  }
}
