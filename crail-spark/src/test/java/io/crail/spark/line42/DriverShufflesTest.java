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
import io.crail.spark.SparkOnCrail;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.RemovedShuffleException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  void executorsAreToldOfAnOutputInThePlaceOfAnother() throws Exception {
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

  /** All outputs of the host are computed again, so those that were not lost are there twice. */
  @Test
  void whatWasComputedAgainTakesSpaceOnce() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      JavaPairRDD<Integer, Integer> sums = sums(spark);
      assertEquals(expected(), sums.collectAsMap());
      List<String> before = MapTask.files(store, "/");
      assertEquals(MAPS, before.size());
      store.delete(before.get(0), false).get();
      ShuffleManager42.current().fetcher().forgetShuffle(0);
      assertEquals(expected(), sums.collectAsMap());
      spark.sc().listenerBus().waitUntilEmpty();
      List<String> after = MapTask.files(store, "/");
      assertEquals(MAPS, after.size(), after::toString);
      assertTrue(Collections.disjoint(before, after));
      Set<Long> names = new HashSet<>();
      after.forEach(path -> names.add(Long.parseLong(path.substring(path.lastIndexOf('/') + 1))));
      assertEquals(registered(0), names);
      assertEquals(expected(), sums.collectAsMap());
    }
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
      ShuffleManager42.current().unregisterShuffle(late.shuffle());
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
