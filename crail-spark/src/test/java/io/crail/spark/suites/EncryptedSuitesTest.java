/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Spark's own suites as judges, once more with data that Spark encrypts. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class EncryptedSuitesTest {
  static List<SparkSuite> suites() {
    return SparkSuites.ENCRYPTED;
  }

  @ParameterizedTest
  @MethodSource("suites")
  void all(SparkSuite suite) throws Exception {
    try (SuiteEnvironment environment =
        new SuiteEnvironment(Map.of("spark.io.encryption.enabled", "true"))) {
      suite.run();
      assertEquals(List.of(), environment.left(), "what applications left");
    }
  }
}
