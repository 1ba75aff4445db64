/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import scala.Option;

/**
 * Notes the stages of a job and the map tasks that ran again, and kills executors when the first
 * maps have ended. A thread of Spark calls it. What it has noted can be read when the context has
 * been stopped, which ends that thread.
 */
final class JobWatch extends SparkListener {
  private static final String MAP_TASK = "ShuffleMapTask";

  /**
   * A stage, or one more attempt of it.
   *
   * @param name without blanks
   */
  record Stage(String name, long beginMillis, long endMillis) {}

  /** A task of whichever attempt. */
  private record Task(int stage, int partition) {}

  private final int kills;
  private final List<Stage> stages = new ArrayList<>();
  private final Set<Task> maps = new HashSet<>();
  private volatile long beginMillis = Long.MAX_VALUE;
  private int killed;
  private int mapsAgain;

  /**
   * Creates it. It notes nothing until it is asked to.
   *
   * @param kills how many executors to kill
   */
  JobWatch(int kills) {
    this.kills = kills;
  }

  /** Begins to watch. What began before does not count. */
  void begin() {
    beginMillis = System.currentTimeMillis();
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    long begin = millis(stage.submissionTime());
    if (begin < beginMillis) {
      return;
    }
    stages.add(new Stage(name(stage), begin, millis(stage.completionTime())));
    if (killed < kills && stage.taskMetrics().shuffleWriteMetrics().bytesWritten() > 0) {
      killed += kill(kills - killed);
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    boolean isMap =
        event.taskType().equals(MAP_TASK)
            && event.taskInfo().launchTime() >= beginMillis
            && Success$.MODULE$.equals(event.reason());
    if (isMap && !maps.add(new Task(event.stageId(), event.taskInfo().partitionId()))) {
      mapsAgain++;
    }
  }

  private static long millis(Option<Object> time) {
    return time.isEmpty() ? 0 : (Long) time.get();
  }

  private static String name(StageInfo stage) {
    String again = stage.attemptNumber() == 0 ? "" : "-attempt-" + (stage.attemptNumber() + 1);
    return stage.stageId() + "-" + stage.name().split(" ")[0] + again;
  }

  /** Kills executors, which are processes that this one has started. */
  private static int kill(int most) {
    List<ProcessHandle> executors =
        ProcessHandle.current()
            .children()
            .filter(child -> child.info().command().orElse("").endsWith("java"))
            .sorted(Comparator.comparingLong(ProcessHandle::pid))
            .limit(most)
            .toList();
    executors.forEach(ProcessHandle::destroyForcibly);
    return executors.size();
  }

  /** The stages that have ended, in the order of their ends. */
  List<Stage> stages() {
    return List.copyOf(stages);
  }

  /** How many map tasks have computed what an earlier one had computed. */
  int mapsAgain() {
    return mapsAgain;
  }

  /** How many executors were killed. */
  int killed() {
    return killed;
  }
}
