/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Spark's own suites as judges. */
@Tag("once")
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class SparkSuitesTest {
  private static final int QUERY_PARTS = 16;

  private SuiteEnvironment environment;

  @BeforeEach
  void start() throws Exception {
    environment = new SuiteEnvironment(Map.of());
  }

  @AfterEach
  void stop() throws Exception {
    try {
      assertEquals(List.of(), environment.left(), "what applications left");
    } finally {
      environment.close();
    }
  }

  /** One with executors in processes of their own, and some without. */
  @Test
  void someShuffles() throws Exception {
    SparkSuites.SHUFFLE.run(
        "groupByKey without compression",
        "zero sized blocks without kryo",
        "metrics for shuffle without aggregation",
        "metrics for shuffle with aggregation",
        "multiple simultaneous attempts for one task (SPARK-8029)",
        "SPARK-34541: shuffle can be removed");
  }

  /** Ranges of partitions, and of map outputs. */
  @Test
  void someAdaptiveQueries() throws Exception {
    SparkSuites.ADAPTIVE.run(
        "Change merge join to broadcast join",
        "SPARK-29544: adaptive skew join with different join types",
        "SPARK-35725: Support optimize skewed partitions in RebalancePartitions",
        "SPARK-34980: Support coalesce partition through union");
  }

  @Test
  void someQueries() throws Exception {
    SparkSuites.QUERIES.run("group-by-ordinal.sql", "natural-join.sql");
  }

  static IntStream parts() {
    return IntStream.range(0, QUERY_PARTS);
  }

  /** All files of queries, most of which shuffle; in parts, each of which starts Spark anew. */
  @ParameterizedTest
  @MethodSource("parts")
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void allQueries(int part) throws Exception {
    List<String> files = SparkSuites.QUERIES.tests();
    int first = files.size() * part / QUERY_PARTS;
    int end = files.size() * (part + 1) / QUERY_PARTS;
    SparkSuites.QUERIES.run(files.subList(first, end).toArray(String[]::new));
  }

  static List<SparkSuite> suites() {
    return SparkSuites.ALL;
  }

  @ParameterizedTest
  @MethodSource("suites")
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void all(SparkSuite suite) throws Exception {
    suite.run();
  }
}
