/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import io.crail.spark.SparkOnCrail;
import io.crail.spark.suites.Executors;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** A driver that is a process, with one executor: it has a shuffle until a file appears. */
final class ApplicationProgram {
  private ApplicationProgram() {}

  /** Starts it with the options of this JVM; {@code end} is the file that ends it. */
  static ChildProcess start(CrailServers servers, String name, String lease, Path local, Path end)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (option.startsWith("--add-opens") || option.startsWith("-Dspark.")) {
        command.add(option);
      }
    }
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx512m",
            "-Djava.io.tmpdir=" + local,
            "-cp",
            Executors.classPath(),
            ApplicationProgram.class.getName(),
            servers.addresses(),
            name,
            lease,
            local.toString(),
            end.toString()));
    return ChildProcess.start(local.resolve(name + ".log"), Map.of(), command);
  }

  /** Namenodes, name, lease, local directory, file. */
  public static void main(String[] args) throws Exception {
    SparkConf conf =
        Executors.set(SparkOnCrail.set(new SparkConf(false), args[0]))
            .setMaster(SparkApplication.localCluster(1))
            .setAppName(args[1])
            .set("spark.executor.memory", SparkApplication.MEMORY + "m")
            .set("spark.crail.application.lease", args[2])
            .set("spark.local.dir", args[3]);
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      JavaPairRDD<Integer, Iterable<Integer>> grouped =
          spark
              .parallelize(IntStream.range(0, 1000).boxed().toList(), 4)
              .mapToPair(i -> new Tuple2<>(i % 10, i))
              .groupByKey(2);
      System.out.println("groups " + grouped.count());
      Eventually.holds("the file", () -> Files.exists(Path.of(args[4])));
      System.out.println("again " + grouped.count());
    }
    System.exit(0);
  }
}
