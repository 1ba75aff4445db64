/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.record.OptionException;
import io.crail.lab.figures.Samples;
import io.crail.lab.figures.SideBySide;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The options of a comparison under Spark, what it finds, and its report. */
class SparkTest {
  @TempDir Path directory;

  private static SparkOptions parse(String line) throws OptionException {
    return SparkOptions.parse(line.isEmpty() ? new String[0] : line.split(" "));
  }

  @Test
  void allJobsRunInAllWaysUnlessSaidOtherwise() throws Exception {
    SparkOptions options = parse("");
    assertEquals(3, options.runs());
    assertEquals(List.of(SparkTask.values()), options.tasks());
    assertEquals(List.of(SparkWay.values()), options.chosenWays());
    assertEquals(8, options.tasksOfAStage(), "four for each core");
    SparkOptions some =
        parse("--only join,terasort --ways crail,disk --size 1g --executors 3 --cores 2 --runs 1");
    assertEquals(List.of(SparkTask.TERASORT, SparkTask.JOIN), some.tasks());
    assertEquals(List.of(SparkWay.DISK, SparkWay.CRAIL), some.chosenWays());
    assertEquals(1L << 30, some.bytes());
    assertEquals(32, some.tasksOfAStage(), "one for 32 MiB");
    assertEquals(1, SparkTask.GROUPBY1.executors(3) * SparkTask.GROUPBY1.cores(2));
    assertEquals(6, SparkTask.GROUPBY.executors(3) * SparkTask.GROUPBY.cores(2));
  }

  @Test
  void theHelpNamesEveryJobAndEveryWay() {
    for (SparkTask task : SparkTask.values()) {
      assertTrue(SparkCompare.help().contains(task.word() + " "), task.word());
    }
    assertTrue(SparkCompare.help().contains(String.join(",", SparkWay.words())));
    assertTrue(
        Arrays.stream(SparkCompare.help().split("\n")).allMatch(line -> line.length() <= 100),
        SparkCompare::help);
  }

