/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys of the plugin for Apache Crail. */
class FormerKeysTest {
  private static Configuration read(String key, String value) {
    return Stores.configuration(new SparkConf(false).set(key, value));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.crail.deleteonclose",
        "spark.crail.deleteonstart",
        "spark.crail.preallocate",
        "spark.crail.writeAhead",
        "spark.crail.debug",
        "spark.crail.serializer",
        "spark.crail.shuffle.serializer",
        "spark.crail.shuffle.sorter",
        "spark.crail.shuffle.outstanding"
      })
  void whatMeansNothingIsRefusedWithAReason(String key) throws IOException {
    ConfigException refused = assertThrows(ConfigException.class, () -> read(key, "0"));
    String reason = SparkKeys.FORMER.get(key.toLowerCase(Locale.ROOT));
    assertEquals(
        "Spark's configuration: key '" + key + "' is of an earlier plugin: " + reason,
        refused.getMessage());
    String page = Files.readString(Path.of("../docs/spark.md"));
    assertTrue(page.contains("| `" + key + "` |"), "not on the page");
  }

  @Test
  void whatStillMeansSomethingIsTaken() {
    assertEquals(
        3, read("spark.crail.shuffle.storageclass", "3").get(SparkKeys.SHUFFLE_STORAGE_CLASS));
    assertEquals(
        3, read("spark.crail.broadcast.storageclass", "3").get(SparkKeys.BROADCAST_STORAGE_CLASS));
    assertEquals(
        false,
        read("spark.crail.shuffle.map.locationaffinity", "false").get(SparkKeys.LOCATION_AFFINITY));
  }

  @Test
  void anythingElseIsUnknown() {
    assertThrows(ConfigException.class, () -> read("spark.crail.deleteonstop", "true"));
  }
}
