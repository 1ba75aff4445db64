/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The jars of a comparison.
 *
 * @param spark directory of Spark's jars
 * @param version of Spark
 * @param scala version of Scala for which Spark was compiled
 * @param client Crail's jar for Spark
 * @param jobs the jar of the jobs
 */
record SparkJars(Path spark, String version, String scala, Path client, Path jobs) {
  private static final Pattern CORE =
      Pattern.compile("spark-core_([0-9.]+)-([0-9.]+(-(?!tests)\\w+)?)\\.jar");
  private static final String PLUGIN = "io/crail/spark/CrailPlugin.class";

  /**
   * Finds them.
   *
   * @param home directory of Spark; null when there is none
   * @param layout directory of Crail
   * @throws IOException that says what is missing
   */
  static SparkJars find(String home, Path layout) throws IOException {
    if (home == null) {
      throw new IOException(
          "Spark is not here: set SPARK_HOME to a distribution of Spark 4.2, or to a directory with"
              + " its jars in jars/");
    }
    Path jars = Path.of(home, "jars");
    for (String name : Files.isDirectory(jars) ? names(jars) : List.<String>of()) {
      Matcher core = CORE.matcher(name);
      if (core.matches()) {
        return new SparkJars(
            jars.toAbsolutePath(),
            core.group(2),
            core.group(1),
            jar(layout.resolve("client"), "crail-spark-client-"),
            jar(layout.resolve("spark"), "crail-spark-jobs-"));
      }
    }
    throw new IOException("SPARK_HOME is " + home + ", which has no jars/spark-core_*.jar");
  }

  private static Path jar(Path directory, String prefix) throws IOException {
    for (String name : names(directory)) {
      if (name.startsWith(prefix)) {
        return directory.resolve(name).toAbsolutePath();
      }
    }
    throw new IOException("there is no " + prefix + "*.jar in " + directory);
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** Whether Crail's jar can keep broadcast values. */
  boolean haveBroadcast() throws IOException {
    try (JarFile jar = new JarFile(client.toFile())) {
      return jar.getEntry(PLUGIN) != null;
    }
  }
}
