/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailBuffer;
import io.crail.CrailStore;
import io.crail.common.error.LimitExceededException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

class BlockClientTest {
  @TempDir Path local;

  /** Spark computes again what a fetch failure names, and that is not lost here. */
  @Test
  void tooFewBuffersFailTheTaskAndNotTheFetch() throws Exception {
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder().mapped(false))) {
      SparkConf conf =
          crail
              .conf("local[1]", local)
              .set("spark.crail.storage.localmap", "false")
              .set("spark.crail.cachelimit", "4m")
              .set("spark.crail.shuffle.patience", "0");
      try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
        List<Tuple2<Integer, Object>> records = List.of(new Tuple2<>(1, "a"));
        MapTask task = new MapTask(spark, 2);
        MapStatus status = task.run(records.iterator());
        CrailStore store = ShuffleManager42.current().outputs().store();
        List<CrailBuffer> buffers = new ArrayList<>();
        assertThrows(
            LimitExceededException.class,
            () -> {
              while (true) {
                buffers.add(store.allocateBuffer());
              }
            });
        IllegalStateException failure =
            assertThrows(IllegalStateException.class, () -> task.read(status, 0, 2));
        assertInstanceOf(LimitExceededException.class, failure.getCause());
        for (CrailBuffer buffer : buffers) {
          store.freeBuffer(buffer);
        }
        assertEquals(records, task.read(status, 0, 2));
      }
    }
  }
}