  private static void jar(Path file, String... entries) throws IOException {
    Files.createDirectories(file.getParent());
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file))) {
      for (String entry : entries) {
        jar.putNextEntry(new ZipEntry(entry));
      }
    }
  }

  @Test
  void theJarsAreFoundByTheirNames() throws Exception {
    Path home = directory.resolve("home");
    Path layout = directory.resolve("layout");
    jar(home.resolve("jars/spark-core_2.13-4.2.0-tests.jar"));
    jar(home.resolve("jars/spark-core_2.13-4.2.0.jar"));
    jar(layout.resolve("spark/crail-spark-jobs-1.jar"));
    jar(layout.resolve("client/crail-spark-client-1.jar"), "io/crail/spark/Other.class");
    SparkJars jars = SparkJars.find(home.toString(), layout);
    assertEquals("4.2.0", jars.version());
    assertEquals("2.13", jars.scala());
    assertEquals(layout.resolve("client/crail-spark-client-1.jar"), jars.client());
    assertEquals(layout.resolve("spark/crail-spark-jobs-1.jar"), jars.jobs());
    assertFalse(jars.haveBroadcast());
    jar(jars.client(), "io/crail/spark/CrailPlugin.class");
    assertTrue(jars.haveBroadcast());
  }

  @Test
  void whereSparkShouldBeIsSaidInOneSentence() {
    IOException none =
        assertThrows(IOException.class, () -> SparkJars.find(null, directory.resolve("layout")));
    assertEquals(
        "Spark is not here: set SPARK_HOME to a distribution of Spark 4.2, or to a directory with"
            + " its jars in jars/",
        none.getMessage());
    IOException empty =
        assertThrows(IOException.class, () -> SparkJars.find(directory.toString(), directory));
    assertTrue(empty.getMessage().contains("no jars/spark-core_*.jar"), empty.getMessage());
  }

  @Test
  void whatAJobPrintsIsRead() throws Exception {
    JobOutput output = JobOutput.of("seconds 1.5\nlocal-bytes 7\nfirst-128B 5 6\n");
    assertEquals(new JobOutput(1.5, 7, Map.of("first-128B", List.of(5L, 6L))), output);
    assertThrows(IOException.class, () -> JobOutput.of("seconds 1.5\n"));
  }

  @Test
  void waysStandBesideEachOther() {
    Samples samples = new Samples();
    for (double value : new double[] {10, 12, 11}) {
      samples.add("sort, disk", "s", "", value);
      samples.add("sort, Crail", "s", "", value / 2);
      samples.add("bytes, disk", "MiB", "", 3);
      samples.add("bytes, Crail", "MiB", "", 0);
    }
    samples.add("failed, disk", "s", "", 1);
    SideBySide table = new SideBySide(samples, List.of("disk", "Crail"));
    table.add("sort", "s");
    table.add("bytes", "MiB");
    table.add("failed", "s");
    table.add("nowhere", "s");
    assertEquals(
        """
        | figure | unit | disk | Crail | Crail / disk |
        |---|---|---|---|---|
        | sort | s | 11.0 (10.0 - 12.0) | 5.50 (5.00 - 6.00) | 0.50 (0.50 - 0.50) |
        | bytes | MiB | 3.00 (3.00 - 3.00) | 0.00 (0.00 - 0.00) | 0.00 (0.00 - 0.00) |
        | failed | s | 1.00 | | |
        """,
        table.table());
  }

  @Test
  void jobsAndBroadcastsAreDrawn() throws Exception {
    SparkFigures figures =
        new SparkFigures(List.of(SparkTask.values()), List.of(SparkWay.values()), new Samples());
    for (SparkWay way : SparkWay.values()) {
      figures.add(SparkTask.JOIN, way, "", new JobOutput(2, 1 << 20, Map.of()));
      figures.add(
          SparkTask.BROADCAST,
          way,
          "",
          new JobOutput(
              1,
              0,
              Map.of(
                  "first-128B", List.of(1000L, 2000L, 3000L), "cached-128B", List.of(10L, 20L))));
    }
    String table = figures.table();
    assertTrue(table.contains("| join | s | 2.00 | 2.00 | 2.00 | 1.00 | 1.00 |\n"), table);
    assertTrue(table.contains("| join | MiB on local disk | 1.00 |"), table);
    assertTrue(table.contains("| broadcast 128 B, first read | us p50 | 2.00 |"), table);
    assertFalse(table.contains("8 MiB"), table);
    figures.plot(directory, "Spark");
    String jobs = Files.readString(directory.resolve("spark-jobs.svg"));
    assertTrue(jobs.contains(">tmpfs<") && jobs.contains(">join<"), jobs);
    String reads = Files.readString(directory.resolve("spark-broadcast-128B.svg"));
    assertTrue(reads.contains(">Crail, first read<"), reads);
    assertFalse(Files.exists(directory.resolve("spark-broadcast-8MiB.svg")));
  }

  @Test
  void whatAProgramHasStartedEndsWithIt() throws Exception {
    try (Programs programs = new Programs(directory)) {
      String pid = programs.startAndReadLine(List.of("bash", "-c", "sleep 600 & echo $!; wait"));
      ProcessHandle started = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
      programs.stopLast();
      assertFalse(started.isAlive());
    }
  }

  @Test
  void aDirectoryIsDeletedWithAllThatIsInIt() throws Exception {
    Path kept = Files.createDirectory(directory.resolve("kept"));
    Files.createFile(kept.resolve("file"));
    Path deleted = Files.createDirectories(directory.resolve("deleted/inner")).getParent();
    Files.createFile(deleted.resolve("inner/file"));
    Files.createSymbolicLink(deleted.resolve("link"), kept);
    Measurement.deleteAll(deleted);
    Measurement.deleteAll(deleted);
    assertFalse(Files.exists(deleted));
    assertTrue(Files.exists(kept.resolve("file")), "a link is deleted, not what it leads to");
  }
}
