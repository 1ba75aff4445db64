/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Neighbouring partitions of an output are fetched as one block. */
@Tag("once")
class BatchFetchTest {
  private static final int MAPS = 4;
  private static final int PARTITIONS = 10;

  @TempDir Path local;

  /** One task reads all partitions, since they are small. */
  @ParameterizedTest
  @CsvSource({"true," + MAPS, "false," + MAPS * PARTITIONS})
  void partitionsThatAreReadTogetherAreOneBlock(boolean batch, long expected) throws Exception {
    AtomicLong blocks = new AtomicLong();
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder())) {
      SparkConf conf =
          crail
              .conf("local[2]", local)
              .set("spark.sql.adaptive.fetchShuffleBlocksInBatch", String.valueOf(batch))
              .set("spark.sql.shuffle.partitions", String.valueOf(PARTITIONS));
      try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
        spark
            .sparkContext()
            .addSparkListener(
                new SparkListener() {
                  @Override
                  public void onTaskEnd(SparkListenerTaskEnd end) {
                    blocks.addAndGet(end.taskMetrics().shuffleReadMetrics().remoteBlocksFetched());
                  }
                });
        assertEquals(
            1000,
            spark
                .range(0, 4000, 1, MAPS)
                .selectExpr("id % 1000 AS key")
                .groupBy("key")
                .count()
                .collectAsList()
                .size());
        spark.sparkContext().listenerBus().waitUntilEmpty();
      }
    }
    assertEquals(expected, blocks.get());
  }
}
