/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import io.crail.spark.output.OutputId;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.FetchFailed;
import org.apache.spark.HashPartitioner;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** A task of a stage attempt that has failed, which Spark lets go on. */
@Tag("once")
@Timeout(300)
class OldTaskTest {
  private static final int MAPS = 6;

  /** Where the tasks of this process wait for each other. */
  private static final class Steps {
    private final CountDownLatch oldReads;
    private final CountDownLatch newReads;
    private final CountDownLatch oldMayGoOn;
    private final CountDownLatch newMayGoOn;

    Steps(int count) {
      oldReads = new CountDownLatch(count);
      newReads = new CountDownLatch(count);
      oldMayGoOn = new CountDownLatch(count);
      newMayGoOn = new CountDownLatch(count);
    }
  }

  /** Tasks find nothing but statics. */
  private static volatile Steps steps = new Steps(0);

  @TempDir Path local;

  private static void await(CountDownLatch latch) throws IOException {
    try {
      assertTrue(latch.await(60, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
  }

  /** The first attempt of partition 0 fails when that of partition 1 has read an output. */
  private static Iterator<Integer> read(Iterator<Tuple2<Integer, Integer>> all) throws IOException {
    TaskContext task = TaskContext.get();
    boolean old = task.stageAttemptNumber() == 0;
    if (old && task.partitionId() == 0) {
      await(steps.oldReads);
    }
    List<Integer> values = new ArrayList<>();
    while (all.hasNext()) {
      values.add(all.next()._2());
      if (old && task.partitionId() == 1 && values.size() == 1) {
        steps.oldReads.countDown();
        await(steps.oldMayGoOn);
      }
    }
    if (!old) {
      steps.newReads.countDown();
      await(steps.newMayGoOn);
    }
    return values.iterator();
  }

  /** Counts what could not be fetched, and waits for the end of the old task. */
  private static final class Ends extends SparkListener {
    private final AtomicInteger fetchFailures = new AtomicInteger();
    private final CountDownLatch oldTasks = new CountDownLatch(2);

    @Override
    public void onTaskEnd(SparkListenerTaskEnd event) {
      if (event.reason() instanceof FetchFailed) {
        fetchFailures.incrementAndGet();
      }
      if (event.taskType().equals("ResultTask") && event.stageAttemptId() == 0) {
        oldTasks.countDown();
      }
    }
  }

  @Test
  void itReadsTheOutputsThatItBeganWith() throws Exception {
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder());
        CrailStore store = crail.store()) {
      // So that it asks for one output after the other.
      SparkConf conf =
          crail
              .conf("local[2]", local)
              .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
              .set("spark.reducer.maxBlocksInFlightPerAddress", "1");
      try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
        JavaRDD<Integer> numbers =
            spark
                .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
                .mapToPair(map -> new Tuple2<>(map == 0 ? 0 : 1, map))
                .partitionBy(new HashPartitioner(2))
                .mapPartitions(OldTaskTest::read);
        assertEquals(MAPS, numbers.count());
        long first =
            ((MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker())
                .shuffleStatuses()
                .apply(0)
                .mapStatuses()[0]
                .mapId();
        ShuffleManager42 manager = ShuffleManager42.current();
        assertTrue(manager.outputs().remove(manager.outputs().path(new OutputId(0, first))));
        manager.fetcher().forgetShuffle(0);

        steps = new Steps(1);
        Ends ends = new Ends();
        spark.sc().addSparkListener(ends);
        JavaFutureAction<List<Integer>> job = numbers.collectAsync();
        await(steps.newReads);
        spark.sc().listenerBus().waitUntilEmpty(60_000);
        assertEquals(2 * MAPS - 1, MapTask.files(store, "/").size());
        steps.oldMayGoOn.countDown();
        await(ends.oldTasks);
        steps.newMayGoOn.countDown();
        List<Integer> result = job.get(60, TimeUnit.SECONDS);
        assertEquals(IntStream.range(0, MAPS).boxed().toList(), result.stream().sorted().toList());
        spark.sc().listenerBus().waitUntilEmpty(60_000);
        assertEquals(1, ends.fetchFailures.get());
        assertEquals(MAPS, MapTask.files(store, "/").size());
      }
    }
  }
}
