/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.spark.Broadcasts;
import io.crail.spark.CrailPlugin;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs notice nothing but a pause when a namenode is killed that loses nothing: alone it starts
 * again, and with standbys one of them takes over.
 */
@Tag("once")
class NamenodeComesBackTest {
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 10 : 2;
  private static final int EXECUTORS = 2;
  private static final int BROADCAST_BYTES = 2 << 20;

  @TempDir private static Path local;

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void noTaskFails(int peers) throws Exception {
    try (CrailServers servers = CrailServers.startDurable(peers, 2, "128m")) {
      SparkConf conf =
          SparkApplication.usualConf(servers, SparkApplication.localCluster(EXECUTORS), local)
              .set("spark.plugins", CrailPlugin.class.getName())
              .set("spark.crail.rpctimeout", "60s")
              .set("spark.io.compression.codec", "lz4")
              .set("spark.broadcast.compress", "false");
      try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
        for (int round = 0; round < ROUNDS; round++) {
          killNamenode(servers, application, round, peers == 1 ? 0 : servers.leader());
        }
      }
      servers.assertEmpty();
    }
  }

  /** In even rounds while outputs are written, in odd ones while they are read. */
  private static void killNamenode(
      CrailServers servers, SparkApplication application, int round, int namenode)
      throws Exception {
    JavaSparkContext spark = application.spark();
    application.log().clear();
    boolean whileWriting = round % 2 == 0;
    byte[] value = Broadcasts.bytes(BROADCAST_BYTES + round);
    Broadcast<byte[]> before = spark.broadcast(value);
    int hash = Arrays.hashCode(value);
    Gate lastMap = Gate.closed(local);
    Gate read = Gate.closed(local);
    JavaRDD<Integer> numbers =
        NumbersJob.moved(NumbersJob.pairs(spark, Gate.closed(local), lastMap)).values();
    (whileWriting ? read : lastMap).open();
    // Half of the outputs are read before the gate, and half of them after it, as the value is.
    JavaFutureAction<List<Integer>> job =
        NumbersJob.through(numbers, read)
            .mapPartitions(
                all -> {
                  assertEquals(hash, Arrays.hashCode(before.value()));
                  return all;
                })
            .collectAsync();
    (whileWriting ? lastMap : read).await(whileWriting ? 1 : EXECUTORS);
    if (whileWriting) {
      application.log().awaitSucceeded(NumbersJob.MAPS - 1);
    }
    servers.killNamenode(namenode);
    (whileWriting ? lastMap : read).open();
    boolean isAlone = servers.addresses().indexOf('|') < 0;
    if (isAlone) {
      servers.launchNamenode(namenode);
    }
    // What the driver writes waits as well.
    Broadcast<byte[]> meanwhile = spark.broadcast(value);
    NumbersJob.assertWhole(SparkApplication.result(job));
    for (long bytes : readBy(spark, meanwhile, hash)) {
      assertTrue(bytes >= (round + 1) * 2L * BROADCAST_BYTES, "a value came from elsewhere");
    }
    assertEquals(
        List.of("map " + NumbersJob.MAPS, "result " + NumbersJob.PARTITIONS, "result " + EXECUTORS),
        application.log().stages(),
        "round " + round);
    assertEquals(List.of(), application.log().failures(), "round " + round);
    before.destroy();
    meanwhile.destroy();
    if (!isAlone) {
      servers.startNamenode(namenode);
    }
  }

  /** Has each executor read a value. Returns what they have read from the store so far. */
  private static List<Long> readBy(JavaSparkContext spark, Broadcast<byte[]> broadcast, int hash)
      throws Exception {
    Gate everywhere = Gate.closed(local);
    return spark
        .parallelize(Collections.nCopies(EXECUTORS, hash), EXECUTORS)
        .map(
            each -> {
              everywhere.meet(EXECUTORS);
              assertEquals(each, Arrays.hashCode(broadcast.value()));
              return Broadcasts.bytesRead();
            })
        .collect();
  }
}
