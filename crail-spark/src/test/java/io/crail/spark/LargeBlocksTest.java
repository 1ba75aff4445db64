/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/** Blocks that are read while they are used: one map task, and most of its bytes in one block. */
@Tag("once")
class LargeBlocksTest {
  private static final int RECORD_BYTES = 1 << 16;

  /** 12 MiB. */
  private static final int RECORDS = 192;

  @TempDir Path local;

  private SparkConf conf(SparkOnCrail crail, boolean compress) {
    return crail
        .conf("local[1]", local)
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.shuffle.compress", String.valueOf(compress));
  }

  private static byte[] bytes(int key) {
    ByteBuffer bytes = ByteBuffer.allocate(RECORD_BYTES);
    long value = key;
    while (bytes.hasRemaining()) {
      value = value * 6364136223846793005L + 1442695040888963407L;
      bytes.putLong(value);
    }
    return bytes.array();
  }

  /** The keys of the records of each partition, in their order, once their bytes are compared. */
  private static JavaRDD<int[]> keys(JavaPairRDD<Integer, byte[]> records) {
    return records.mapPartitions(
        partition -> {
          IntStream.Builder keys = IntStream.builder();
          while (partition.hasNext()) {
            Tuple2<Integer, byte[]> each = partition.next();
            assertArrayEquals(bytes(each._1()), each._2());
            keys.add(each._1());
          }
          return List.of(keys.build().toArray()).iterator();
        });
  }

  /** Records with odd keys, and some with even ones: these are all in partition 0. */
  private static JavaPairRDD<Integer, byte[]> records(JavaSparkContext spark, int odd, int even) {
    return spark
        .parallelize(List.of(odd), 1)
        .flatMapToPair(
            count ->
                IntStream.range(-even, count)
                    .map(i -> i < 0 ? 2 * i : 2 * i + 1)
                    .mapToObj(i -> new Tuple2<>(i, bytes(i)))
                    .iterator())
        .partitionBy(new HashPartitioner(2));
  }

  private static int[] oddKeys(int count) {
    return IntStream.range(0, count).map(i -> 2 * i + 1).toArray();
  }

  /** Stages that were submitted, and how tasks ended. */
  private static final class Events extends SparkListener {
    private final List<String> stages = new CopyOnWriteArrayList<>();
    private final List<String> ends = new CopyOnWriteArrayList<>();

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted event) {
      if (event.stageInfo().numTasks() > 0) {
        stages.add(
            (event.stageInfo().shuffleDepId().isDefined() ? "map " : "result ")
                + event.stageInfo().numTasks());
      }
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd event) {
      ends.add(event.reason().getClass().getSimpleName().replace("$", ""));
    }
  }

  private static List<String> children(CrailStore store, String path) throws Exception {
    List<String> names = new ArrayList<>();
    Iterator<CrailNode> children = store.lookup(path).get().asContainer().listStatus();
    children.forEachRemaining(node -> names.add(node.getPath()));
    return names;
  }

  /** Puts another file in the place of the only output, with one byte that is wrong. */
  private static void spoil(SparkOnCrail crail) throws Exception {
    try (CrailStore store = crail.store()) {
      String path = "/";
      for (int depth = 0; depth < 3; depth++) {
        List<String> children = children(store, path);
        assertEquals(1, children.size(), children.toString());
        path = children.get(0);
      }
      byte[] bytes;
      try (CrailBufferedInputStream in =
          store.lookup(path).get().asFile().getBufferedInputStream(0)) {
        bytes = in.readAllBytes();
      }
      bytes[bytes.length * 3 / 4] ^= 1;
      store.delete(path, false).get();
      try (CrailBufferedOutputStream out =
          store
              .create(
                  path,
                  CrailNodeType.DATAFILE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true)
              .get()
              .asFile()
              .getBufferedOutputStream(0)) {
        out.write(bytes);
      }
    }
  }

  /** With compression the error comes from within another stream than without. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWrongByteIsAFetchFailureAndNoErrorOfTheTask(boolean compress) throws Exception {
    Events events = new Events();
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder());
        JavaSparkContext spark = SparkOnCrail.context(conf(crail, compress))) {
      JavaPairRDD<Integer, byte[]> records = records(spark, RECORDS, 0);
      // Nothing is fetched for an empty partition, so the output is not known yet.
      assertEquals(0, keys(records).collectPartitions(new int[] {0})[0].get(0).length);
      spoil(crail);
      spark.sc().listenerBus().waitUntilEmpty();
      spark.sc().addSparkListener(events);
      assertArrayEquals(oddKeys(RECORDS), keys(records).collect().get(1));
      spark.sc().listenerBus().waitUntilEmpty();
      assertEquals(List.of("result 2", "map 1", "result 1"), events.stages);
      assertEquals(List.of("Success", "FetchFailed", "Success", "Success"), events.ends);
    }
  }

  private static boolean waits(Thread thread, String in) {
    return thread.getName().startsWith("Executor task launch")
        && Arrays.stream(thread.getStackTrace()).anyMatch(frame -> frame.toString().contains(in));
  }

  /** A task that waits for bytes, and one that waits for the block. */
  @ParameterizedTest
  @CsvSource({"1,fetch.FetchTime", "0,LinkedBlockingDeque.take"})
  void aTaskThatIsKilledWhileItWaitsHasNoFetchFailure(int even, String wait) throws Exception {
    Events events = new Events();
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder().mapped(false));
        JavaSparkContext spark =
            SparkOnCrail.context(conf(crail, false).set("spark.crail.shuffle.patience", "600s"))) {
      JavaPairRDD<Integer, byte[]> records = records(spark, RECORDS, even);
      assertEquals(even, keys(records).collectPartitions(new int[] {0})[0].get(0).length);
      crail.cluster().stopDatanode(0);
      spark.sc().listenerBus().waitUntilEmpty();
      spark.sc().addSparkListener(events);
      FutureTask<List<int[]>[]> job =
          new FutureTask<>(
              () -> {
                spark.setJobGroup("killed", "a test", true);
                return keys(records).collectPartitions(new int[] {1});
              });
      new Thread(job).start();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (Thread.getAllStackTraces().keySet().stream().noneMatch(each -> waits(each, wait))) {
        assertTrue(System.nanoTime() - end < 0, "no thread waits in " + wait);
        Thread.sleep(10);
      }
      // Ten minutes before its patience ends.
      spark.cancelJobGroup("killed");
      assertThrows(ExecutionException.class, () -> job.get(60, TimeUnit.SECONDS));
      end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!events.ends.contains("TaskKilled")) {
        assertTrue(System.nanoTime() - end < 0, "the task has not ended");
        Thread.sleep(10);
      }
      assertTrue(!events.ends.contains("FetchFailed"), events.ends.toString());
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void aPartitionOfThreeGiBIsTheSameAsThatOfSparksOwnShuffle() throws Exception {
    int count = (int) ((3L << 30) / RECORD_BYTES);
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder(), 5L << 30)) {
      int[] keys;
      try (JavaSparkContext spark = SparkOnCrail.context(conf(crail, false))) {
        keys = keys(records(spark, count, 1)).collect().get(1);
      }
      assertArrayEquals(oddKeys(count), keys);
      SparkConf own = conf(crail, false).remove("spark.shuffle.manager");
      Arrays.stream(own.getAllWithPrefix("spark.crail."))
          .forEach(each -> own.remove("spark.crail." + each._1()));
      try (JavaSparkContext spark = SparkOnCrail.context(own)) {
        assertArrayEquals(keys(records(spark, count, 1)).collect().get(1), keys);
      }
    }
  }
}
