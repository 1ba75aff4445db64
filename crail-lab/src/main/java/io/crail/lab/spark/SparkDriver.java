/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import io.crail.protocol.ClusterKeys;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Starts a driver of Spark for one job, with executors that are processes of their own ({@code
 * local-cluster}). Each job has its own local directory, which is deleted after it.
 */
final class SparkDriver {
  private static final long MOST_SECONDS = 4 * 3600;
  private static final int FIRST_JAVA_WITH_MORE_FLAGS = 24;

  private final Programs programs;
  private final Path memory;
  private final SparkJars jars;
  private final SparkOptions options;
  private final Map<String, String> crail;
  private final Path home;
  private final Path temporary;

  /**
   * Prepares Spark's home, in which its workers write.
   *
   * @param memory a directory in memory
   * @param crail what makes Spark use Crail
   */
  SparkDriver(
      Programs programs,
      Path memory,
      SparkJars jars,
      SparkOptions options,
      Map<String, String> crail)
      throws IOException {
    this.programs = programs;
    this.memory = memory;
    this.jars = jars;
    this.options = options;
    this.crail = Map.copyOf(crail);
    home = Files.createDirectory(programs.directory().resolve("spark-home"));
    temporary = Files.createDirectory(programs.directory().resolve("spark-temporary"));
    Files.createSymbolicLink(home.resolve("jars"), jars.spark());
    programs.setEnvironment("SPARK_HOME", home.toString());
    programs.setEnvironment("SPARK_SCALA_VERSION", jars.scala());
    programs.setEnvironment("SPARK_LOCAL_IP", "127.0.0.1");
  }

  /** Spark's settings that put shuffle data, and broadcast values if possible, into a cluster. */
  static Map<String, String> crail(LabCluster cluster, List<String> settings, SparkJars jars)
      throws IOException {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("spark.shuffle.manager", "io.crail.spark.CrailShuffleManager");
    if (jars.haveBroadcast()) {
      all.put("spark.plugins", "io.crail.spark.CrailPlugin");
    }
    client(cluster, settings).forEach((key, value) -> all.put("spark." + key, value));
    return all;
  }

  /** The settings of Crail's clients. */
  static Map<String, String> client(LabCluster cluster, List<String> settings) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(ClusterKeys.NAMENODE_ADDRESS.name(), cluster.addresses());
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      all.put(setting.substring(0, equals), setting.substring(equals + 1));
    }
    return all;
  }

  /**
   * Runs a job.
   *
   * @throws IOException when it fails, or its result is wrong; it has all that the driver has said
   */
  JobOutput run(SparkCase one, SparkWay way) throws IOException, InterruptedException {
    Path parent = way == SparkWay.TMPFS ? memory : programs.directory();
    Path local = Files.createTempDirectory(parent, "spark-local");
    try {
      return JobOutput.of(programs.run(command(one, way, local), MOST_SECONDS));
    } finally {
      Measurement.deleteAll(local);
      Measurement.deleteAll(home.resolve("work"));
    }
  }

  private List<String> command(SparkCase one, SparkWay way, Path local) {
    List<String> command = new ArrayList<>(options.through());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SparkFlags.OPENED);
    if (Runtime.version().feature() >= FIRST_JAVA_WITH_MORE_FLAGS) {
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.add("-Xmx1g");
    command.add("-Djava.io.tmpdir=" + temporary);
    String own =
        way == SparkWay.CRAIL
            ? jars.jobs() + File.pathSeparator + jars.client()
            : jars.jobs().toString();
    settings(one, way, local, own).forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.addAll(
        List.of(
            "-cp",
            own + File.pathSeparator + jars.spark().resolve("*"),
            "io.crail.jobs.JobProgram",
            one.task().job(),
            String.valueOf(options.bytes()),
            String.valueOf(options.tasksOfAStage()),
            local.toString(),
            String.valueOf(one.task().kills())));
    return command;
  }

  private Map<String, String> settings(SparkCase one, SparkWay way, Path local, String own) {
    int executors = one.executors();
    int cores = one.cores();
    Map<String, String> all = new LinkedHashMap<>();
    all.put(
        "spark.master", "local-cluster[" + executors + "," + cores + "," + options.memory() + "]");
    all.put("spark.app.name", one.task().word());
    all.put("spark.executor.memory", options.memory() + "m");
    all.put("spark.executor.cores", String.valueOf(cores));
    // The first task starts when all executors are there.
    all.put("spark.cores.max", String.valueOf(executors * cores));
    all.put("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    all.put("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s");
    all.put("spark.executor.extraClassPath", own);
    all.put("spark.executor.extraJavaOptions", "-Djava.io.tmpdir=" + temporary);
    all.put("spark.local.dir", local.toString());
    all.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    all.put("spark.ui.enabled", "false");
    all.put("spark.log.level", "WARN");
    all.put("spark.executor.syncLogLevel.enabled", "true");
    if (way == SparkWay.CRAIL) {
      all.putAll(crail);
      if (one.task() == SparkTask.BROADCAST) {
        // Otherwise the small ones stay with Spark.
        all.put("spark.crail.broadcast.minsize", "0");
      }
    }
    return all;
  }
}
