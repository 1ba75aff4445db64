/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Sorts rows of 100 bytes by keys of 10 bytes, with ranges of keys that were sampled. */
final class TeraSort implements Job {
  private static final long SEED = 11;
  private static final int SAMPLED_KEYS = 100_000;

  @Override
  public JobTimes run(JavaSparkContext context, long bytes, int tasks) throws WrongResultException {
    List<RowRange> ranges = RowRange.cut(Math.max(1, bytes / TeraRow.BYTES), tasks);
    Totals expected = context.parallelize(ranges, tasks).map(TeraSort::totals).reduce(Totals::plus);
    long begin = System.nanoTime();
    JavaPairRDD<byte[], byte[]> rows =
        context.parallelize(ranges, tasks).flatMapToPair(TeraSort::rows);
    int keys = Math.max(1, SAMPLED_KEYS / tasks);
    List<byte[]> sample = rows.mapPartitions(part -> firstKeys(part, keys)).collect();
    List<SortedPart> parts =
        rows.repartitionAndSortWithinPartitions(new KeyRanges(sample, tasks), new KeyOrder())
            .mapPartitions(part -> List.of(SortedPart.of(part)).iterator())
            .collect();
    JobTimes times = JobTimes.since(begin);
    SortedPart.require(parts, expected);
    return times;
  }

  private static Iterator<Tuple2<byte[], byte[]>> rows(RowRange range) {
    return range.make(number -> TeraRow.of(SEED, number));
  }

  private static Totals totals(RowRange range) {
    Totals totals = Totals.NONE;
    for (Iterator<Tuple2<byte[], byte[]>> rows = rows(range); rows.hasNext(); ) {
      Tuple2<byte[], byte[]> row = rows.next();
      totals = totals.plusRow(row._1(), row._2());
    }
    return totals;
  }

  private static Iterator<byte[]> firstKeys(Iterator<Tuple2<byte[], byte[]>> rows, int most) {
    List<byte[]> keys = new ArrayList<>();
    while (keys.size() < most && rows.hasNext()) {
      keys.add(rows.next()._1());
    }
    return keys.iterator();
  }
}
