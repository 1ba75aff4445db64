/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** A store that is too small for all shuffles of a program. */
class FullStoreTest {
  private static final int MIB = 1 << 20;
  private static final int SHUFFLE_MIB = 20;

  @TempDir private Path local;

  private SparkConf conf(SparkOnCrail crail, String master) {
    return crail
        .conf(master, local)
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
  }

  /** A shuffle that is in the store as long as this is referenced. */
  private static JavaPairRDD<Integer, byte[]> moved(JavaSparkContext spark) {
    JavaPairRDD<Integer, byte[]> moved =
        spark
            .parallelize(Collections.nCopies(SHUFFLE_MIB, MIB), 2)
            .mapToPair(
                length -> {
                  byte[] bytes = new byte[length];
                  new SplittableRandom().nextBytes(bytes);
                  return new Tuple2<>((int) bytes[0], bytes);
                })
            .repartitionAndSortWithinPartitions(new org.apache.spark.HashPartitioner(2));
    assertEquals(SHUFFLE_MIB, moved.count());
    return moved;
  }

  @Test
  void droppedShufflesMakeRoom() throws Exception {
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder(), 48L * MIB);
        JavaSparkContext spark = SparkOnCrail.context(conf(crail, "local[1,4]"))) {
      List<JavaPairRDD<Integer, byte[]>> held =
          new ArrayList<>(List.of(moved(spark), moved(spark)));
      // After that, only a full collection finds them.
      System.gc();
      assertEquals(2, held.size());
      held.clear();
      moved(spark);
    }
  }

  @Test
  void theErrorNamesWhoHoldsTheSpace() throws Exception {
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder(), 32L * MIB);
        JavaSparkContext spark = SparkOnCrail.context(conf(crail, "local[1]"))) {
      JavaPairRDD<Integer, byte[]> first = moved(spark);
      SparkException failed = assertThrows(SparkException.class, () -> moved(spark));
      String holds = "(?s).*no space: .*; a-test-\\S+ holds [23]\\d(\\.\\d+)? MiB.*";
      assertTrue(failed.getMessage().matches(holds), failed::getMessage);
      assertEquals(SHUFFLE_MIB, first.count());
    }
  }
}
