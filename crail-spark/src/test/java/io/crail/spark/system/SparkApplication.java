/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import io.crail.spark.SparkOnCrail;
import io.crail.spark.suites.Executors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TestUtils$;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.MapStatus;

/** A driver in this process, with executors that are processes, and what it reports. */
final class SparkApplication implements AutoCloseable {
  /** Mebibytes of an executor. */
  static final int MEMORY = 512;

  private static final long MOST_SECONDS = 300;

  private final JavaSparkContext spark;
  private final StageLog log;
  private final int executors;

  private SparkApplication(JavaSparkContext spark, int executors) {
    this.spark = spark;
    this.log = StageLog.of(spark.sc());
    this.executors = executors;
  }

  /** {@return the master that starts so many executors of one core} */
  static String localCluster(int executors) {
    return "local-cluster[" + executors + ",1," + MEMORY + "]";
  }

  /**
   * Settings for these servers: over TCP, with outputs that spread over all datanodes. A lost
   * datanode is offline at the namenode before a fetch is given up.
   */
  static SparkConf conf(CrailServers servers, String master, Path local) throws IOException {
    return usualConf(servers, master, local)
        .set("spark.crail.rpctimeout", "30s")
        .set("spark.crail.shuffle.patience", "6s")
        .set("spark.crail.shuffle.map.locationaffinity", "false")
        .set("spark.crail.storage.localmap", "false");
  }

  /** As {@link #conf}, with no setting of Crail that users do not have. */
  static SparkConf usualConf(CrailServers servers, String master, Path local) throws IOException {
    return Executors.set(SparkOnCrail.set(new SparkConf(false), servers.addresses()))
        .setMaster(master)
        .setAppName("A test")
        .set("spark.local.dir", local.toString())
        .set("spark.executor.memory", MEMORY + "m")
        .set("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
  }

  /** Starts a driver and waits for its executors. */
  static SparkApplication start(SparkConf conf, int executors) {
    SparkApplication application = new SparkApplication(SparkOnCrail.context(conf), executors);
    application.awaitExecutors();
    return application;
  }

  /** Waits until there are as many executors as there were at the start. */
  void awaitExecutors() {
    TestUtils$.MODULE$.waitUntilExecutorsUp(spark.sc(), executors, Eventually.PATIENCE.toMillis());
  }

  JavaSparkContext spark() {
    return spark;
  }

  StageLog log() {
    return log;
  }

  /** {@return the outputs of a shuffle that Spark knows; null for each that was lost} */
  static List<MapStatus> outputs(int shuffle) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    return Arrays.asList(tracker.shuffleStatuses().apply(shuffle).mapStatuses());
  }

  /** {@return how many outputs of the last shuffle lie at a datanode} */
  int outputsAt(int datanode) {
    List<String> hosts =
        outputs(log.shuffle()).stream().map(each -> each.location().host()).toList();
    return Collections.frequency(hosts, "crail-" + CrailServers.host(datanode));
  }

  /** {@return whether an executor has mapped memory of a datanode} */
  boolean maps(CrailServers servers) {
    String data = servers.data().toString();
    return spark
        .parallelize(Collections.nCopies(2 * executors, data), 2 * executors)
        .map(each -> Files.readString(Path.of("/proc/self/maps")).contains(each))
        .reduce(Boolean::logicalOr);
  }

  /** Waits for the result of a job. */
  static <T> T result(JavaFutureAction<T> job) throws Exception {
    return job.get(MOST_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    spark.close();
  }
}
