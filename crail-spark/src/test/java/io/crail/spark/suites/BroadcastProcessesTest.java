/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Broadcasts;
import io.crail.spark.CrailBroadcast;
import io.crail.spark.CrailPlugin;
import io.crail.spark.SparkOnCrail;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.TestUtils$;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.broadcast.TorrentBroadcast;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.Tuple2;

/** Broadcast values with executors in processes of their own, which take seconds to start. */
@Tag("once")
class BroadcastProcessesTest {
  private static final int EXECUTORS = 2;
  private static final int LARGE = 8 << 20;

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

  private SparkConf conf() throws IOException {
    return Executors.set(crail.conf("local-cluster[" + EXECUTORS + ",1,1024]", local))
        .set("spark.plugins", CrailPlugin.class.getName());
  }

  private static JavaSparkContext context(SparkConf conf) {
    JavaSparkContext spark = SparkOnCrail.context(conf);
    TestUtils$.MODULE$.waitUntilExecutorsUp(spark.sc(), EXECUTORS, 60_000);
    return spark;
  }

  /** What an executor has read from the store after the last of its tasks. */
  private static Map<String, Long> read(
      JavaSparkContext spark, Function<Integer, Integer> hash, int expected) {
    Map<String, Long> bytes = new TreeMap<>();
    List<Tuple2<String, Long>> results =
        spark
            .parallelize(Collections.nCopies(8 * EXECUTORS, 0), 8 * EXECUTORS)
            .map(
                i -> {
                  assertEquals(expected, hash.call(i));
                  return new Tuple2<>(SparkEnv.get().executorId(), Broadcasts.bytesRead());
                })
            .collect();
    results.forEach(each -> bytes.merge(each._1(), each._2(), Math::max));
    assertEquals(EXECUTORS, bytes.size());
    return bytes;
  }

  private static void assertReadOnce(Map<String, Long> before, Map<String, Long> after, long file) {
    after.forEach(
        (executor, bytes) -> assertEquals(file, bytes - before.getOrDefault(executor, 0L)));
  }

  @Test
  void eachExecutorReadsAValueOnce() throws Exception {
    try (JavaSparkContext spark = context(conf().remove("spark.shuffle.manager"))) {
      byte[] value = Broadcasts.bytes(LARGE);
      int hash = Arrays.hashCode(value);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      assertFalse(broadcast instanceof TorrentBroadcast);
      long file = store.lookup(Broadcasts.files(store).get(0)).get().getCapacity();
      Map<String, Long> first = read(spark, i -> Arrays.hashCode(broadcast.value()), hash);
      assertReadOnce(Map.of(), first, file);
      assertEquals(first, read(spark, i -> Arrays.hashCode(broadcast.value()), hash));
      broadcast.unpersist(true);
      Map<String, Long> again = read(spark, i -> Arrays.hashCode(broadcast.value()), hash);
      again.forEach((executor, bytes) -> assertTrue(bytes - first.get(executor) <= file, executor));

      CrailBroadcast<byte[]> asked = CrailBroadcast.of(spark, value);
      Map<String, Long> second = read(spark, i -> Arrays.hashCode(asked.value()), hash);
      String path = Broadcasts.files(store).get(1);
      assertReadOnce(again, second, store.lookup(path).get().getCapacity());
      assertEquals(second, read(spark, i -> Arrays.hashCode(asked.value()), hash));

      broadcast.destroy(true);
      asked.destroy();
      assertEquals(List.of(), Broadcasts.files(store));
    }
  }

  /** All that is broadcast goes through the store: tasks, places of map outputs, values. */
  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void encryptedValuesOfSparkItselfTravelThroughTheStore() throws Exception {
    SparkConf conf =
        conf()
            .set("spark.crail.broadcast.minsize", "0")
            .set("spark.shuffle.mapOutput.minSizeForBroadcast", "0")
            .set("spark.io.encryption.enabled", "true");
    try (JavaSparkContext spark = context(conf)) {
      List<Integer> sums =
          spark
              .parallelize(List.of(1, 2, 3, 4, 5, 6), 6)
              .mapToPair(i -> new Tuple2<>(i % 2, i))
              .reduceByKey(Integer::sum, 2)
              .values()
              .collect();
      assertEquals(List.of(12, 9), sums);
      assertFalse(Broadcasts.files(store).isEmpty());
    }
  }

  @ParameterizedTest
  @CsvSource({"false,false", "true,true"})
  void aValueThatIsGoneOrWrongComesFromTheDriver(boolean wrong, boolean encrypted)
      throws Exception {
    SparkConf conf =
        conf()
            .remove("spark.shuffle.manager")
            .set("spark.io.encryption.enabled", String.valueOf(encrypted));
    try (JavaSparkContext spark = context(conf)) {
      byte[] value = Broadcasts.bytes(LARGE);
      int hash = Arrays.hashCode(value);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      // What the program does with it afterwards is its own affair.
      value[0]++;
      String path = Broadcasts.files(store).get(0);
      if (wrong) {
        byte[] bytes = Broadcasts.content(store, path);
        bytes[LARGE / 2] ^= 1;
        Broadcasts.replace(store, path, bytes);
      } else {
        store.delete(path, false).get();
      }
      read(spark, i -> Arrays.hashCode(broadcast.value()), hash);
      broadcast.destroy(true);
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void aValueOfTheProgramThatIsGoneFailsTasksAsABroadcast() throws Exception {
    try (JavaSparkContext spark = context(conf())) {
      CrailBroadcast<byte[]> asked = CrailBroadcast.of(spark, Broadcasts.bytes(LARGE));
      store.delete(Broadcasts.files(store).get(0), false).get();
      SparkException failed =
          assertThrows(
              SparkException.class,
              () ->
                  spark
                      .parallelize(List.of(1), 1)
                      .map(i -> Arrays.hashCode(asked.value()))
                      .collect());
      assertTrue(failed.getMessage().contains("CrailBroadcastException"), failed::getMessage);
      assertTrue(failed.getMessage().contains("was destroyed"), failed::getMessage);
      assertFalse(failed.getMessage().contains("FetchFailed"), failed::getMessage);
    }
  }
}
