/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import io.crail.spark.Broadcasts;
import io.crail.spark.CrailPlugin;
import io.crail.spark.CrailShuffleManager;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import scala.Tuple2;

/**
 * A driver that holds map outputs and a broadcast value until it is killed. Arguments: the address
 * of the namenode, the lease, a local directory.
 */
final class DriverProgram {
  static final int MAPS = 6;
  static final int BROADCAST_BYTES = 4 << 20;
  static final String READY = "ready";

  private DriverProgram() {}

  public static void main(String[] arguments) throws Exception {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[1]")
            .setAppName("To be killed")
            .set("spark.local.dir", arguments[2])
            .set("spark.shuffle.manager", CrailShuffleManager.class.getName())
            .set("spark.plugins", CrailPlugin.class.getName())
            .set("spark.crail.namenode.address", arguments[0])
            .set("spark.crail.application.lease", arguments[1])
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1");
    JavaSparkContext spark = new JavaSparkContext(conf);
    Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(BROADCAST_BYTES));
    spark
        .parallelize(IntStream.range(0, 1000).boxed().toList(), MAPS)
        .mapToPair(number -> new Tuple2<>(number % 7, number))
        .groupByKey(2)
        .count();
    System.out.println(READY);
    // Ends with the test, even if it is not killed.
    System.in.read();
    broadcast.destroy();
    spark.close();
  }
}
