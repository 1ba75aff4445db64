/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Groups rows of a kilobyte, 16 to a key. */
final class GroupBy implements Job {
  static final int VALUE_BYTES = 1000;
  static final int ROWS_OF_A_KEY = 16;
  private static final long SEED = 12;

  @Override
  public JobTimes run(JavaSparkContext context, long bytes, int tasks) throws WrongResultException {
    long rows = Math.max(1, bytes / (Long.BYTES + VALUE_BYTES));
    long keys = Math.max(1, rows / ROWS_OF_A_KEY);
    List<RowRange> ranges = RowRange.cut(rows, tasks);
    GroupCount expected =
        new GroupCount(
            context
                .parallelize(ranges, tasks)
                .map(range -> totals(range, keys))
                .reduce(Totals::plus),
            keys,
            0);
    long begin = System.nanoTime();
    GroupCount count =
        context
            .parallelize(ranges, tasks)
            .flatMapToPair(range -> range.make(number -> row(number, keys)))
            .groupByKey(tasks)
            .mapPartitions(groups -> List.of(GroupCount.of(groups, rows, keys)).iterator())
            .reduce(GroupCount::plus);
    JobTimes times = JobTimes.since(begin);
    count.require(expected);
    return times;
  }

  /** The row of a number, always the same one. */
  static Tuple2<Long, byte[]> row(long number, long keys) {
    byte[] value = new byte[VALUE_BYTES];
    new SplittableRandom(Mix.of(SEED, number)).nextBytes(value);
    return new Tuple2<>(number % keys, value);
  }

  private static Totals totals(RowRange range, long keys) {
    Totals totals = Totals.NONE;
    for (Iterator<Tuple2<Long, byte[]>> rows = range.make(number -> row(number, keys));
        rows.hasNext(); ) {
      Tuple2<Long, byte[]> row = rows.next();
      totals = totals.plusRow(row._1(), row._2());
    }
    return totals;
  }
}
