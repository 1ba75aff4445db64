/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.serializer.KryoSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/** What Spark's suite of shuffles proves with local files, proven with files in Crail. */
@Tag("once")
class ShuffleFilesTest {
  private static final int MAPS = 2;

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

  private List<String> outputs() throws Exception {
    List<String> files = new ArrayList<>();
    for (String root : Broadcasts.children(store, "/")) {
      for (String shuffle : Broadcasts.children(store, root)) {
        files.addAll(Broadcasts.children(store, shuffle));
      }
    }
    return files;
  }

  private SparkConf conf() {
    return crail.conf("local", local);
  }

  private static JavaPairRDD<Integer, Integer> counted(JavaSparkContext spark) {
    return spark
        .parallelize(IntStream.range(0, 1000).boxed().toList(), MAPS)
        .mapToPair(i -> new Tuple2<>(i % 10, 1))
        .reduceByKey(Integer::sum);
  }

  private static void assertCounted(JavaPairRDD<Integer, Integer> counted) {
    assertEquals(
        IntStream.range(0, 10).mapToObj(i -> new Tuple2<>(i, 100)).toList(),
        counted.sortByKey(true, 1).collect());
  }

  /** Runs the map tasks, so that no output has been read yet. */
  @SuppressWarnings("unchecked")
  private static void write(JavaSparkContext spark, JavaPairRDD<?, ?> shuffled)
      throws SparkException {
    spark
        .sc()
        .submitMapStage(
            (ShuffleDependency<Object, Object, Object>) shuffled.rdd().dependencies().head())
        .get();
  }

  /** Also those of a writer of Spark's whose bytes are encrypted. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void partitionsWithoutRecordsAreEmpty(boolean encrypted) throws Exception {
    SparkConf conf =
        conf()
            .set("spark.serializer", KryoSerializer.class.getName())
            .set("spark.crail.shuffle.writer", "spark")
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.io.encryption.enabled", String.valueOf(encrypted));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      JavaPairRDD<Integer, Integer> moved =
          spark
              .parallelize(List.of(1, 2, 3, 4), MAPS)
              .mapToPair(i -> new Tuple2<>(i, i))
              .partitionBy(new HashPartitioner(20));
      write(spark, moved);
      MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
      int blocks = 0;
      for (MapStatus output : tracker.shuffleStatuses().apply(0).mapStatuses()) {
        for (int partition = 0; partition < 20; partition++) {
          blocks += output.getSizeForBlock(partition) > 0 ? 1 : 0;
        }
      }
      assertEquals(4, blocks);
      assertEquals(Set.of(1, 2, 3, 4), Set.copyOf(moved.keys().collect()));
    }
  }

  /** SPARK-3426, with records that are spilled. */
  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void outputsAndSpillsMayBeCompressedOrNot(String spills, String outputs) throws Exception {
    SparkConf conf =
        conf()
            .set("spark.shuffle.spill.compress", spills)
            .set("spark.shuffle.compress", outputs)
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.shuffle.spill.numElementsForceSpillThreshold", "50");
    AtomicInteger spilling = new AtomicInteger();
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd end) {
                  if (end.taskMetrics().diskBytesSpilled() > 0) {
                    spilling.incrementAndGet();
                  }
                }
              });
      assertEquals(List.of(), outputs());
      List<Integer> groups =
          spark
              .parallelize(IntStream.range(0, 1000).boxed().toList(), MAPS)
              .mapToPair(i -> new Tuple2<>(i / 4, i))
              .groupByKey()
              .mapValues(ShuffleFilesTest::sum)
              .values()
              .collect();
      assertEquals(250, groups.size());
      assertEquals(999 * 500, groups.stream().mapToInt(each -> each).sum());
      assertEquals(MAPS, outputs().size());
      spark.sc().listenerBus().waitUntilEmpty();
      assertTrue(spilling.get() >= MAPS, () -> "only " + spilling + " tasks have spilled");
    }
  }

  private static int sum(Iterable<Integer> values) {
    int sum = 0;
    for (int each : values) {
      sum += each;
    }
    return sum;
  }

  /** SPARK-4085. */
  @Test
  void anOutputThatIsGoneIsWrittenAgain() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      JavaPairRDD<Integer, Integer> counted = counted(spark);
      write(spark, counted);
      List<String> before = outputs();
      assertEquals(MAPS, before.size());
      store.delete(before.get(0), false).get();
      assertCounted(counted);
      List<String> after = outputs();
      assertTrue(after.size() > MAPS && !after.contains(before.get(0)), () -> "" + after);
    }
  }

  /** "cannot find its local shuffle file if no execution of the stage and rerun shuffle". */
  @Test
  void outputsAreThereOnceTheirStageHasRun() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      JavaPairRDD<Integer, Integer> counted = counted(spark);
      assertEquals(List.of(), outputs());
      assertEquals(10, counted.count());
      assertEquals(MAPS, outputs().size());
    }
  }

  /** SPARK-36206: the data are not used, and the error says what is wrong with them. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void aWrongByteIsFound(int attempts) throws Exception {
    SparkConf conf = conf().set("spark.stage.maxConsecutiveAttempts", String.valueOf(attempts));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      JavaPairRDD<Integer, Integer> counted = counted(spark);
      write(spark, counted);
      String file = outputs().get(0);
      byte[] bytes = Broadcasts.content(store, file);
      bytes[0] ^= 12;
      Broadcasts.replace(store, file, bytes);
      if (attempts > 1) {
        assertCounted(counted);
      } else {
        SparkException failed = assertThrows(SparkException.class, counted::count);
        assertTrue(failed.getMessage().contains("wrong checksum of partition"), failed::toString);
      }
    }
  }
}
