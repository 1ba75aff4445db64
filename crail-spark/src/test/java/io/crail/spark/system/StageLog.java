/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.FetchFailed;
import org.apache.spark.SparkContext;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** What Spark reports about stages, tasks and executors. Thread-safe. */
final class StageLog extends SparkListener {
  private final SparkContext spark;
  private final List<String> stages = new ArrayList<>();
  private final List<String> removed = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private int succeeded;
  private int speculated;
  private int fetchFailures;
  private int shuffle = -1;

  private StageLog(SparkContext spark) {
    this.spark = spark;
  }

  static StageLog of(SparkContext spark) {
    StageLog log = new StageLog(spark);
    spark.addSparkListener(log);
    return log;
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted event) {
    boolean map = event.stageInfo().shuffleDepId().isDefined();
    if (map) {
      shuffle = (Integer) event.stageInfo().shuffleDepId().get();
    }
    // Spark submits a stage again for a late failure, also when there is nothing left to do.
    if (event.stageInfo().numTasks() > 0) {
      stages.add((map ? "map " : "result ") + event.stageInfo().numTasks());
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd event) {
    if (event.reason() == Success$.MODULE$) {
      succeeded++;
    } else {
      failures.add(event.reason().toString());
    }
    if (event.reason() instanceof FetchFailed) {
      fetchFailures++;
    }
    if (event.taskInfo() != null && event.taskInfo().speculative()) {
      speculated++;
    }
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    removed.add(event.executorId());
  }

  /** Forgets all but the executors. */
  void clear() throws Exception {
    spark.listenerBus().waitUntilEmpty();
    synchronized (this) {
      stages.clear();
      failures.clear();
      succeeded = 0;
      speculated = 0;
      fetchFailures = 0;
    }
  }

  /** {@return the stages that were started, with the number of their tasks} */
  List<String> stages() throws Exception {
    spark.listenerBus().waitUntilEmpty();
    synchronized (this) {
      return List.copyOf(stages);
    }
  }

  /** {@return why tasks have failed} */
  synchronized List<String> failures() {
    return List.copyOf(failures);
  }

  synchronized int succeeded() {
    return succeeded;
  }

  /** {@return how many tasks have ended, in whatever way} */
  synchronized int ended() {
    return succeeded + failures.size();
  }

  synchronized int speculated() {
    return speculated;
  }

  synchronized int fetchFailures() {
    return fetchFailures;
  }

  synchronized List<String> removed() {
    return List.copyOf(removed);
  }

  /** {@return the number of the shuffle whose outputs were written last} */
  synchronized int shuffle() {
    return shuffle;
  }

  void awaitSucceeded(int tasks) throws Exception {
    Eventually.holds(tasks + " tasks have ended well", () -> succeeded() >= tasks);
  }

  void awaitRemoved(String executor) throws Exception {
    Eventually.holds("executor " + executor + " is gone", () -> removed().contains(executor));
  }
}
