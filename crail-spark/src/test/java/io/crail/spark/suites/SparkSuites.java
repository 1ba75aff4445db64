/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import java.util.List;
import java.util.Map;

/** Spark's suites that judge the plugin, and what is left out of them. */
final class SparkSuites {
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
              "counts blocks of this executor, which has none; BatchFetchTest has its promise"));

  static final SparkSuite QUERIES = sql("SQLQueryTestSuite");

  static final List<SparkSuite> ALL =
      List.of(
          SHUFFLE,
          core("rdd.SortingSuite"),
          core("rdd.PairRDDFunctionsSuite"),
          core("rdd.RDDSuite"),
          core("DistributedSuite"),
          core("JobCancellationSuite"),
          core("ContextCleanerSuite"),
          core("scheduler.AdaptiveSchedulingSuite"),
          core("scheduler.BarrierTaskContextSuite"),
          core("scheduler.WorkerDecommissionSuite"),
          core("scheduler.WorkerDecommissionExtendedSuite"),
          core("util.collection.ExternalSorterSuite"),
          core("broadcast.BroadcastSuite"),
          ADAPTIVE,
          sql("execution.CoalesceShufflePartitionsSuite"),
          sql("execution.ExchangeSuite"),
          sql("execution.SortSuite"),
          sql("execution.TakeOrderedAndProjectSuite"),
          sql("execution.ReplaceHashWithSortAggSuite"),
          sql("execution.joins.BroadcastJoinSuite"),
          sql("execution.joins.InnerJoinSuite"),
          sql("execution.joins.OuterJoinSuite"),
          sql("execution.metric.SQLMetricsSuite"),
          // Each stage runs again.
          sql("execution.metric.SQLLastAttemptMetricIntegrationSuiteWithStageRetries"),
          sql("execution.metric.MetricsFailureInjectionSuite"),
          sql("MapStatusEndToEndSuite"),
          sql("JoinSuite"),
          sql("DataFrameAggregateSuite"),
          sql("DataFrameWindowFunctionsSuite"),
          sql("DataFrameSetOperationsSuite"),
          sql("DatasetSuite"),
          QUERIES);

  private SparkSuites() {}

  private static SparkSuite core(String name) {
    return new SparkSuite("org.apache.spark." + name);
  }

  private static SparkSuite sql(String name) {
    return new SparkSuite("org.apache.spark.sql." + name);
  }
}
