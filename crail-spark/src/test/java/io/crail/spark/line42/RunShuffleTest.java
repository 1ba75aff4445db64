/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.Tuple2;

/** Jobs whose map outputs are written as runs. */
@Tag("once")
class RunShuffleTest {
  private static final String KRYO = "org.apache.spark.serializer.KryoSerializer";
  private static final String RUN_RECORDS = "spark.shuffle.spill.numElementsForceSpillThreshold";
  private static final String WRITER = "spark.crail.shuffle.writer";

  /** A task of {@link #aKilledTaskLeavesNothing} gives it. */
  private static final Semaphore STARTED = new Semaphore(0);

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
    assertEquals(List.of(), MapTask.files(store, "/"), "what applications left");
    store.close();
    crail.close();
  }

  private SparkConf conf() {
    return crail.conf("local[2]", local).set("spark.serializer", KRYO);
  }

  /** A plain object, and one that is mostly bytes. */
  static final class Value implements Serializable {
    private static final long serialVersionUID = 1L;
    private long number;
    private String text;
    private byte[] bytes;

    static Value of(long number, int length, Random random) {
      Value value = new Value();
      value.number = number;
      value.text = random.nextInt(4) == 0 ? null : "text " + number;
      value.bytes = new byte[length];
      random.nextBytes(value.bytes);
      Arrays.fill(value.bytes, 0, length / 2, (byte) 1);
      return value;
    }

    @Override
    public String toString() {
      return number + " " + text + " " + Arrays.hashCode(bytes) + " of " + bytes.length;
    }
  }

  /** The records of each partition; those of a map task stay in their order. */
  private static List<List<String>> shuffled(
      SparkConf conf, List<Tuple2<Integer, Value>> records, int maps, int partitions) {
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      List<List<String>> result = new ArrayList<>();
      for (List<Tuple2<Integer, Value>> each :
          spark
              .parallelizePairs(records, maps)
              .partitionBy(new HashPartitioner(partitions))
              .glom()
              .collect()) {
        assertOrder(each, records.size(), maps);
        result.add(
            each.stream()
                .sorted((one, other) -> Long.compare(one._2().number, other._2().number))
                .map(record -> record._1() + ": " + record._2())
                .toList());
      }
      return result;
    }
  }

  /** Within what came of one map task, numbers only grow. */
  private static void assertOrder(List<Tuple2<Integer, Value>> partition, int count, int maps) {
    long[] last = new long[maps];
    Arrays.fill(last, -1);
    for (Tuple2<Integer, Value> record : partition) {
      long number = record._2().number;
      // Task i has the numbers from i * count / maps on.
      int map = (int) (((number + 1) * maps - 1) / count);
      assertTrue(number > last[map], number + " after " + last[map]);
      last[map] = number;
    }
  }

  private static List<Tuple2<Integer, Value>> records(int count, int mostLength) {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("crail.seed=" + seed);
    Random random = new Random(seed);
    List<Tuple2<Integer, Value>> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      // Some partitions get many, some none.
      int key = random.nextInt(1 + random.nextInt(700));
      records.add(new Tuple2<>(key, Value.of(i, random.nextInt(mostLength), random)));
    }
    return records;
  }

  @ParameterizedTest
  @CsvSource({
    "true,lz4,1000000",
    "true,lz4,300",
    "true,zstd,300",
    "true,snappy,300",
    "true,lzf,300",
    "false,lz4,300",
  })
  void recordsAreThoseOfSparksShuffle(boolean compress, String codec, String runRecords) {
    List<Tuple2<Integer, Value>> records = records(4_000, 1000);
    SparkConf conf =
        conf()
            .set("spark.shuffle.compress", String.valueOf(compress))
            .set("spark.io.compression.codec", codec)
            .set(RUN_RECORDS, runRecords);
    assertEquals(
        shuffled(conf.clone().set("spark.shuffle.manager", "sort"), records, 3, 101),
        shuffled(conf, records, 3, 101));
  }

  @Test
  void twoThousandPartitionsInSeveralRuns() {
    List<Tuple2<Integer, Value>> records = records(12_000, 50);
    SparkConf conf = conf().set(RUN_RECORDS, "2500");
    assertEquals(
        shuffled(conf.clone().set(WRITER, "spark"), records, 2, 2000),
        shuffled(conf, records, 2, 2000));
  }

  /**
   * Two tasks share so little memory that each has many runs, and a record is a large part of it.
   */
  @Test
  void littleMemoryAndLargeRecords() {
    List<Tuple2<Integer, Value>> records = records(20_000, 2000);
    records.add(new Tuple2<>(5, Value.of(records.size(), 3_000_000, new Random(1))));
    SparkConf conf =
        conf()
            .set("spark.testing.reservedMemory", "0")
            .set("spark.testing.memory", String.valueOf(16 << 20))
            .set("spark.buffer.pageSize", "128k");
    AtomicLong spilled = new AtomicLong();
    AtomicLong spilledToDisk = new AtomicLong();
    assertEquals(
        shuffled(conf.clone().set(WRITER, "spark"), records, 2, 100),
        shuffled(conf, records, 2, 100));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd event) {
                  spilledToDisk.addAndGet(event.taskMetrics().diskBytesSpilled());
                  spilled.addAndGet(event.taskMetrics().memoryBytesSpilled());
                }
              });
      spark.parallelizePairs(records, 2).partitionBy(new HashPartitioner(100)).count();
    }
    assertTrue(spilled.get() > 8 << 20, spilled + " bytes spilled");
    assertEquals(0, spilledToDisk.get());
  }

  private static void assertNoLocalFile(String directory) {
    try (Stream<Path> files = Files.walk(Path.of(directory))) {
      assertEquals(List.of(), files.filter(Files::isRegularFile).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void noLocalFileAtAnyTime() {
    String directory = local.toString();
    try (JavaSparkContext spark = SparkOnCrail.context(conf().set(RUN_RECORDS, "1000"))) {
      assertNoLocalFile(directory);
      JavaPairRDD<Integer, Value> shuffled =
          spark
              .parallelizePairs(records(10_000, 1000), 3)
              .mapToPair(
                  record -> {
                    if (record._2().number % 500 == 0) {
                      assertNoLocalFile(directory);
                    }
                    return record;
                  })
              .partitionBy(new HashPartitioner(20));
      shuffled.foreach(
          record -> {
            if (record._2().number % 500 == 0) {
              assertNoLocalFile(directory);
            }
          });
      assertEquals(10_000, shuffled.count());
      assertNoLocalFile(directory);
    }
  }

  @Test
  void aFailedTaskLeavesNothing() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf().set(RUN_RECORDS, "100"))) {
      JavaPairRDD<Integer, Value> shuffled =
          spark
              .parallelizePairs(records(1000, 100), 1)
              .mapToPair(
                  record -> {
                    if (record._2().number == 900) {
                      throw new IllegalStateException("on purpose");
                    }
                    return record;
                  })
              .partitionBy(new HashPartitioner(20));
      assertThrows(Exception.class, shuffled::count);
      assertEquals(List.of(), MapTask.files(store, "/"));
    }
  }

  @Test
  void aKilledTaskLeavesNothing() throws Exception {
    BlockingQueue<TaskEndReason> ends = new LinkedBlockingQueue<>();
    try (JavaSparkContext spark = SparkOnCrail.context(conf().set(RUN_RECORDS, "100"))) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd event) {
                  ends.add(event.reason());
                }
              });
      spark.setJobGroup("killed", "a job that is killed", true);
      spark
          .parallelizePairs(records(1000, 100), 1)
          .mapToPair(
              record -> {
                if (record._2().number == 900) {
                  STARTED.release();
                  new CountDownLatch(1).await();
                }
                return record;
              })
          .partitionBy(new HashPartitioner(20))
          .countAsync();
      assertTrue(STARTED.tryAcquire(60, TimeUnit.SECONDS));
      assertFalse(MapTask.files(store, "/").isEmpty());
      spark.cancelJobGroup("killed");
      TaskEndReason end = ends.poll(30, TimeUnit.SECONDS);
      assertNotNull(end, "the task goes on");
      assertInstanceOf(TaskKilled.class, end);
      assertEquals(List.of(), MapTask.files(store, "/"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    KRYO + ",true,lz4,false,true",
    KRYO + ",true,zstd,false,true",
    KRYO + ",true,snappy,false,true",
    KRYO + ",true,lzf,false,true",
    KRYO + ",false,lz4,false,true",
    KRYO + ",false," + NoConcatenation.NAME + ",false,true",
    KRYO + ",true," + NoConcatenation.NAME + ",false,false",
    KRYO + ",true,lz4,true,false",
    "org.apache.spark.serializer.JavaSerializer,true,lz4,false,false",
  })
  void isUsedWhereItMay(
      String serializer, boolean compress, String codec, boolean encrypt, boolean expected) {
    SparkConf settings =
        new SparkConf(false)
            .set("spark.shuffle.compress", String.valueOf(compress))
            .set("spark.io.compression.codec", codec)
            .set("spark.io.encryption.enabled", String.valueOf(encrypt));
    SparkConf conf = conf().set("spark.serializer", serializer);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      JavaPairRDD<Integer, Integer> pairs = spark.parallelizePairs(List.of(new Tuple2<>(1, 2)), 1);
      assertEquals(
          expected,
          RunWriter.suits(dependency(pairs.partitionBy(new HashPartitioner(3))), settings));
      assertFalse(RunWriter.suits(dependency(pairs.reduceByKey(Integer::sum)), settings));
    }
  }

  /** A codec that Spark does not know to allow concatenation. */
  public static final class NoConcatenation implements CompressionCodec {
    static final String NAME = "io.crail.spark.line42.RunShuffleTest$NoConcatenation";

    /** Spark creates it. */
    public NoConcatenation(SparkConf conf) {
      // Nothing to set.
    }

    @Override
    public OutputStream compressedOutputStream(OutputStream out) {
      return out;
    }

    @Override
    public InputStream compressedInputStream(InputStream in) {
      return in;
    }
  }

  private static ShuffleDependency<?, ?, ?> dependency(JavaPairRDD<Integer, Integer> shuffled) {
    return (ShuffleDependency<?, ?, ?>) shuffled.rdd().dependencies().head();
  }

  @Test
  void sparksWritersAreUsedWhenThatIsSet() {
    try (JavaSparkContext spark = SparkOnCrail.context(conf().set(WRITER, "spark"))) {
      assertNotNull(SparkEnv.get());
      assertInstanceOf(LocatedWriter.class, new MapTask(spark, 3).writer());
    }
  }
}
