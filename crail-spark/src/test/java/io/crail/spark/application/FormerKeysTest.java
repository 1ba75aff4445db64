/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The keys of the plugin for Apache Crail. */
class FormerKeysTest {
  private static Configuration read(String key, String value) {
    return Stores.configuration(new SparkConf(false).set(key, value));
  }

  static List<SparkKeys.Former> former() {
    return SparkKeys.FORMER;
  }

  @ParameterizedTest
  @MethodSource("former")
  void keysWithoutAMeaningAreRefusedWithAReason(SparkKeys.Former key) {
    for (String name : List.of(key.name(), key.name().toUpperCase(Locale.ROOT))) {
      ConfigException refused = assertThrows(ConfigException.class, () -> read(name, "0"));
      assertEquals(
          "Spark's configuration: key '" + name + "' is of an earlier plugin: " + key.now(),
          refused.getMessage());
    }
  }

  @Test
  void keysWithAMeaningAreTaken() {
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
    ConfigException refused =
        assertThrows(ConfigException.class, () -> read("spark.crail.deleteonstop", "true"));
    assertTrue(refused.getMessage().contains("'spark.crail.deleteonstop'"), refused.getMessage());
  }
}
