/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Broadcasts;
import io.crail.spark.Relay;
import io.crail.spark.SparkOnCrail;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.RemovedShuffleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;
import scala.Tuple2;

/** What shuffles hold, and what late tasks may bring back. */
class DriverShufflesTest {
  private static final String KRYO = "org.apache.spark.serializer.KryoSerializer";
  private static final int MAPS = 6;

  @TempDir Path local;
  private SparkOnCrail crail;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder());
    store = crail.store();
  }

  @AfterEach
  void stop() throws Exception {
    crail.closeEmpty(store);
  }

  private SparkConf conf() {
    return crail.conf("local[2]", local).set("spark.serializer", KRYO);
  }

  private static JavaPairRDD<Integer, Integer> sums(JavaSparkContext spark) {
    return spark
        .parallelize(IntStream.range(0, 1000).boxed().toList(), MAPS)
        .mapToPair(number -> new Tuple2<>(number % 7, number))
        .groupByKey(4)
        .mapValues(
            values -> {
              int sum = 0;
              for (int value : values) {
                sum += value;
              }
              return sum;
            });
  }

  private static Map<Integer, Integer> expected() {
    return IntStream.range(0, 1000)
        .boxed()
        .collect(Collectors.toMap(number -> number % 7, number -> number, Integer::sum));
  }

  private static Iterable<Tuple2<Integer, Object>> records() {
    return List.of(new Tuple2<>(1, "one"), new Tuple2<>(2, "two"));
  }

  private static Set<Long> registered(int shuffle) {
    Set<Long> maps = new HashSet<>();
    ((MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker())
        .shuffleStatuses()
        .get(shuffle)
        .get()
        .withMapStatuses(
            statuses -> {
              for (var status : statuses) {
                maps.add(status.mapId());
              }
              return null;
            });
    return maps;
  }

  @Test
  void informsExecutorsOfAReplacedOutput() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      int shuffle = 1_000;
      MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
      tracker.registerShuffle(shuffle, 1, 1);
      tracker.registerMapOutput(shuffle, 0, status(7));
      byte[] first = served(tracker, shuffle);
      tracker.registerMapOutput(shuffle, 0, status(8));
      long epoch = tracker.getEpoch();
      DriverShuffles.askAnew(tracker, shuffle);
      assertFalse(Arrays.equals(first, served(tracker, shuffle)));
      assertTrue(tracker.getEpoch() > epoch);
      tracker.unregisterShuffle(shuffle);
    }
  }

  private static MapStatus status(long task) {
    BlockManagerId place = BlockManagerId.apply("crail-a", "a", 1, Option.empty());
    return MapStatus$.MODULE$.apply(place, new long[] {100}, task, 0);
  }

  /** What an executor gets that asks for the outputs. */
  private static byte[] served(MapOutputTrackerMaster tracker, int shuffle) {
    return tracker
        .shuffleStatuses()
        .apply(shuffle)
        .serializedMapStatus(
            SparkEnv.get().broadcastManager(), true, Integer.MAX_VALUE, SparkEnv.get().conf());
  }

  @Test
  void recomputedOutputsTakeSpaceOnce() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      JavaPairRDD<Integer, Integer> sums = sums(spark);
      assertEquals(expected(), sums.collectAsMap());
      List<String> before = MapTask.files(store, "/");
      computeAgain(spark, sums, 0);
      List<String> after = MapTask.files(store, "/");
      assertEquals(MAPS, after.size(), after::toString);
      assertTrue(Collections.disjoint(before, after));
      Set<Long> names = new HashSet<>();
      after.forEach(path -> names.add(Long.parseLong(path.substring(path.lastIndexOf('/') + 1))));
      assertEquals(registered(0), names);
      assertEquals(expected(), sums.collectAsMap());
    }
  }

  /** A plan is looked at, and never run. */
  @Test
  void anUnwrittenShuffleHasNoDirectory() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      JavaPairRDD<Integer, Integer> sums = sums(spark);
      assertTrue(sums.toDebugString().contains("ShuffledRDD"), sums::toDebugString);
      String root = Broadcasts.children(store, "/").get(0);
      assertEquals(List.of(), Broadcasts.children(store, root));
      assertEquals(expected(), sums.collectAsMap());
      assertEquals(List.of(root + "/shuffle-0"), Broadcasts.children(store, root));
      settle(spark);
      remove(spark, 0);
      assertEquals(List.of(), Broadcasts.children(store, root));
    }
  }

  @Test
  void aShuffleThatCannotBeRemovedIsRemovedLater() throws Exception {
    int namenode = crail.cluster().namenodeAddresses().get(0).getPort();
    try (Relay relay = new Relay(namenode)) {
      SparkConf conf =
          conf()
              .set("spark.crail.namenode.address", "crail://127.0.0.1:" + relay.port())
              .set("spark.crail.rpctimeout", "500ms");
      try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
        assertEquals(expected(), sums(spark).collectAsMap());
        settle(spark);
        String root = Broadcasts.children(store, "/").get(0);
        relay.cut(true);
        remove(spark, 0);
        relay.cut(false);
        assertEquals(List.of(root + "/shuffle-0"), Broadcasts.children(store, root));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Broadcasts.children(store, root).isEmpty()) {
          assertTrue(System.nanoTime() - deadline < 0, "the shuffle stays");
          Thread.onSpinWait();
        }
      }
    }
  }

  /** The event that was dropped may have been the begin of a stage that reads the old outputs. */
  @Test
  void oldOutputsStayWhenSparkHasDroppedAnEvent() throws Exception {
    int capacity = 100;
    SparkConf conf =
        conf()
            .set(
                "spark.scheduler.listenerbus.eventqueue." + StageEvents.QUEUE + ".capacity",
                Integer.toString(capacity));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      JavaPairRDD<Integer, Integer> sums = sums(spark);
      assertEquals(expected(), sums.collectAsMap());
      CountDownLatch goOn = new CountDownLatch(1);
      for (int i = 0; i < capacity + 2; i++) {
        spark.sc().listenerBus().post(new StageEvents.Mark(() -> await(goOn)));
      }
      goOn.countDown();
      assertTrue(ShuffleManager42.current().shuffles().missed() > 0);
      computeAgain(spark, sums, 0);
      assertEquals(2 * MAPS - 1, MapTask.files(store, "/").size());
      // Nothing of a later one was missed.
      remove(spark, 0);
      assertEquals(List.of(), MapTask.files(store, "/"));
      JavaPairRDD<Integer, Integer> later = sums(spark);
      assertEquals(expected(), later.collectAsMap());
      computeAgain(spark, later, 1);
      assertEquals(MAPS, MapTask.files(store, "/").size());
    }
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      assertTrue(latch.await(60, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
  }

  /** All outputs of the host are computed again, also those that were not lost. */
  private void computeAgain(JavaSparkContext spark, JavaPairRDD<Integer, Integer> sums, int shuffle)
      throws Exception {
    settle(spark);
    List<String> before = MapTask.files(store, "/");
    assertEquals(MAPS, before.size());
    store.delete(before.get(0), false).get();
    ShuffleManager42.current().fetcher().forgetShuffle(shuffle);
    assertEquals(expected(), sums.collectAsMap());
    settle(spark);
  }

  /** Waits until everything that Spark has reported is handled. */
  private static void settle(JavaSparkContext spark) throws Exception {
    spark.sc().listenerBus().waitUntilEmpty(60_000);
  }

  /** As Spark does with a shuffle that is not referenced. */
  private static void remove(JavaSparkContext spark, int shuffle) {
    spark.sc().cleaner().get().doCleanupShuffle(shuffle, true);
  }

  /** The writer of its own, and Spark's. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "spark"})
  void anOutputOfATaskThatFailsAfterItIsSealedIsDeleted(String writer) throws Exception {
    SparkConf conf = conf().set("spark.crail.shuffle.writer", writer);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, 3);
      task.write(records().iterator());
      assertEquals(1, MapTask.files(store, "/").size());
      task.writer().stop(false);
      assertEquals(List.of(), MapTask.files(store, "/"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "spark"})
  void aLateTaskDoesNotBringBackAShuffleThatWasRemoved(String writer) throws Exception {
    SparkConf conf = conf().set("spark.crail.shuffle.writer", writer);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask late = new MapTask(spark, 3);
      remove(spark, late.shuffle());
      assertThrows(RemovedShuffleException.class, () -> late.write(records().iterator()));
      String root = Broadcasts.children(store, "/").get(0);
      assertEquals(List.of(), Broadcasts.children(store, root));
    }
  }

  @Test
  void aLateTaskDoesNotBringBackAnApplicationThatEnded() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      sums(spark).collect();
      MapTask late = new MapTask(spark, 3);
      ShuffleManager42.current().removeAll();
      assertThrows(RemovedShuffleException.class, () -> late.write(records().iterator()));
      assertEquals(List.of(), Broadcasts.children(store, "/"));
    }
  }

  /** As after a namenode that comes back empty: the shuffle that Spark needs is written again. */
  @Test
  void aNeededShuffleComesBackWhenAllIsGone() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      JavaPairRDD<Integer, Integer> sums = sums(spark);
      assertEquals(expected(), sums.collectAsMap());
      store.delete(Broadcasts.children(store, "/").get(0), true).get();
      ShuffleManager42.current().fetcher().forgetShuffle(0);
      assertEquals(expected(), sums.collectAsMap());
      assertEquals(MAPS, MapTask.files(store, "/").size());
    }
  }

  /** A late task asks while Spark removes the shuffle. Spark forgets it a moment later. */
  @Test
  void directoriesThatWereMadeAgainGoWithTheirShuffle() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      sums(spark).collect();
      settle(spark);
      String root = Broadcasts.children(store, "/").get(0);
      ShuffleManager42.current().removeShuffle(0);
      assertEquals(List.of(), Broadcasts.children(store, root));
      ShuffleManager42.current().open(new OutputId(0, 99), 1).close();
      assertEquals(List.of(root + "/shuffle-0"), Broadcasts.children(store, root));
      ((MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker()).unregisterShuffle(0);
      ShuffleManager42.current().shuffles().shuffleCleaned(0);
      assertEquals(List.of(), Broadcasts.children(store, root));
      assertNull(store.lookup(root + "/shuffle-0").get());
    }
  }
}
