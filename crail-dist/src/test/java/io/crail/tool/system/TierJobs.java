/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.lab.spark.SparkFlags;
import io.crail.tool.Ran;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs jobs of Spark whose data lie in a cluster of processes, with the single jar as users add it,
 * and checks their results. {@code ci/spark} makes the directory that {@code -Dcrail.spark=} names.
 */
final class TierJobs {
  /**
   * What the jobs write and read at least: a broadcast value has 8 MiB, and rows are compressed.
   */
  static final long MOVED_BYTES = 12 << 20;

  /** What is in the store at some time at least: what a job has shuffled goes with it. */
  static final long HELD_BYTES = 2 << 20;

  private static final List<String> JOBS = List.of("terasort", "groupby", "join", "broadcast");

  /** The data of each job. */
  private static final long BYTES = 4 << 20;

  private static final Duration PATIENCE = Duration.ofSeconds(1500);
  private static final Duration END_PATIENCE = Duration.ofSeconds(180);

  /**
   * On an emulated machine a JVM loads classes slowly from the host's files, and shares a
   * processor.
   */
  private static final boolean EMULATED = System.getProperty("crail.test.serverprocessor") != null;

  private static final long LOOK_MILLIS = EMULATED ? 3000 : 300;

  private final Path local;

  /** Spark's jars. */
  private final Path jars;

  /** Crail's two jars, as a class path. */
  private final String own;

  /** Prepares files in an empty directory. */
  TierJobs(Path local) throws IOException {
    this.local = local;
    jars = bring(Path.of(System.getProperty("crail.spark"), "jars").toAbsolutePath(), "");
    own =
        Stream.of("spark", "client")
            .map(directory -> layout().resolve(directory))
            .map(this::bringOwn)
            .collect(Collectors.joining(File.pathSeparator));
  }

  private static Path layout() {
    return Path.of(System.getProperty("crail.home"));
  }

  private String bringOwn(Path directory) {
    try {
      Path found = bring(directory, "crail-spark-");
      try (Stream<Path> files = Files.list(found)) {
        return files
            .filter(file -> file.getFileName().toString().startsWith("crail-spark-"))
            .findFirst()
            .orElseThrow()
            .toString();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The directory, or on an emulated machine a copy of some of its files. */
  private Path bring(Path directory, String prefix) throws IOException {
    if (!EMULATED) {
      return directory;
    }
    Path copies = Files.createDirectory(local.resolve(directory.getFileName()));
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (file.getFileName().toString().startsWith(prefix)) {
          Files.copy(file, copies.resolve(file.getFileName()));
        }
      }
    }
    return copies;
  }

  /** Runs the jobs, with one executor. Gives the most bytes that each class held meanwhile. */
  Map<Integer, Long> run(ProcessCluster cluster, Map<String, String> more) throws Exception {
    // Workers look for Spark there, and write there.
    Path home = Files.createDirectory(local.resolve("home"));
    Files.createSymbolicLink(home.resolve("jars"), jars);
    List<String> options = new ArrayList<>(SparkFlags.OPENED);
    options.add("-Xmx512m");
    options.add("-Djava.io.tmpdir=" + local);
    settings(cluster, more).forEach((key, value) -> options.add("-D" + key + "=" + value));
    Map<Integer, Long> most = new TreeMap<>();
    try (CrailProcess program =
        CrailProcess.foreign(
            own + File.pathSeparator + jars.resolve("*"),
            Map.of(
                "SPARK_HOME", home.toString(),
                "SPARK_SCALA_VERSION", "2.13",
                "SPARK_LOCAL_IP", "127.0.0.1"),
            options,
            "io.crail.jobs.JobsProgram",
            String.join(",", JOBS),
            String.valueOf(BYTES),
            "2")) {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (program.isAlive() && System.nanoTime() - deadline < 0) {
        used(cluster).forEach((storage, bytes) -> most.merge(storage, bytes, Math::max));
        Thread.sleep(LOOK_MILLIS);
      }
      assertEquals(
          0, program.awaitExit(Duration.ofSeconds(1)), () -> program.stdout() + program.stderr());
      assertEquals(
          JOBS.stream().map(job -> job + " is right").toList(),
          program.stdout().lines().filter(line -> line.endsWith(" is right")).toList());
    }
    Await.until(
        "all space is free again",
        END_PATIENCE,
        () -> used(cluster).values().stream().allMatch(bytes -> bytes == 0));
    return most;
  }

  private Map<String, String> settings(ProcessCluster cluster, Map<String, String> more)
      throws IOException {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("spark.master", "local-cluster[1,1,512]");
    all.put("spark.app.name", "tiers");
    all.put("spark.executor.memory", "512m");
    all.put("spark.executor.cores", "1");
    all.put("spark.executor.extraClassPath", own);
    all.put("spark.executor.extraLibraryPath", layout().resolve("lib/native").toString());
    all.put("spark.executor.extraJavaOptions", "-XX:+UseSerialGC -Djava.io.tmpdir=" + local);
    all.put("spark.local.dir", local.toString());
    all.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    all.put("spark.ui.enabled", "false");
    all.put("spark.log.level", "WARN");
    // On an emulated machine a JVM may pause for a minute.
    all.put("spark.network.timeout", "600s");
    all.put("spark.executor.heartbeatInterval", "60s");
    all.put("spark.worker.timeout", "600");
    all.put("spark.shuffle.manager", "io.crail.spark.CrailShuffleManager");
    all.put("spark.plugins", "io.crail.spark.CrailPlugin");
    cluster.configuration().texts().forEach((key, value) -> all.put("spark." + key, value));
    all.putAll(more);
    return all;
  }

  /** The bytes in use, by class. */
  private static Map<Integer, Long> used(ProcessCluster cluster) {
    Ran df = Ran.run(cluster.directory(), "df", "--bytes");
    assertEquals(0, df.code(), df::toString);
    Map<Integer, Long> used = new TreeMap<>();
    for (String line : df.stdout().lines().toList()) {
      String[] words = line.strip().split(" +");
      if (words.length == 6 && words[0].matches("\\d+")) {
        used.put(Integer.parseInt(words[0]), Long.parseLong(words[2]));
      }
    }
    return used;
  }
}
