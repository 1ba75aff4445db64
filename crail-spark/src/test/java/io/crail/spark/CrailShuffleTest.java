/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

class CrailShuffleTest {
  private static final String KRYO = "org.apache.spark.serializer.KryoSerializer";
  private static final String JAVA = "org.apache.spark.serializer.JavaSerializer";

  @TempDir Path local;
  private SparkOnCrail crail;

  @BeforeEach
  void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder());
  }

  @AfterEach
  void stop() throws Exception {
    try (CrailStore store = crail.store()) {
      assertEquals(List.of(), children(store, "/"), "what applications left");
    }
    crail.close();
  }

  private static List<String> children(CrailStore store, String path) throws Exception {
    List<String> names = new ArrayList<>();
    Iterator<CrailNode> children = store.lookup(path).get().asContainer().listStatus();
    children.forEachRemaining(node -> names.add(node.getPath()));
    return names;
  }

  private static List<Integer> numbers(int count) {
    Random random = new Random(count);
    return Stream.generate(() -> random.nextInt(1000)).limit(count).toList();
  }

  private static JavaPairRDD<Integer, Iterable<Integer>> grouped(
      JavaSparkContext spark, List<Integer> numbers, int maps, int partitions) {
    return spark
        .parallelize(numbers, maps)
        .mapToPair(number -> new Tuple2<>(number % 97, number))
        .groupByKey(partitions);
  }

  private static Map<Integer, List<Integer>> sorted(List<Tuple2<Integer, Iterable<Integer>>> all) {
    Map<Integer, List<Integer>> sorted = new HashMap<>();
    for (Tuple2<Integer, Iterable<Integer>> each : all) {
      List<Integer> values = new ArrayList<>();
      each._2().forEach(values::add);
      values.sort(null);
      assertEquals(null, sorted.put(each._1(), values));
    }
    return sorted;
  }

  private static Map<Integer, List<Integer>> expected(List<Integer> numbers) {
    Map<Integer, List<Integer>> expected = new HashMap<>();
    for (int number : numbers) {
      expected.computeIfAbsent(number % 97, key -> new ArrayList<>()).add(number);
    }
    expected.values().forEach(values -> values.sort(null));
    return expected;
  }

  /** The writers: one file for each partition, serialized records, and objects. */
  @ParameterizedTest
  @CsvSource({
    KRYO + ",true,lz4,200,false",
    KRYO + ",true,zstd,1,false",
    KRYO + ",false,lz4,1,false",
    JAVA + ",true,lz4,1,false",
    JAVA + ",true,snappy,200,true",
    KRYO + ",true,lz4,1,true",
  })
  void groupsAsSparkDoes(
      String serializer, boolean compress, String codec, String bypass, boolean encrypted) {
    SparkConf conf =
        crail
            .conf("local[2]", local)
            .set("spark.serializer", serializer)
            .set("spark.shuffle.compress", String.valueOf(compress))
            .set("spark.io.compression.codec", codec)
            .set("spark.io.encryption.enabled", String.valueOf(encrypted))
            .set("spark.shuffle.sort.bypassMergeThreshold", bypass);
    List<Integer> numbers = numbers(20_000);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      // Some partitions and some map outputs are empty.
      assertEquals(expected(numbers), sorted(grouped(spark, numbers, 7, 131).collect()));
      assertEquals(Map.of(), sorted(grouped(spark, List.of(), 3, 2).collect()));
    }
  }

  @Test
  void sortsAndCombines() {
    SparkConf conf = crail.conf("local[2]", local);
    List<Integer> numbers = numbers(20_000);
    Map<Integer, Integer> sums = new HashMap<>();
    numbers.forEach(number -> sums.merge(number % 97, number, Integer::sum));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      JavaPairRDD<Integer, Integer> pairs =
          spark.parallelize(numbers, 5).mapToPair(number -> new Tuple2<>(number % 97, number));
      List<Tuple2<Integer, Integer>> result =
          pairs.reduceByKey(Integer::sum, 4).sortByKey(true, 3).collect();
      assertEquals(
          sums.entrySet().stream()
              .sorted(Map.Entry.comparingByKey())
              .map(each -> new Tuple2<>(each.getKey(), each.getValue()))
              .toList(),
          result);
    }
  }

  /** The stages that run while a loss is noticed and mended, with the number of their tasks. */
  private List<String> stagesAfter(SparkConf conf, Loss loss) throws Exception {
    List<Integer> numbers = numbers(10_000);
    List<String> stages = new CopyOnWriteArrayList<>();
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      spark.sc().addSparkListener(new StageList(stages));
      JavaPairRDD<Integer, Iterable<Integer>> grouped = grouped(spark, numbers, 6, 4);
      assertEquals(expected(numbers), sorted(grouped.collect()));
      spark.sc().listenerBus().waitUntilEmpty();
      assertEquals(2, stages.size());
      stages.clear();
      loss.happen();
      assertEquals(expected(numbers), sorted(grouped.collect()));
      spark.sc().listenerBus().waitUntilEmpty();
    }
    return stages;
  }

  private interface Loss {
    void happen() throws Exception;
  }

  private static final class StageList extends SparkListener {
    private final List<String> stages;

    StageList(List<String> stages) {
      this.stages = stages;
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted event) {
      // Spark submits a stage again for a late failure, also when there is nothing left to do.
      if (event.stageInfo().numTasks() > 0) {
        stages.add(
            (event.stageInfo().shuffleDepId().isDefined() ? "map " : "result ")
                + event.stageInfo().numTasks());
      }
    }
  }

  /** The stage of the result fails once, the one of the outputs runs, and the result again. */
  @Test
  void aLostDatanodeCostsOneMoreAttempt() throws Exception {
    crail.close();
    crail = new SparkOnCrail(EmbeddedCrail.builder().datanodes(2).mapped(false));
    SparkConf conf = crail.conf("local[2]", local).set("spark.crail.shuffle.patience", "1s");
    assertEquals(
        List.of("result 4", "map 6", "result 4"),
        stagesAfter(conf, () -> crail.cluster().stopDatanode(0)));
  }

  @Test
  void outputsLeaveNoFileAtTheExecutorAndGoWithTheirShuffle() throws Exception {
    List<Integer> numbers = numbers(10_000);
    try (JavaSparkContext spark = SparkOnCrail.context(crail.conf("local[2]", local));
        CrailStore store = crail.store()) {
      JavaPairRDD<Integer, Iterable<Integer>> grouped = grouped(spark, numbers, 6, 4);
      grouped.collect();
      try (Stream<Path> files = Files.walk(local)) {
        assertEquals(List.of(), files.filter(file -> file.toString().endsWith(".data")).toList());
      }
      String root = children(store, "/").get(0);
      assertTrue(root.startsWith("/spark-a-test-"), root);
      assertFalse(children(store, root).isEmpty());
      spark.sc().cleaner().get().doCleanupShuffle(0, true);
      assertEquals(List.of(), children(store, root));
    }
  }

  @Test
  void anUnknownKeyIsRefused() {
    SparkConf conf = crail.conf("local[2]", local).set("spark.crail.shuffle.storageclas", "1");
    Exception refused = assertThrows(Exception.class, () -> SparkOnCrail.context(conf));
    assertTrue(
        Stream.iterate((Throwable) refused, cause -> cause != null, Throwable::getCause)
            .anyMatch(cause -> String.valueOf(cause).contains("crail.shuffle.storageclas")),
        Arrays.toString(refused.getStackTrace()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.shuffle.useOldFetchProtocol",
        "spark.shuffle.push.enabled",
        "spark.authenticate"
      })
  void unsupportedSettingsAreRefused(String key) {
    SparkConf conf =
        crail
            .conf("local[2]", local)
            .set(key, "true")
            .set("spark.authenticate.secret", "for a test");
    Exception refused = assertThrows(Exception.class, () -> SparkOnCrail.context(conf));
    assertTrue(
        Stream.iterate((Throwable) refused, cause -> cause != null, Throwable::getCause)
            .anyMatch(cause -> String.valueOf(cause.getMessage()).contains("'" + key + "' is set")),
        () -> String.valueOf(refused));
  }

  @Test
  void thePluginAloneRefusesTheSame() {
    SparkConf conf =
        crail
            .conf("local[2]", local)
            .set("spark.authenticate", "true")
            .set("spark.authenticate.secret", "for a test")
            .set("spark.plugins", CrailPlugin.class.getName());
    conf.remove("spark.shuffle.manager");
    assertThrows(Exception.class, () -> SparkOnCrail.context(conf));
  }

  /** Numbers of shuffles and tasks begin anew, so the outputs must not meet. */
  @Test
  void anApplicationWithTheConfigurationOfAnotherHasItsOwnRoots() {
    SparkConf copied;
    String first;
    try (JavaSparkContext spark = SparkOnCrail.context(crail.conf("local[2]", local))) {
      copied = spark.getConf();
      first = copied.get("spark.crail.application");
    }
    copied.remove("spark.app.id");
    try (JavaSparkContext spark = SparkOnCrail.context(copied)) {
      assertNotEquals(first, spark.getConf().get("spark.crail.application"));
      List<Integer> numbers = numbers(1000);
      assertEquals(expected(numbers), sorted(grouped(spark, numbers, 3, 2).collect()));
    }
  }

  @Test
  void encryptedDataMayGoWhereSparkAuthenticates() {
    SparkConf conf =
        crail
            .conf("local[2]", local)
            .set("spark.io.encryption.enabled", "true")
            .set("spark.authenticate", "true")
            .set("spark.authenticate.secret", "for a test");
    List<Integer> numbers = numbers(1000);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      assertEquals(expected(numbers), sorted(grouped(spark, numbers, 3, 2).collect()));
    }
  }
}
