/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Broadcasts;
import io.crail.spark.SparkOnCrail;
import io.crail.spark.line42.LateWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TestUtils$;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** Directories of shuffles, which an executor in a process of its own has to ask for. */
@Tag("once")
@Timeout(300)
class LateTaskTest {
  private static final int START_MILLIS = 60_000;

  @TempDir Path local;

  private static List<String> late(JavaSparkContext spark, int shuffle) {
    return spark.parallelize(List.of(shuffle), 1).map(LateWriter::write).collect();
  }

  @Test
  void theDriverMakesDirectoriesOfShufflesThatAreNeededAndNoOthers() throws Exception {
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder());
        CrailStore store = crail.store();
        JavaSparkContext spark =
            SparkOnCrail.context(
                Executors.set(crail.conf("local-cluster[1,1,1024]", local))
                    .set("spark.cleaner.referenceTracking.blocking.shuffle", "true"))) {
      TestUtils$.MODULE$.waitUntilExecutorsUp(spark.sc(), 1, START_MILLIS);
      JavaPairRDD<Integer, Iterable<Integer>> grouped =
          spark
              .parallelize(IntStream.range(0, 1000).boxed().toList(), 3)
              .mapToPair(number -> new Tuple2<>(number % 7, number))
              .groupByKey(2);
      assertEquals(7, grouped.count());
      String root = Broadcasts.children(store, "/").get(0);
      store.delete(root, true).get();
      assertEquals(List.of("written"), late(spark, 0));
      spark.sc().cleaner().get().doCleanupShuffle(0, true);
      assertEquals(List.of(), Broadcasts.children(store, root));
      assertEquals(List.of("RemovedShuffleException"), late(spark, 0));
      assertEquals(List.of(), Broadcasts.children(store, root));
    }
  }
}
