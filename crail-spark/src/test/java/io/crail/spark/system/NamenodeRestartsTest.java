/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.spark.CrailPlugin;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs go on while their namenode is killed and an empty one takes its place, with the settings
 * that users have: its space rests, and its datanodes come after some time.
 */
@Tag("once")
class NamenodeRestartsTest {
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 10 : 2;
  private static final int EXECUTORS = 2;

  /** What a namenode takes to start on a busy host. Four attempts of a task take less. */
  private static final long AWAY_MILLIS = 4000;

  private static final int BROADCAST_BYTES = 2 << 20;

  @TempDir private static Path local;

  @Test
  void noJobFails() throws Exception {
    try (CrailServers servers = CrailServers.startAsUsual(1, 2, "128m")) {
      SparkConf conf =
          SparkApplication.usualConf(servers, SparkApplication.localCluster(EXECUTORS), local)
              .set("spark.plugins", CrailPlugin.class.getName())
              .set("spark.io.compression.codec", "lz4")
              .set("spark.broadcast.compress", "false");
      try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
        for (int round = 0; round < ROUNDS; round++) {
          loseNamenode(servers, application, round);
        }
      }
      servers.assertEmpty();
    }
  }

  /** In even rounds while outputs are written, in odd ones while they are read. */
  private static void loseNamenode(CrailServers servers, SparkApplication application, int round)
      throws Exception {
    JavaSparkContext spark = application.spark();
    application.log().clear();
    boolean whileWriting = round % 2 == 0;
    Gate lastMap = Gate.closed(local);
    Gate read = Gate.closed(local);
    JavaRDD<Integer> numbers =
        NumbersJob.moved(NumbersJob.pairs(spark, Gate.closed(local), lastMap)).values();
    if (whileWriting) {
      read.open();
    } else {
      lastMap.open();
    }
    JavaFutureAction<List<Integer>> job = NumbersJob.through(numbers, read).collectAsync();
    (whileWriting ? lastMap : read).await(whileWriting ? 1 : EXECUTORS);
    if (whileWriting) {
      application.log().awaitSucceeded(NumbersJob.MAPS - 1);
    }
    servers.killNamenode(0);
    (whileWriting ? lastMap : read).open();
    Thread.sleep(AWAY_MILLIS);
    servers.startNamenode(0);
    // What the driver writes waits as well.
    byte[] value = new byte[BROADCAST_BYTES];
    new SplittableRandom(round).nextBytes(value);
    Broadcast<byte[]> broadcast = spark.broadcast(value);
    assertEquals(List.of(sum(value), sum(value)), sums(spark, broadcast), "round " + round);
    NumbersJob.assertWhole(SparkApplication.result(job));
    broadcast.destroy();
  }

  private static List<Long> sums(JavaSparkContext spark, Broadcast<byte[]> broadcast) {
    return spark.parallelize(List.of(0, 1), 2).map(each -> sum(broadcast.value())).collect();
  }

  private static long sum(byte[] bytes) {
    long sum = 0;
    for (byte each : bytes) {
      sum = 31 * sum + each;
    }
    return sum;
  }
}
