/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskKilledException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TestMemoryConsumer;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

class RunWriterTest {
  private static final String RUN_RECORDS = "spark.shuffle.spill.numElementsForceSpillThreshold";
  private static final String MEMORY = "spark.testing.memory";
  private static final int PARTITIONS = 5;

  @TempDir Path local;
  private SparkOnCrail crail;
  private CrailStore store;
  private SparkConf conf;

  @BeforeEach
  void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder());
    store = crail.store();
    conf =
        crail
            .conf("local[1]", local)
            .set("spark.testing.reservedMemory", "0")
            .set(MEMORY, String.valueOf(64 << 20))
            .set("spark.buffer.pageSize", "64k");
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    crail.close();
  }

  private static List<Tuple2<Integer, Object>> records(int count, int mostLength) {
    Random random = new Random(count);
    List<Tuple2<Integer, Object>> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String value = i + ":" + "x".repeat(random.nextInt(mostLength));
      records.add(new Tuple2<>(random.nextInt(1000), value));
    }
    return records;
  }

  /** Calls something before each record. */
  private static Iterator<Tuple2<Integer, Object>> watched(
      List<Tuple2<Integer, Object>> records, IntConsumer before) {
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < records.size();
      }

      @Override
      public Tuple2<Integer, Object> next() {
        before.accept(next);
        return records.get(next++);
      }
    };
  }

  /** What each run has to hold when it has so many records, but for the last one. */
  private static List<List<List<Tuple2<Integer, Object>>>> expected(
      List<Tuple2<Integer, Object>> records, int partitions, int runRecords) {
    List<List<List<Tuple2<Integer, Object>>>> runs = new ArrayList<>();
    for (int from = 0; from < records.size(); from += runRecords) {
      List<List<Tuple2<Integer, Object>>> run = new ArrayList<>();
      for (int i = 0; i < partitions; i++) {
        run.add(new ArrayList<>());
      }
      for (var each : records.subList(from, Math.min(records.size(), from + runRecords))) {
        run.get(each._1() % partitions).add(each);
      }
      runs.add(run);
    }
    return runs;
  }

  private static List<Tuple2<Integer, Object>> flat(
      List<List<List<Tuple2<Integer, Object>>>> runs, int partition) {
    return runs.stream().flatMap(run -> run.get(partition).stream()).toList();
  }

  private static void assertSame(
      List<Tuple2<Integer, Object>> records, int partitions, MapTask task) throws Exception {
    var expected = expected(records, partitions, records.size());
    var stored = task.stored();
    for (int i = 0; i < partitions; i++) {
      assertEquals(flat(expected, i), flat(stored, i), "partition " + i);
    }
  }

  private static void assertNoMemory(MapTask task) {
    assertEquals(0, task.context().taskMemoryManager().getMemoryConsumptionForThisTask());
    assertEquals(0, task.context().taskMemoryManager().cleanUpAllAllocatedMemory());
  }

  private void assertNoFile() throws Exception {
    assertEquals(List.of(), MapTask.files(store, "/"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void writesRunsAndCountsThem(boolean offHeap) throws Exception {
    conf.set(RUN_RECORDS, "100")
        .set("spark.memory.offHeap.enabled", String.valueOf(offHeap))
        .set("spark.memory.offHeap.size", "64m");
    var records = records(1050, 2000);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      assertInstanceOf(RunWriter.class, task.writer());
      MapStatus status = task.run(records.iterator());
      assertEquals(expected(records, PARTITIONS, 100), task.stored());
      TaskMetrics metrics = task.context().taskMetrics();
      long bytes = 0;
      for (long length : task.writer().getPartitionLengths()) {
        bytes += length;
      }
      assertEquals(bytes, metrics.shuffleWriteMetrics().bytesWritten());
      assertEquals(1050, metrics.shuffleWriteMetrics().recordsWritten());
      assertTrue(metrics.shuffleWriteMetrics().writeTime() > 0);
      assertTrue(metrics.memoryBytesSpilled() >= 10 * 64 << 10);
      assertEquals(0, metrics.diskBytesSpilled());
      assertTrue(metrics.peakExecutionMemory() >= 64 << 10);
      assertTrue(metrics.peakExecutionMemory() < metrics.memoryBytesSpilled());
      assertTrue(status.location().executorId().startsWith("crail-"));
      assertEquals(7, status.mapId());
      assertNoMemory(task);
    }
  }

  /** The pages lie outside the heap here, so all that is seen is garbage. */
  @Test
  void aRecordLeavesNoGarbage() throws Exception {
    conf.set("spark.memory.offHeap.enabled", "true").set("spark.memory.offHeap.size", "64m");
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    var records = Collections.nCopies(100_000, new Tuple2<Integer, Object>(3, "some text"));
    long[] allocated = new long[2];
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      task.run(
          watched(
              records,
              i -> {
                if (i == 20_000 || i == 90_000) {
                  allocated[i / 90_000] = threads.getCurrentThreadAllocatedBytes();
                }
              }));
      assertNoMemory(task);
    }
    assertTrue(allocated[1] - allocated[0] < 70_000, allocated[1] - allocated[0] + " bytes");
  }

  /** Neighbouring partitions are one block, and it has a piece of each run. */
  @Test
  void severalRunsAreReadInOneBlock() throws Exception {
    conf.set(RUN_RECORDS, "100");
    var records = records(1050, 2000);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      MapStatus status = task.run(records.iterator());
      List<Tuple2<Integer, Object>> expected = new ArrayList<>();
      for (var run : expected(records, PARTITIONS, 100)) {
        run.subList(1, 4).forEach(expected::addAll);
      }
      assertEquals(expected, task.read(status, 1, 4));
    }
  }

  @Test
  void aRecordMayBeLargerThanAPage() throws Exception {
    var records = records(500, 1000);
    for (int i = 0; i < 3; i++) {
      String large = String.valueOf((char) ('a' + i)).repeat(1_000_000 + i);
      records.add(100 * i + 50, new Tuple2<>(3, large));
    }
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      task.run(records.iterator());
      assertEquals(1, task.stored().size());
      assertSame(records, PARTITIONS, task);
      assertNoMemory(task);
    }
  }

  /** Pointers need more memory than records here. */
  @ParameterizedTest
  @ValueSource(ints = {1, 50, 20_000})
  void writesRunsWhenMemoryIsUsedUp(int mostLength) throws Exception {
    conf.set(MEMORY, String.valueOf(2 << 20));
    int count = mostLength == 1 ? 300_000 : mostLength == 50 ? 10_000 : 2_000;
    var records = records(count, mostLength);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      task.run(records.iterator());
      int runs = task.stored().size();
      assertTrue(mostLength == 50 ? runs <= 3 : runs > 3, runs + " runs");
      assertSame(records, PARTITIONS, task);
      assertNoMemory(task);
    }
  }

  @Test
  void givesMemoryToAnotherConsumerOfItsThread() throws Exception {
    var records = records(1000, 1000);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      TestMemoryConsumer other = new TestMemoryConsumer(task.context().taskMemoryManager());
      task.run(watched(records, i -> useAllAt(i, 600, other)));
      assertEquals(2, task.stored().size());
      assertEquals(expected(records.subList(0, 600), PARTITIONS, 600).get(0), task.stored().get(0));
      assertSame(records, PARTITIONS, task);
      assertNoMemory(task);
    }
  }

  /** Takes the memory of the whole process, and leaves some for what follows. */
  private static void useAllAt(int i, int at, TestMemoryConsumer consumer) {
    if (i == at) {
      consumer.use(1L << 30);
      consumer.free(consumer.getUsed());
    }
  }

  @Test
  void givesNothingToAnotherThread() throws Exception {
    var records = records(1000, 1000);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      TestMemoryConsumer other = new TestMemoryConsumer(task.context().taskMemoryManager());
      task.run(
          watched(
              records,
              i -> {
                if (i == 600) {
                  Thread thread = new Thread(() -> useAllAt(i, 600, other));
                  thread.start();
                  join(thread);
                }
              }));
      assertEquals(expected(records, PARTITIONS, 1000), task.stored());
      assertNoMemory(task);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void withoutRecordsThereIsNoFile() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      MapStatus status = task.run(Collections.emptyIterator());
      assertArrayEquals(new long[PARTITIONS], task.writer().getPartitionLengths());
      assertEquals(0, status.getSizeForBlock(3));
      assertEquals(List.of(), task.read(status, 0, PARTITIONS));
      assertNoFile();
    }
  }

  @Test
  void emptyPartitionsAreEmptyInEachRun() throws Exception {
    conf.set(RUN_RECORDS, "10");
    List<Tuple2<Integer, Object>> records = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      records.add(new Tuple2<>(i / 10 * 500 + 1, "value " + i));
    }
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, 2000);
      MapStatus status = task.run(records.iterator());
      assertEquals(4, task.stored().size());
      assertSame(records, 2000, task);
      assertEquals(0, status.getSizeForBlock(500));
      assertNotEquals(0, status.getSizeForBlock(501));
    }
  }

  @Test
  void aFailedTaskLeavesNothing() throws Exception {
    conf.set(RUN_RECORDS, "100");
    var records = records(1000, 100);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      List<String> during = new ArrayList<>();
      RuntimeException cause = new IllegalStateException("on purpose");
      RuntimeException thrown =
          assertThrows(
              RuntimeException.class,
              () ->
                  task.write(
                      watched(
                          records,
                          i -> {
                            if (i == 550) {
                              during.addAll(filesUnchecked());
                              // As when it is killed at the same time.
                              Thread.currentThread().interrupt();
                              throw cause;
                            }
                          })));
      assertTrue(Thread.interrupted(), "the interrupt is kept");
      assertEquals(cause, thrown);
      assertEquals(1, during.size());
      assertNoFile();
      assertTrue(task.writer().stop(false).isEmpty());
      assertNoMemory(task);
    }
  }

  private List<String> filesUnchecked() {
    try {
      return MapTask.files(store, "/");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aKilledTaskEndsAtTheNextWrite() throws Exception {
    conf.set(RUN_RECORDS, "100");
    var records = records(1000, 100);
    AtomicLong seen = new AtomicLong();
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      assertThrows(
          TaskKilledException.class,
          () ->
              task.write(
                  watched(
                      records,
                      i -> {
                        seen.set(i);
                        if (i == 550) {
                          task.context().markInterrupted("on purpose");
                        }
                      })));
      assertEquals(600, seen.get());
      assertTrue(task.writer().stop(false).isEmpty());
      assertNoFile();
      assertNoMemory(task);
    }
  }

  @Test
  void aStopWithoutSuccessDeletesTheOutput() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      task.write(records(10, 10).iterator());
      assertEquals(1, MapTask.files(store, "/").size());
      assertTrue(task.writer().stop(false).isEmpty());
      assertNoFile();
      assertThrows(
          IllegalStateException.class, () -> new MapTask(spark, PARTITIONS).writer().stop(true));
    }
  }

  /** The hash of the row, wherever it comes. */
  private static final class RowHash extends RowBasedChecksum {
    private static final long serialVersionUID = 1L;

    @Override
    public long calculateRowChecksum(Object key, Object value) {
      return 31L * key.hashCode() + value.hashCode();
    }
  }

  private static RowBasedChecksum[] rowHashes() {
    RowBasedChecksum[] hashes = new RowBasedChecksum[PARTITIONS];
    java.util.Arrays.setAll(hashes, i -> new RowHash());
    return hashes;
  }

  private long rowChecksum(List<Tuple2<Integer, Object>> records, Class<?> expectedWriter)
      throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS, rowHashes());
      assertEquals(expectedWriter, task.writer().getClass());
      return task.run(records.iterator()).checksumValue();
    }
  }

  @Test
  void rowChecksumsAreThoseOfSparksWriter() throws Exception {
    var records = records(1000, 100);
    conf.set(RUN_RECORDS, "300").set("spark.shuffle.sort.bypassMergeThreshold", "1");
    long own = rowChecksum(records, RunWriter.class);
    var others = new ArrayList<>(records);
    others.set(999, new Tuple2<>(1, "another"));
    assertNotEquals(own, rowChecksum(others, RunWriter.class));
    Collections.reverse(records);
    assertEquals(own, rowChecksum(records, RunWriter.class));
    conf.set("spark.crail.shuffle.writer", "spark");
    assertEquals(own, rowChecksum(records, LocatedWriter.class));
    assertNotEquals(0, own);
  }

  /** Another consumer may hide why its request for memory failed. */
  @Test
  void aRunThatFailedFailsTheTask() throws Exception {
    conf.set(RUN_RECORDS, "500");
    var records = records(1000, 100);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      MapTask task = new MapTask(spark, PARTITIONS);
      TestMemoryConsumer other = new TestMemoryConsumer(task.context().taskMemoryManager());
      RuntimeException cause = new IllegalStateException("on purpose");
      IOException thrown =
          assertThrows(
              IOException.class,
              () ->
                  task.write(
                      watched(
                          records,
                          i -> {
                            if (i == 300) {
                              task.onBytes(
                                  () -> {
                                    throw cause;
                                  });
                              assertThrows(
                                  IllegalStateException.class, () -> useAllAt(i, 300, other));
                              task.onBytes(() -> {});
                            }
                          })));
      assertTrue(thrown.getMessage().contains("earlier run"), thrown.getMessage());
      assertTrue(task.writer().stop(false).isEmpty());
      assertNoFile();
      // What the other consumer was about to get is lost until the task ends.
      task.context().taskMemoryManager().cleanUpAllAllocatedMemory();
    }
  }
}
