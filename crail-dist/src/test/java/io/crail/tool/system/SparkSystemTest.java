/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.lab.spark.SparkFlags;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests an unmodified Spark on {@code crail://}, with the single jar, as users add it. {@code
 * ci/spark} makes the directory that {@code -Dcrail.spark=} names.
 */
@EnabledIfSystemProperty(
    named = "crail.spark",
    matches = ".+",
    disabledReason = "Spark is fetched for the long tests alone")
class SparkSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(300);

  private static Path spark;
  private static Path jar;
  private static ProcessCluster cluster;

  @TempDir private Path local;

  @BeforeAll
  static void start() throws Exception {
    String home = System.getProperty("crail.home");
    Assumptions.assumeTrue(home != null, "the jar is made with the layout of -Dcrail.home=");
    spark = Path.of(System.getProperty("crail.spark"));
    try (Stream<Path> jars = Files.list(Path.of(home, "client"))) {
      jar =
          jars.filter(file -> file.getFileName().toString().startsWith("crail-hadoop-client-"))
              .findFirst()
              .orElseThrow();
    }
    cluster = ProcessCluster.start(1, 2, Map.of());
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void worksInOneProcess() throws Exception {
    worksOn("local[2]", "/local");
  }

  @Test
  void worksWithAnExecutorThatIsAProcess() throws Exception {
    worksOn("local-cluster[1,1,1024]", "/executor");
    try (Stream<Path> files = Files.walk(local.resolve("home/work"))) {
      assertTrue(files.anyMatch(file -> file.endsWith(jar.getFileName())), "no executor got it");
    }
  }

  private void worksOn(String master, String directory) throws Exception {
    // Workers look for Spark there, and write there.
    Path home = Files.createDirectory(local.resolve("home"));
    Files.createSymbolicLink(home.resolve("jars"), spark.resolve("jars").toAbsolutePath());
    String root = "crail://127.0.0.1:" + cluster.namenodeAddress(0).getPort();
    List<String> options = new ArrayList<>(SparkFlags.OPENED);
    options.add("-Xmx1g");
    Map<String, String> environment =
        Map.of(
            "SPARK_HOME",
            home.toString(),
            "SPARK_SCALA_VERSION",
            "2.13",
            "SPARK_LOCAL_IP",
            "127.0.0.1",
            "CRAIL_CONF_DIR",
            cluster.directory().toString());
    try (CrailProcess program =
        CrailProcess.foreign(
            spark + "/jars/*",
            environment,
            options,
            "org.apache.spark.deploy.SparkSubmit",
            "--master",
            master,
            "--jars",
            jar.toString(),
            "--conf",
            "spark.hadoop.fs.crail.impl=io.crail.hadoop.CrailFileSystem",
            "--conf",
            "spark.hadoop.fs.AbstractFileSystem.crail.impl="
                + "io.crail.hadoop.CrailAbstractFileSystem",
            "--conf",
            "spark.ui.enabled=false",
            "--conf",
            "spark.sql.shuffle.partitions=2",
            "--conf",
            "spark.local.dir=" + local,
            "--conf",
            "spark.sql.warehouse.dir=" + local.resolve("warehouse"),
            "--class",
            "SparkProgram",
            spark.resolve("program.jar").toString(),
            root + directory)) {
      assertEquals(0, program.awaitExit(PATIENCE), () -> program.stdout() + program.stderr());
      String ours = "CrailFileSystem in " + jar.getFileName() + " by MutableURLClassLoader";
      List<String> said = program.stdout().lines().toList();
      assertEquals(
          List.of(
              "words: [(be,2), (not,1), (or,1), (to,2)]",
              "appended: 100010",
              "same rows: true",
              "third: 0 33334 1666683333",
              "third: 1 33333 1666616667",
              "third: 2 33333 1666650000",
              "row: row 77777",
              "words: [_SUCCESS, part-00000, part-00001, part-00002]",
              "table: [_SUCCESS, third=0, third=1, third=2]",
              "FileContext: true",
              "deleted: true, there: false",
              "task: " + ours,
              "driver: " + ours),
          said.subList(0, Math.min(13, said.size())));
      assertTrue(said.get(13).startsWith("driver: FileSystem in hadoop-client-api-3.5"), said + "");
      assertTrue(said.get(14).startsWith("driver: Unpooled in netty-buffer-4.2."), said + "");
    }
  }
}
