/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.CrailNode;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.StageAttempt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.spark.FetchFailed;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets Spark forget all outputs of a shuffle that are missing in the store as soon as one could not
 * be fetched. Spark by itself forgets those of one host for each task that fails, which takes too
 * many attempts when a namenode has lost what it knew of all hosts. Lives in the driver; used by
 * the thread of its queue.
 */
final class LostOutputs extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(LostOutputs.class);

  /** The queue in Spark's bus. It is the only one there: what others wait for must not delay it. */
  static final String QUEUE = "crail-lost";

  /** Lookups in flight. */
  private static final int GROUP = 64;

  /** An output that Spark knows, and the lookup of its file. */
  private record Asked(int index, MapStatus status, Future<CrailNode> node) {}

  private final OutputPlace place;
  private final MapOutputTrackerMaster tracker;

  /** The attempt of a stage that has failed last, and the shuffles that were looked at for it. */
  private StageAttempt last = new StageAttempt(-1, -1);

  private final Set<Integer> looked = new HashSet<>();

  LostOutputs(OutputPlace place, MapOutputTrackerMaster tracker) {
    this.place = place;
    this.tracker = tracker;
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    if (!(event.reason() instanceof FetchFailed failed)) {
      return;
    }
    StageAttempt attempt = new StageAttempt(event.stageId(), event.stageAttemptId());
    if (!attempt.equals(last)) {
      last = attempt;
      looked.clear();
    }
    try {
      if (looked.add(failed.shuffleId())) {
        forgetMissing(failed.shuffleId());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      // The next failure looks again.
      looked.remove(failed.shuffleId());
      LOG.warn("cannot look for the outputs of shuffle {}", failed.shuffleId(), e);
    }
  }

  private void forgetMissing(int shuffle) throws Exception {
    if (!tracker.containsShuffle(shuffle)) {
      return;
    }
    MapStatus[] outputs = tracker.shuffleStatuses().apply(shuffle).mapStatuses().clone();
    int missing = 0;
    for (int from = 0; from < outputs.length; from += GROUP) {
      List<Asked> asked = new ArrayList<>();
      for (int i = from; i < Math.min(from + GROUP, outputs.length); i++) {
        if (outputs[i] != null && LocatedWriter.hasFile(outputs[i].location())) {
          String path = place.path(new OutputId(shuffle, outputs[i].mapId()));
          asked.add(new Asked(i, outputs[i], place.store().lookup(path)));
        }
      }
      for (Asked each : asked) {
        if (each.node.get() == null) {
          tracker.unregisterMapOutput(shuffle, each.index, each.status.location());
          missing++;
        }
      }
    }
    if (missing > 0) {
      LOG.warn("{} outputs of shuffle {} are missing in the store", missing, shuffle);
    }
  }
}
