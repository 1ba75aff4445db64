/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Joins a table with one four times as long. Both are shuffled. */
final class Join implements Job {
  static final int VALUE_BYTES = 100;
  private static final int ROWS_OF_A_KEY = 4;
  private static final long LEFT_SEED = 13;
  private static final long RIGHT_SEED = 14;

  @Override
  public JobTimes run(JavaSparkContext context, long bytes, int tasks) throws WrongResultException {
    long keys = Math.max(1, bytes / (Long.BYTES + VALUE_BYTES) / (1 + ROWS_OF_A_KEY));
    List<RowRange> shortRanges = RowRange.cut(keys, tasks);
    List<RowRange> longRanges = RowRange.cut(keys * ROWS_OF_A_KEY, tasks);
    Totals expected =
        context
            .parallelize(longRanges, tasks)
            .map(range -> totals(range.make(number -> joined(number, keys))))
            .reduce(Totals::plus);
    long begin = System.nanoTime();
    JavaPairRDD<Long, byte[]> left =
        context
            .parallelize(shortRanges, tasks)
            .flatMapToPair(range -> range.make(key -> new Tuple2<>(key, left(key))));
    JavaPairRDD<Long, byte[]> right =
        context
            .parallelize(longRanges, tasks)
            .flatMapToPair(
                range -> range.make(number -> new Tuple2<>(number % keys, right(number))));
    Totals totals =
        left.join(right, tasks)
            .mapPartitions(rows -> List.of(totals(rows)).iterator())
            .reduce(Totals::plus);
    JobTimes times = JobTimes.since(begin);
    totals.require(expected, "joined rows");
    return times;
  }

  /** A row of the result, made without a join. */
  static Tuple2<Long, Tuple2<byte[], byte[]>> joined(long number, long keys) {
    long key = number % keys;
    return new Tuple2<>(key, new Tuple2<>(left(key), right(number)));
  }

  static Totals totals(Iterator<Tuple2<Long, Tuple2<byte[], byte[]>>> rows) {
    Totals totals = Totals.NONE;
    while (rows.hasNext()) {
      Tuple2<Long, Tuple2<byte[], byte[]>> row = rows.next();
      totals = totals.plusRow(row._1(), row._2()._1(), row._2()._2());
    }
    return totals;
  }

  private static byte[] left(long key) {
    return value(LEFT_SEED, key);
  }

  private static byte[] right(long number) {
    return value(RIGHT_SEED, number);
  }

  private static byte[] value(long seed, long number) {
    byte[] value = new byte[VALUE_BYTES];
    new SplittableRandom(Mix.of(seed, number)).nextBytes(value);
    return value;
  }
}
