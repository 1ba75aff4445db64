/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.KryoSerializer;
import scala.Tuple2;

/**
 * A job to which something happens: a shuffle of numbers, each of which comes out once and no more.
 */
final class NumbersJob {
  static final int MAPS = 6;
  static final int PARTITIONS = 4;
  private static final int NUMBERS = 6000;

  private NumbersJob() {}

  /**
   * The numbers, in a map stage.
   *
   * @param everywhere tasks wait until each of two executors has run some
   * @param last where the last task waits before it writes; null for nowhere
   */
  static JavaPairRDD<Integer, Integer> pairs(JavaSparkContext spark, Gate everywhere, Gate last) {
    return spark
        .parallelize(IntStream.range(0, NUMBERS).boxed().toList(), MAPS)
        .mapPartitionsToPair(
            numbers -> {
              everywhere.meet(2);
              if (last != null && TaskContext.getPartitionId() == MAPS - 1) {
                last.pass();
              }
              return keyed(numbers);
            });
  }

  private static Iterator<Tuple2<Integer, Integer>> keyed(Iterator<Integer> numbers) {
    List<Tuple2<Integer, Integer>> keyed = new ArrayList<>();
    numbers.forEachRemaining(number -> keyed.add(new Tuple2<>(number % 97, number)));
    return keyed.iterator();
  }

  /** The same after a shuffle, by the writer for records that can be moved. */
  static JavaPairRDD<Integer, Integer> moved(JavaPairRDD<Integer, Integer> pairs) {
    return ShuffleJobs.moved(pairs, PARTITIONS, new KryoSerializer(pairs.context().getConf()));
  }

  /** Numbers that pass a gate when all those of a partition have been read. */
  static JavaRDD<Integer> through(JavaRDD<Integer> numbers, Gate gate) {
    return numbers.mapPartitions(
        all -> {
          List<Integer> read = new ArrayList<>();
          all.forEachRemaining(read::add);
          gate.pass();
          return read.iterator();
        });
  }

  /** Fails unless the numbers are all there, and once. */
  static void assertWhole(List<Integer> numbers) {
    assertEquals(IntStream.range(0, NUMBERS).boxed().toList(), numbers.stream().sorted().toList());
  }
}
