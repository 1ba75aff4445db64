/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static io.crail.spark.system.NumbersJob.PARTITIONS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SQL that reads parts of outputs, and SQL that gets other rows when it is computed again. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
class SparkSqlSystemTest {
  private static final int EXECUTORS = 2;
  private static final long ROWS = 4000;
  private static final String CHECKSUM = "spark.sql.shuffle.orderIndependentChecksum.";

  @TempDir private static Path local;
  private static CrailServers servers;

  @BeforeAll
  static void start() throws Exception {
    servers = CrailServers.start(1, 2, "128m");
  }

  @AfterAll
  static void stop() throws Exception {
    if (servers != null) {
      servers.close();
    }
  }

  private static SparkConf conf(SparkConf conf) {
    return conf.set("spark.sql.warehouse.dir", local.resolve("warehouse").toString())
        .set("spark.sql.shuffle.partitions", String.valueOf(PARTITIONS))
        .set("spark.sql.autoBroadcastJoinThreshold", "-1");
  }

  private static SparkConf conf() throws Exception {
    return conf(
        SparkApplication.conf(servers, SparkApplication.localCluster(EXECUTORS), local)
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer"));
  }

  /** A join with most rows in one partition; it returns the plan that was executed in the end. */
  private static List<String> skewed(StringBuilder plan) {
    SparkSession session = SparkSession.builder().getOrCreate();
    Dataset<Row> left =
        session
            .range(0, 40_000, 1, 8)
            .selectExpr("if(id < 30000, 0, id % 1000) AS k", "id", "sha2(string(id), 256) AS text");
    Dataset<Row> right = session.range(0, 1000, 1, 4).selectExpr("id AS k", "id * 3 AS w");
    Dataset<Row> joined = left.join(right, "k");
    List<String> rows = new ArrayList<>();
    joined.collectAsList().forEach(row -> rows.add(row.toString()));
    plan.append(
        ((org.apache.spark.sql.classic.Dataset<Row>) joined)
            .queryExecution()
            .executedPlan()
            .toString());
    rows.sort(null);
    return rows;
  }

  private static SparkConf skewed(SparkConf conf) {
    return conf.set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "64k")
        .set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "128k")
        .set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2");
  }

  @Test
  void aSkewedJoinReadsPartsOfAPartition() throws Exception {
    SparkConf own =
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("Spark's own shuffle")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    List<String> expected;
    try (JavaSparkContext spark = new JavaSparkContext(skewed(conf(own)))) {
      expected = skewed(new StringBuilder());
    }
    try (SparkApplication application = SparkApplication.start(skewed(conf()), EXECUTORS)) {
      StringBuilder plan = new StringBuilder();
      assertEquals(expected, skewed(plan));
      assertTrue(plan.toString().contains("SortMergeJoin(skew=true)"), plan::toString);
      assertTrue(plan.toString().contains("skewed"), plan::toString);
    }
    servers.assertEmpty();
  }

  /** Whichever key asks for them. */
  @ParameterizedTest
  @ValueSource(strings = {"enabled", "enableFullRetryOnMismatch"})
  void outputsHaveChecksumsOfTheirRows(String key) throws Exception {
    SparkConf conf =
        conf()
            .set(CHECKSUM + "enabled", "false")
            .set(CHECKSUM + "enableFullRetryOnMismatch", "false")
            .set(CHECKSUM + key, "true");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      SparkSession session = SparkSession.builder().getOrCreate();
      assertEquals(
          100, session.range(0, 1000, 1, 3).groupBy(functions.expr("id % 100")).count().count());
      List<MapStatus> outputs = SparkApplication.outputs(0);
      assertEquals(3, outputs.size());
      outputs.forEach(output -> assertNotEquals(0, output.checksumValue()));
    }
  }

  /**
   * Rows that another attempt of their stage sends to other partitions. When a lost output is
   * computed again, the tasks that have read the old one are repeated as well.
   */
  @Test
  void otherRowsOfALostOutputRepeatWhatWasReadOfIt() throws Exception {
    int victim = servers.startDatanode();
    SparkConf conf =
        conf()
            .set("spark.sql.adaptive.enabled", "false")
            .set(CHECKSUM + "enableFullRetryOnMismatch", "true");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      StageLog log = application.log();
      SparkSession session = SparkSession.builder().getOrCreate();
      Gate read = Gate.closed(local);
      Dataset<Long> rows =
          session
              .range(0, ROWS, 1, NumbersJob.MAPS)
              .as(Encoders.LONG())
              .mapPartitions(
                  (MapPartitionsFunction<Long, Long>)
                      all -> {
                        List<Long> numbers = new ArrayList<>();
                        int attempt = TaskContext.get().stageAttemptNumber();
                        all.forEachRemaining(id -> numbers.add(id + ROWS * attempt));
                        return numbers.iterator();
                      },
                  Encoders.LONG())
              .repartition(PARTITIONS, functions.col("value"))
              .mapPartitions(
                  (MapPartitionsFunction<Long, Long>)
                      all -> {
                        List<Long> numbers = new ArrayList<>();
                        all.forEachRemaining(number -> numbers.add(number % ROWS));
                        read.pass();
                        return numbers.iterator();
                      },
                  Encoders.LONG())
              .repartition(PARTITIONS, functions.col("value"));
      CompletableFuture<List<Long>> job = CompletableFuture.supplyAsync(rows::collectAsList);
      read.await(EXECUTORS);
      servers.killDatanode(victim);
      read.open();
      assertEquals(
          LongStream.range(0, ROWS).boxed().toList(),
          job.get(300, TimeUnit.SECONDS).stream().sorted().toList());
      assertTrue(log.fetchFailures() > 0, log.stages()::toString);
    }
    servers.assertEmpty();
  }
}
