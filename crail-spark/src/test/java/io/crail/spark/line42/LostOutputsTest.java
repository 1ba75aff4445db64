/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputPlace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.FetchFailed;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;

/** What a driver lets Spark forget, event by event. */
@Tag("once")
class LostOutputsTest {
  private static final int SHUFFLE = 1_000;
  private static final int STAGE = 3;

  @TempDir Path local;
  private SparkOnCrail crail;
  private CrailStore store;
  private JavaSparkContext spark;
  private OutputPlace place;
  private MapOutputTrackerMaster tracker;
  private LostOutputs outputs;

  /** More outputs than are looked up at a time, each at one of three hosts. */
  private static final int MAPS = 150;

  @BeforeEach
  void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder());
    store = crail.store();
    spark = SparkOnCrail.context(crail.conf("local[1]", local));
    place = ShuffleManager42.current().outputs();
    place.createShuffle(SHUFFLE);
    tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    tracker.registerShuffle(SHUFFLE, MAPS, 1);
    for (int map = 0; map < MAPS; map++) {
      place.createOutput(path(map));
      register(map, "crail-" + map % 3);
    }
    outputs = new LostOutputs(place, tracker);
  }

  @AfterEach
  void stop() throws Exception {
    spark.close();
    crail.closeEmpty(store);
  }

  private String path(int map) {
    return place.path(new OutputId(SHUFFLE, map));
  }

  private void register(int map, String host) {
    BlockManagerId at = BlockManagerId.apply(host, host, 1, Option.empty());
    MapStatus status = MapStatus$.MODULE$.apply(at, new long[] {100}, map, 0);
    tracker.registerMapOutput(SHUFFLE, map, status);
  }

  private void lose(int... maps) throws IOException {
    for (int map : maps) {
      place.remove(path(map));
    }
  }

  /** What Spark does not know any more. */
  private Set<Integer> forgotten() {
    Set<Integer> forgotten = new HashSet<>();
    MapStatus[] statuses = tracker.shuffleStatuses().apply(SHUFFLE).mapStatuses();
    for (int map = 0; map < MAPS; map++) {
      if (statuses[map] == null) {
        forgotten.add(map);
      }
    }
    return forgotten;
  }

  private void end(int attempt, TaskEndReason reason) {
    outputs.onTaskEnd(
        new SparkListenerTaskEnd(STAGE, attempt, "ResultTask", reason, null, null, null));
  }

  private void failToFetch(int attempt, int shuffle) {
    end(attempt, new FetchFailed(null, shuffle, 7, 7, 0, "for the test"));
  }

  @Test
  void allMissingOutputsAreForgottenAtTheFirstFailure() throws Exception {
    lose(0, 1, 5, 64, MAPS - 1);
    end(0, Success$.MODULE$);
    assertEquals(Set.of(), forgotten());
    failToFetch(0, SHUFFLE);
    assertEquals(Set.of(0, 1, 5, 64, MAPS - 1), forgotten());
  }

  /** Each of its tasks fails, and each look costs a lookup for each output. */
  @Test
  void itLooksOnceForAnAttemptOfAStage() throws Exception {
    failToFetch(0, SHUFFLE);
    lose(4);
    failToFetch(0, SHUFFLE);
    assertEquals(Set.of(), forgotten());
    failToFetch(1, SHUFFLE);
    assertEquals(Set.of(4), forgotten());
  }

  @Test
  void anOutputWithoutAFileIsNotMissing() throws Exception {
    lose(8);
    register(8, "crail-nowhere");
    failToFetch(0, SHUFFLE);
    assertEquals(Set.of(), forgotten());
  }

  @Test
  void aShuffleThatIsGoneIsNotLookedAt() throws Exception {
    failToFetch(0, SHUFFLE + 1);
    lose(4);
    failToFetch(0, SHUFFLE);
    assertEquals(Set.of(4), forgotten());
  }
}
