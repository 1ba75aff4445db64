/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Spark's suites that judge the plugin, and what is left out of them. */
final class SparkSuites {
  private static final String PYSPARK = "needs Spark's part for Python";
  private static final String FILES = "looks for local files; ShuffleFilesTest has its promise";

  static final SparkSuite SHUFFLE =
      new SparkSuite(
          CrailShuffleSuite.class.getName(),
          Map.of(
              "shuffle with different compression settings (SPARK-3426)",
              FILES,
              "[SPARK-4085] rerun map stage if reduce stage cannot find its local shuffle file",
              FILES,
              "cannot find its local shuffle file if no execution of the stage and rerun shuffle",
              FILES,
              "SPARK-36206: shuffle checksum detect disk corruption",
              FILES));

  static final SparkSuite ADAPTIVE =
      new SparkSuite(
          "org.apache.spark.sql.execution.adaptive.AdaptiveQueryExecSuite",
          Map.of(
              "SPARK-34091: Batch shuffle fetch in AQE partition coalescing",
              "counts blocks of this executor, which has none; BatchFetchTest has its promise",
              "SPARK-48037: Fix SortShuffleWriter lacks shuffle write related metrics resulting in"
                  + " potentially inaccurate data",
              "the index of 17 million partitions does not fit into this process"));

  static final SparkSuite QUERIES =
      new SparkSuite(
          "org.apache.spark.sql.SQLQueryTestSuite",
          Map.of(
              "udtf/udtf.sql - Python UDTFs",
              PYSPARK,
              "udtf/udtf.sql - Python UDTFs_analyzer_test",
              PYSPARK));

  /** With encryption. */
  private static final SparkSuite ADAPTIVE_ENCRYPTED =
      ADAPTIVE.without(
          "fails with Spark's own shuffle, too, where data are encrypted: blocks are longer then",
          "metrics of the shuffle read",
          "SPARK-35264: Support AQE side shuffled hash join formula",
          "SPARK-35725: Support optimize skewed partitions in RebalancePartitions",
          "SPARK-37357: Add small partition factor for rebalance partitions");

  private static final List<SparkSuite> BOTH =
      List.of(
          SHUFFLE,
          core("rdd.SortingSuite"),
          sql("execution.CoalesceShufflePartitionsSuite"),
          sql("execution.ExchangeSuite"),
          sql("execution.SortSuite"),
          sql("execution.metric.MetricsFailureInjectionSuite"),
          sql("MapStatusEndToEndSuite"),
          sql("JoinSuite"),
          sql("DataFrameAggregateSuite"),
          sql("TypedImperativeAggregateSuite"));

  static final List<SparkSuite> ENCRYPTED =
      Stream.concat(BOTH.stream(), Stream.of(ADAPTIVE_ENCRYPTED)).toList();

  static final List<SparkSuite> ALL =
      Stream.concat(
              BOTH.stream(),
              Stream.of(
                  core("rdd.PairRDDFunctionsSuite"),
                  core("rdd.RDDSuite"),
                  core("scheduler.AdaptiveSchedulingSuite"),
                  core("util.collection.ExternalSorterSuite"),
                  ADAPTIVE,
                  sql("execution.ReplaceHashWithSortAggSuite"),
                  // Each stage runs again.
                  sql("execution.metric.SQLLastAttemptMetricIntegrationSuiteWithStageRetries"),
                  sql("DatasetSuite"),
                  sql("DataFrameSetOperationsSuite")))
          .toList();

  private SparkSuites() {}

  private static SparkSuite core(String name) {
    return new SparkSuite("org.apache.spark." + name);
  }

  private static SparkSuite sql(String name) {
    return new SparkSuite("org.apache.spark.sql." + name);
  }
}
