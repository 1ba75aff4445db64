/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.FetchFailed;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Sums up, in the driver, what the tasks of each executor have moved. Thread-safe. */
final class TaskStatistics extends SparkListener {
  /**
   * What an executor's tasks have moved.
   *
   * @param executor its id
   * @param bytesWritten bytes of map outputs
   * @param bytesRead bytes of blocks
   * @param fetchFailures blocks that were lost
   */
  record Row(String executor, long bytesWritten, long bytesRead, long fetchFailures) {
    private Row plus(Row other) {
      return new Row(
          executor,
          bytesWritten + other.bytesWritten,
          bytesRead + other.bytesRead,
          fetchFailures + other.fetchFailures);
    }
  }

  /** Executors come and go; all that come later are one. */
  static final int MOST_ROWS = 1000;

  private static final String OTHERS = "others";

  private final Map<String, Row> rows = new TreeMap<>();

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    TaskMetrics metrics = event.taskMetrics();
    boolean fetchFailed = event.reason() instanceof FetchFailed;
    if (metrics == null && !fetchFailed) {
      return;
    }
    add(
        new Row(
            event.taskInfo().executorId(),
            metrics == null ? 0 : metrics.shuffleWriteMetrics().bytesWritten(),
            metrics == null ? 0 : metrics.shuffleReadMetrics().totalBytesRead(),
            fetchFailed ? 1 : 0));
  }

  synchronized void add(Row row) {
    String executor =
        rows.size() < MOST_ROWS || rows.containsKey(row.executor) ? row.executor : OTHERS;
    Row added = new Row(executor, row.bytesWritten, row.bytesRead, row.fetchFailures);
    rows.merge(executor, added, Row::plus);
  }

  synchronized List<Row> rows() {
    return List.copyOf(rows.values());
  }
}
