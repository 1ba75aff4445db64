/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStatistics;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Stores;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** Jobs that are cancelled while they write and read shuffle data give all memory back. */
@Tag("once")
class CancelledJobsTest {
  private static final int JOBS = 50;

  /** After these, code and Spark's own tables have been made. */
  private static final int FIRST_JOBS = 10;

  private static final int RECORD_BYTES = 1 << 16;

  /** 8 MiB. */
  private static final int RECORDS = 128;

  private static final int PARTITIONS = 2;
  private static final int SECONDS = 60;

  /** A buffer of 1 MiB, or a block, that each job keeps would be several times as much. */
  private static final long MOST_GROWTH = 12L << 20;

  /** Tasks that have come to where they wait for their end. */
  private static final Semaphore WAITING = new Semaphore(0);

  @TempDir Path local;

  private final BlockingQueue<TaskEndReason> ends = new LinkedBlockingQueue<>();

  @Test
  void giveTheirMemoryBack() throws Exception {
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder().mapped(false))) {
      SparkConf conf =
          crail
              .conf("local[" + PARTITIONS + "]", local)
              .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
              .set("spark.shuffle.compress", "false");
      try (JavaSparkContext spark = SparkOnCrail.context(conf);
          ApplicationStore store = Stores.PROCESS.of(spark.getConf())) {
        spark
            .sc()
            .addSparkListener(
                new SparkListener() {
                  @Override
                  public void onTaskEnd(SparkListenerTaskEnd event) {
                    ends.add(event.reason());
                  }
                });
        CrailStatistics statistics = store.store().getStatistics();
        long heap = 0;
        long pool = 0;
        for (int job = 0; job < JOBS; job++) {
          if (job == FIRST_JOBS) {
            heap = heapAfterCollection();
            pool = statistics.getBufferBytes();
          }
          cancelled(spark, job % 2 == 0);
          awaitNothingHeld(statistics, job);
        }
        long most = statistics.getBufferBytes();
        assertTrue(most <= pool, "buffers of the store: " + pool + " bytes, then " + most);
        long growth = heapAfterCollection() - heap;
        assertTrue(growth < MOST_GROWTH, "the heap has grown by " + growth + " bytes");
      }
    }
  }

  /** Runs a job whose tasks are killed in the middle of their output, or of what they fetch. */
  private void cancelled(JavaSparkContext spark, boolean writing) throws Exception {
    spark.setJobGroup("cancelled", "a job that is cancelled", true);
    spark
        .parallelize(IntStream.range(0, RECORDS).boxed().toList(), PARTITIONS)
        .mapToPair(
            i -> {
              if (writing && i % (RECORDS / PARTITIONS) == RECORDS / PARTITIONS - 1) {
                awaitKill();
              }
              return new Tuple2<>(i, new byte[RECORD_BYTES]);
            })
        .partitionBy(new HashPartitioner(PARTITIONS))
        .foreachPartitionAsync(
            records -> {
              records.next();
              awaitKill();
            });
    assertTrue(WAITING.tryAcquire(PARTITIONS, SECONDS, TimeUnit.SECONDS), "no task waits");
    spark.cancelJobGroup("cancelled");
    for (int killed = 0; killed < PARTITIONS; ) {
      TaskEndReason end = ends.poll(SECONDS, TimeUnit.SECONDS);
      assertNotNull(end, "a task goes on");
      killed += end instanceof TaskKilled ? 1 : 0;
    }
  }

  private static void awaitNothingHeld(CrailStatistics statistics, int job) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    // One buffer stays, from which the next blocks are cut.
    while (statistics.getLentBuffers() > 1
        || statistics.getOpenInputStreams()
                + statistics.getOpenOutputStreams()
                + statistics.getOutstandingOperations()
            > 0) {
      assertTrue(
          System.nanoTime() - end < 0,
          () ->
              String.format(
                  Locale.ROOT,
                  "after job %d: %d buffers, %d and %d streams, %d operations",
                  job,
                  statistics.getLentBuffers(),
                  statistics.getOpenInputStreams(),
                  statistics.getOpenOutputStreams(),
                  statistics.getOutstandingOperations()));
      Thread.sleep(10);
    }
  }

  private static long heapAfterCollection() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static void awaitKill() throws InterruptedException {
    WAITING.release();
    new CountDownLatch(1).await();
  }
}
