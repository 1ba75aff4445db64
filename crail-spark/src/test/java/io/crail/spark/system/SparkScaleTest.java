/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.spark.Broadcasts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.KryoSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** A shuffle with four million blocks. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
class SparkScaleTest {
  private static final int TASKS = 2000;

  @TempDir private Path local;

  private static JavaPairRDD<Integer, Long> records(JavaSparkContext spark) {
    List<Integer> maps = new ArrayList<>();
    for (int map = 0; map < TASKS; map++) {
      maps.add(map);
    }
    return spark
        .parallelize(maps, TASKS)
        .flatMapToPair(
            map -> {
              List<Tuple2<Integer, Long>> records = new ArrayList<>();
              for (int partition = 0; partition < TASKS; partition++) {
                records.add(new Tuple2<>(partition, (long) map * TASKS + partition));
              }
              return records.iterator();
            });
  }

  /** The sum of a partition's records if each map output has brought its own, else -1. */
  private static Long sum(Iterator<Tuple2<Integer, Long>> records) {
    boolean[] seen = new boolean[TASKS];
    long sum = 0;
    int count = 0;
    while (records.hasNext()) {
      long value = records.next()._2();
      int map = (int) (value / TASKS);
      sum = seen[map] ? Long.MIN_VALUE : sum + value;
      seen[map] = true;
      count++;
    }
    return count == TASKS ? sum : -1L;
  }

  @Test
  void twoThousandMapOutputsOfTwoThousandPartitions() throws Exception {
    try (CrailServers servers = CrailServers.start(2, 1, "1g")) {
      SparkConf conf =
          SparkApplication.conf(servers, SparkApplication.localCluster(2), local)
              .set("spark.crail.storage.localmap", "true");
      try (SparkApplication application = SparkApplication.start(conf, 2)) {
        JavaSparkContext spark = application.spark();
        long begin = System.nanoTime();
        List<Long> sums =
            ShuffleJobs.moved(records(spark), TASKS, new KryoSerializer(conf))
                .mapPartitions(all -> List.of(sum(all)).iterator())
                .collect();
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
        assertEquals(TASKS, sums.size());
        long expected = (long) TASKS * TASKS * (TASKS - 1) / 2;
        for (int partition = 0; partition < TASKS; partition++) {
          // The sum over all maps of map * TASKS, and the partition once for each of them.
          assertEquals(expected + (long) TASKS * partition, sums.get(partition), "" + partition);
        }
        int files = files(servers);
        assertEquals(TASKS, files);
        MapStatus[] outputs = SparkApplication.outputs(0).toArray(new MapStatus[0]);
        byte[] sent =
            MapOutputTracker.serializeOutputStatuses(
                    outputs, SparkEnv.get().broadcastManager(), true, Integer.MAX_VALUE, conf)
                ._1();
        assertTrue(sent.length < 8 << 20, sent.length + " bytes of the driver");
        System.out.printf(
            "%d x %d: %d ms, %d files, %d bytes in the store, %d bytes of the driver for each"
                + " executor, most heap of an executor %d MiB%n",
            TASKS, TASKS, millis, files, servers.usedBytes(), sent.length, heap(spark));
      }
      servers.assertEmpty();
    }
  }

  private static long heap(JavaSparkContext spark) {
    return Collections.max(
        spark
            .parallelize(Collections.nCopies(4, 0), 4)
            .map(
                i -> {
                  Runtime runtime = Runtime.getRuntime();
                  return (runtime.totalMemory() - runtime.freeMemory()) >> 20;
                })
            .collect());
  }

  private static int files(CrailServers servers) throws Exception {
    int count = 0;
    try (CrailStore store = servers.store()) {
      for (String root : Broadcasts.children(store, "/")) {
        for (String directory : Broadcasts.children(store, root)) {
          count += Broadcasts.children(store, directory).size();
        }
      }
    }
    return count;
  }
}
