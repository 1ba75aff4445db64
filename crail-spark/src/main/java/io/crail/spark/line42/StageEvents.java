/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.output.StageAttempt;
import io.crail.spark.output.SupersededOutputs;
import io.crail.spark.output.SupersededOutputs.Known;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.function.IntConsumer;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.Resubmitted$;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports stages and tasks in the order in which Spark's scheduler has handled them: the end of a
 * stage comes after all that its tasks have registered. Has a queue and a thread of its own, since
 * it waits for the store. Spark drops events when that queue is full, and counts them.
 */
final class StageEvents extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(StageEvents.class);

  /** The queue in Spark's bus. */
  static final String QUEUE = "crail";

  /** Comes after all events that were there before it. */
  record Mark(Known known) implements SparkListenerEvent {
    @Override
    public boolean logEvent() {
      return false;
    }
  }

  private final IntConsumer prepare;
  private final SupersededOutputs outputs;

  /**
   * Creates a listener.
   *
   * @param prepare called with each shuffle that a stage begins to write
   */
  StageEvents(IntConsumer prepare, SupersededOutputs outputs) {
    this.prepare = prepare;
    this.outputs = outputs;
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    StageInfo stage = event.stageInfo();
    OptionalInt shuffle =
        stage.shuffleDepId().isDefined()
            ? OptionalInt.of((Integer) stage.shuffleDepId().get())
            : OptionalInt.empty();
    shuffle.ifPresent(prepare);
    outputs.stageBegan(attempt(stage), shuffle);
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart event) {
    outputs.taskBegan(
        new StageAttempt(event.stageId(), event.stageAttemptId()), event.taskInfo().taskId());
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    TaskEndReason reason = event.reason();
    // The output of a task that is to run again was registered.
    boolean succeeded = reason == Success$.MODULE$ || reason == Resubmitted$.MODULE$;
    StageAttempt stage = new StageAttempt(event.stageId(), event.stageAttemptId());
    run(
        () ->
            outputs.taskEnded(
                stage,
                event.taskInfo().taskId(),
                succeeded,
                reason instanceof ExecutorLostFailure));
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    run(() -> outputs.stageEnded(attempt(event.stageInfo())));
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof Mark mark) {
      run(mark.known());
    }
  }

  private static StageAttempt attempt(StageInfo stage) {
    return new StageAttempt(stage.stageId(), stage.attemptNumber());
  }

  private static void run(Known step) {
    try {
      step.run();
    } catch (IOException e) {
      LOG.warn("cannot delete outputs that are no longer needed; they go with their shuffle", e);
    }
  }
}
