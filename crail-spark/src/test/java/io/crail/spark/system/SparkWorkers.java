/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.rpc.RpcEnv;
import scala.Option;
import scala.Tuple3;

/**
 * Spark's master, and workers with an address each, in this process. {@code local-cluster} has one
 * address, and Spark runs no second attempt of a task where the first one runs.
 */
final class SparkWorkers implements AutoCloseable {
  private final RpcEnv master;
  private final List<RpcEnv> workers = new ArrayList<>();

  /** Starts them; each has one core and so many mebibytes. */
  SparkWorkers(int count, int memory, Path directory) {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.service.enabled", "false");
    conf.set("spark.master.rest.enabled", "false").set("spark.local.dir", directory.toString());
    Tuple3<RpcEnv, Object, Option<Object>> started =
        Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, conf);
    master = started._1();
    for (int i = 1; i <= count; i++) {
      workers.add(
          Worker.startRpcEnvAndEndpoint(
              "127.0.0." + i,
              0,
              0,
              1,
              memory,
              new String[] {url()},
              directory.resolve("worker-" + i).toString(),
              Option.apply(i),
              conf,
              Option.empty()));
    }
  }

  /** {@return the address for {@code spark.master}} */
  String url() {
    return "spark://127.0.0.1:" + master.address().port();
  }

  @Override
  public void close() {
    workers.forEach(RpcEnv::shutdown);
    workers.forEach(RpcEnv::awaitTermination);
    master.shutdown();
    master.awaitTermination();
  }
}
