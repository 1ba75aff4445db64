/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.scalatest.tools.Runner;

/** Spark's own suites as judges. */
@Tag("once")
class SparkSuitesTest {
  /**
   * One with executors in processes of their own, and those without. Left out are four that look
   * for local files, which Crail has none of: SPARK-3426, SPARK-4085, its sibling "cannot find its
   * local shuffle file", and SPARK-36206.
   */
  private static final List<String> QUICK =
      List.of(
          "groupByKey without compression",
          "zero sized blocks without kryo",
          "metrics for shuffle without aggregation",
          "metrics for shuffle with aggregation",
          "multiple simultaneous attempts for one task (SPARK-8029)",
          "SPARK-34541: shuffle can be removed");

  private static final List<String> OTHERS =
      List.of(
          "shuffle non-zero block size",
          "shuffle serializer",
          "zero sized blocks",
          "shuffle on mutable pairs",
          "sorting on mutable pairs",
          "cogroup using mutable pairs",
          "subtract mutable pairs",
          "sort with Java non serializable class - Kryo",
          "sort with Java non serializable class - Java",
          "SPARK-39771: warn when shuffle block number is too large");

  private static void run(Class<?> suite, List<String> tests) {
    List<String> arguments = new ArrayList<>(List.of("-oW", "-s", suite.getName()));
    tests.forEach(test -> arguments.addAll(List.of("-t", test)));
    assertTrue(Runner.run(arguments.toArray(String[]::new)), suite.getSimpleName());
  }

  @Test
  void shuffles() {
    run(CrailShuffleSuite.class, QUICK);
  }

  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void shufflesLong() {
    run(CrailShuffleSuite.class, OTHERS);
  }
}
