/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import io.crail.storage.daemon.Datanode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random numbers for rows that come in another order when they are read again. What is computed
 * again then does not fit to what was kept.
 */
@Tag("once")
class RowChecksumTest {
  private static final int PARTITIONS = 6;

  /** So few that each output is one extent: a datanode has all of it, or nothing. */
  private static final int ROWS = 600;

  private static final long START_NANOS = 30_000_000_000L;
  private static final String KEYS = "spark.sql.shuffle.orderIndependentChecksum.";

  /** What the first task of a result makes happen; null once it has. */
  private static volatile Runnable loss;

  /** Whether rows come in the other order. */
  private static volatile boolean reversed;

  @TempDir Path local;
  private SparkOnCrail crail;
  private Transport transport;
  private Datanode lost;

  /** Spark loses all outputs of a host together, so there are two names for this one. */
  @BeforeEach
  void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder().mapped(false));
    Configuration configuration =
        crail.cluster().configuration().toBuilder()
            .set(StorageKeys.HOST.name(), "localhost", "the test")
            .build();
    transport = TransportProvider.open(configuration);
    StorageTier tier = StorageTier.find(configuration.get(StorageKeys.TYPES).get(0));
    lost =
        Datanode.start(configuration, tier, 0, tier.sharedArguments(local, 64L << 20), transport);
    assertTrue(lost.awaitRegistered(START_NANOS));
    reversed = false;
    loss =
        () -> {
          reversed = true;
          lost.close();
        };
  }

  @AfterEach
  void stop() {
    lost.close();
    crail.close();
    transport.close();
  }

  private SparkSession session(String writer) {
    // A task may fail once.
    SparkConf conf =
        crail
            .conf("local[1,2]", local)
            .set("spark.crail.shuffle.patience", "1s")
            .set("spark.crail.shuffle.map.locationaffinity", "false")
            .set("spark.crail.shuffle.writer", writer)
            .set("spark.sql.shuffle.partitions", String.valueOf(PARTITIONS))
            .set("spark.sql.adaptive.enabled", "false");
    return SparkSession.builder().config(conf).getOrCreate();
  }

  /** How often each number comes, after two shuffles; the first one is by random numbers. */
  private static Dataset<Row> counted(SparkSession spark) {
    MapPartitionsFunction<Long, Long> order = RowChecksumTest::inSomeOrder;
    return spark
        .range(0, ROWS, 1, PARTITIONS)
        .mapPartitions(order, Encoders.LONG())
        .withColumn("random", functions.rand(7))
        .repartition(PARTITIONS, functions.col("random"))
        .groupBy("value")
        .count();
  }

  private static Iterator<Long> inSomeOrder(Iterator<Long> rows) {
    List<Long> all = list(rows);
    if (reversed) {
      Collections.reverse(all);
    }
    return all.iterator();
  }

  private static <T> List<T> list(Iterator<T> all) {
    List<T> list = new ArrayList<>();
    all.forEachRemaining(list::add);
    return list;
  }

  private static final class StageList extends SparkListener {
    private final List<Integer> tasks = new CopyOnWriteArrayList<>();

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted event) {
      // Spark submits a stage again for a late failure, also when there is nothing left to do.
      if (event.stageInfo().numTasks() > 0) {
        tasks.add(event.stageInfo().numTasks());
      }
    }
  }

  /**
   * Two stages of maps and the result begin. Then some outputs of both are lost. The first stage
   * computes some outputs again; the second one all, if it is to be right.
   */
  @ParameterizedTest
  @CsvSource({
    "auto,false,false",
    "auto,true,false",
    "auto,false,true",
    "auto,true,true",
    "spark,true,true"
  })
  void stagesThatHaveReadOtherRowsRunAgainInFull(String writer, boolean computed, boolean retried)
      throws Exception {
    try (SparkSession spark = session(writer)) {
      spark.sql("SET " + KEYS + "enabled=" + computed);
      spark.sql("SET " + KEYS + "enableFullRetryOnMismatch=" + retried);
      StageList stages = new StageList();
      spark.sparkContext().addSparkListener(stages);
      List<String> rows =
          counted(spark)
              .javaRDD()
              .mapPartitions(RowChecksumTest::failingOnce)
              .map(row -> row.getLong(0) + " x " + row.getLong(1))
              .collect();
      List<String> expected = LongStream.range(0, ROWS).mapToObj(i -> i + " x 1").sorted().toList();
      List<String> sorted = rows.stream().sorted().toList();
      spark.sparkContext().listenerBus().waitUntilEmpty();
      List<Integer> tasks = stages.tasks;
      assertEquals(
          List.of(PARTITIONS, PARTITIONS, PARTITIONS), tasks.subList(0, 3), () -> "" + tasks);
      assertTrue(0 < tasks.get(3) && tasks.get(3) < PARTITIONS, () -> "" + tasks);
      assertEquals(retried, tasks.get(4) == PARTITIONS, () -> "" + tasks);
      assertEquals(PARTITIONS, tasks.get(tasks.size() - 1), () -> "" + tasks);
      if (retried) {
        assertEquals(expected, sorted);
      } else {
        // Else this test would show nothing.
        assertNotEquals(expected, sorted);
      }
    }
  }

  private static Iterator<Row> failingOnce(Iterator<Row> rows) {
    Runnable action = loss;
    if (action != null) {
      loss = null;
      action.run();
      throw new IllegalStateException("for a test");
    }
    return rows;
  }

  /** Spark cannot take back what a task of the result has handed out. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "spark"})
  void aPartialResultFails(String writer) throws Exception {
    try (SparkSession spark = session(writer)) {
      SparkException failed =
          assertThrows(
              SparkException.class,
              () ->
                  counted(spark)
                      .javaRDD()
                      .mapPartitions(RowChecksumTest::losingAtTheEnd)
                      .collect());
      assertTrue(failed.getMessage().contains("indeterminate"), failed::toString);
    }
  }

  private static Iterator<Row> losingAtTheEnd(Iterator<Row> rows) {
    List<Row> all = list(rows);
    if (TaskContext.get().partitionId() == 0 && loss != null) {
      loss.run();
      loss = null;
    }
    return all.iterator();
  }
}
