/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code crail spark} with the Spark that {@code -Dcrail.spark=} names. */
@Tag("once")
@EnabledIfSystemProperty(
    named = "crail.spark",
    matches = ".+",
    disabledReason = "Spark is fetched for the long tests alone")
class SparkCompareSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(600);

  @TempDir private Path directory;

  @BeforeAll
  static void find() {
    Assumptions.assumeTrue(
        System.getProperty("crail.home") != null, "the jars are in the layout of -Dcrail.home=");
  }

  /** Starts the command; it makes its temporary files in the given directory. */
  private CrailProcess start(Path temporary, String... options) throws IOException {
    List<String> through =
        List.of(
            "env",
            "SPARK_HOME=" + Path.of(System.getProperty("crail.spark")).toAbsolutePath(),
            "SPARK_LOCAL_DIRS=/nonexistent",
            "CRAIL_CLIENT_OPTS=-Djava.io.tmpdir=" + temporary);
    List<String> arguments = new ArrayList<>(List.of("spark"));
    arguments.addAll(List.of(options));
    return CrailProcess.crail(through, directory, arguments.toArray(new String[0]));
  }

  private static List<Path> files(Path parent) throws IOException {
    try (Stream<Path> files = Files.list(parent)) {
      return files.sorted().toList();
    }
  }

  /** The directories in memory of all measurements. */
  private static TreeSet<String> inMemory() throws IOException {
    return files(Path.of("/dev/shm")).stream()
        .map(file -> file.getFileName().toString())
        .filter(name -> name.startsWith("crail-measure"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static long executors(ProcessHandle process) {
    return process.descendants().filter(SparkCompareSystemTest::isExecutor).count();
  }

  private static boolean isExecutor(ProcessHandle process) {
    try {
      // The arguments are too long for what a handle returns.
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"))
          .contains("CoarseGrainedExecutorBackend");
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void jobsRunInEachWayAndAreCompared() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("temporary"));
    Path out = directory.resolve("out.md");
    Path plots = directory.resolve("plots");
    try (CrailProcess spark =
        start(
            temporary,
            ("--size 1m --runs 1 --memory 512 --only terasort,terasort-killed,broadcast --out "
                    + out)
                .concat(" --plots " + plots)
                .split(" "))) {
      assertEquals(0, spark.awaitExit(PATIENCE), () -> spark.stdout() + spark.stderr());
      String text = spark.stdout();
      assertTrue(text.contains("| figure | unit | disk | tmpfs | Crail | Crail / disk |"), text);
      for (String figure :
          List.of(
              "terasort [|] s",
              "broadcast [|] s",
              "broadcast 128 B, first read [|] us p50",
              "broadcast 128 B, cached read [|] us p99",
              "broadcast 8 MiB, make [|] us p50",
              "broadcast 8 MiB, first read [|] us p99")) {
        assertTrue(
            text.lines().anyMatch(line -> line.matches("[|] " + figure + "( [|] [0-9.,]+){5} [|]")),
            figure + " in " + text);
      }
      // The maps of the dead executor are lost, or not.
      assertTrue(
          text.lines()
              .anyMatch(
                  line -> line.matches("[|] terasort-killed [|] maps again [|] .* 0[.]00 [|].*")),
          text);
      assertTrue(
          text.lines()
              .anyMatch(line -> line.matches("[|] terasort [|] namenode operations [|] .*[0-9].*")),
          text);
      assertEquals(text, Files.readString(out));
      assertEquals(
          List.of(
              "spark-broadcast-128B.svg",
              "spark-broadcast-8MiB.svg",
              "spark-jobs.svg",
              "spark-namenode-terasort-killed.svg",
              "spark-namenode-terasort.svg"),
          files(plots).stream().map(file -> file.getFileName().toString()).toList());
      assertTrue(spark.stderr().contains("run 1 of 1, terasort"), spark.stderr());
    }
    assertEquals(List.of(), files(temporary));
  }

  @Test
  void anEndedRunLeavesNoProcessAndNoFile() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("temporary"));
    TreeSet<String> before = inMemory();
    List<ProcessHandle> started;
    try (CrailProcess spark =
        start(temporary, "--size", "1g", "--memory", "512", "--only", "terasort")) {
      ProcessHandle process = ProcessHandle.of(spark.pid()).orElseThrow();
      Await.until("two executors", PATIENCE, () -> executors(process) == 2);
      started = process.descendants().toList();
      spark.terminate();
      assertEquals(143, spark.awaitExit(PATIENCE), () -> spark.stdout() + spark.stderr());
    }
    for (ProcessHandle each : started) {
      Await.until("end of " + each.info(), Duration.ofSeconds(30), () -> !each.isAlive());
    }
    assertEquals(List.of(), files(temporary));
    assertEquals(before, inMemory());
  }
}
