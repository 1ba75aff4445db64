/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.bench.chart.Span;
import io.crail.bench.chart.TimeLine;
import io.crail.bench.record.OptionException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.lab.figures.Samples;
import io.crail.lab.figures.SideBySide;
import io.crail.lab.programs.Measurement;
import io.crail.lab.programs.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
  void allJobsRunInAllWaysByDefault() throws Exception {
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
  }

  @Test
  void sortsAndGroupsRunWithEachNumberOfProcessors() throws Exception {
    SparkOptions options = parse("--executors 4,1,2,4 --cores 2,1");
    List<String> names = options.cases().stream().map(options::name).toList();
    assertEquals(
        List.of(
            "terasort 1 x 1",
            "terasort 1 x 2",
            "terasort 2 x 1",
            "terasort 2 x 2",
            "terasort 4 x 1",
            "terasort 4 x 2",
            "groupby1"),
        names.subList(0, 7));
    assertEquals(
        List.of("groupby 4 x 2", "terasort-killed", "groupby-killed", "join", "broadcast"),
        names.subList(12, names.size()));
    assertTrue(options.cases().contains(new SparkCase(SparkTask.GROUPBY1, 1, 1)));
    assertTrue(options.cases().contains(new SparkCase(SparkTask.JOIN, 4, 2)));
    assertEquals(32, options.tasksOfAStage(), "as many for all");
    assertEquals(SparkTask.words(), parse("").cases().stream().map(parse("")::name).toList());
    for (String wrong : List.of("--executors 1,,2", "--executors 0", "--cores 1,x")) {
      assertThrows(OptionException.class, () -> parse(wrong), wrong);
    }
  }

  @Test
  void aDriverIsStartedThroughACommand() throws Exception {
    assertEquals(List.of(), parse("").through());
    String[] line = {"--through", " systemd-run --scope  -p MemoryMax=5G"};
    assertEquals(
        List.of("systemd-run", "--scope", "-p", "MemoryMax=5G"),
        SparkOptions.parse(line).through());
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
  void reportsAMissingSparkInOneSentence() {
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
  void theOutputOfAJobIsRead() throws Exception {
    JobOutput output =
        JobOutput.of(
            """
            seconds 1.5
            local-bytes 7
            ran-millis 10000 11500
            maps-again 3
            stage-4-flatMapToPair 10100 10600
            stage-4-flatMapToPair-attempt-2 11000 11250
            first-128B 5 6
            """);
    assertEquals(
        new JobOutput(
            1.5,
            7,
            10_000,
            11_500,
            3,
            List.of(
                new Span("4 flatMapToPair", 0.1, 0.6),
                new Span("4 flatMapToPair attempt 2", 1, 1.25)),
            Map.of("first-128B", List.of(5L, 6L))),
        output);
    assertThrows(
        IOException.class, () -> JobOutput.of("seconds 1.5\nlocal-bytes 7\nmaps-again 0\n"));
  }

  @Test
  void theLoadOfAJobIsCutOutOfAllSamples() {
    List<NamenodeLoad.Sample> samples = new ArrayList<>();
    // 50 creates and 150 lookups in each half second, but three times as many in the last one.
    for (int i = 0; i <= 8; i++) {
      long times = i == 8 ? 10 : i;
      samples.add(
          new NamenodeLoad.Sample(
              9_000 + 500 * i, Map.of("create", 50 * times, "lookup", 150 * times, "put", 9L)));
    }
    NamenodeLoad load = NamenodeLoad.of(samples, 10_100, 12_400);
    assertEquals(5 * 200, load.operations(), "from 10,000 to 12,500");
    assertEquals(400, load.most(), 1e-9);
    assertEquals(
        List.of("all", "lookup", "create"), load.lines().stream().map(TimeLine::name).toList());
    TimeLine creates = load.lines().get(2);
    // From nothing at the begin, in steps, to nothing at the last sample.
    assertArrayEquals(
        new double[] {0, 0, 0.4, 0.4, 0.9, 0.9, 1.4, 1.4, 1.9, 1.9, 2.4, 2.4},
        creates.seconds(),
        1e-9);
    assertArrayEquals(
        new double[] {0, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 0},
        creates.figures(),
        1e-9);
    assertEquals("4 x 1", load.allAs("4 x 1").get(0).name());
    assertEquals(1200, NamenodeLoad.of(samples, 10_100, 99_000).most(), 1e-9);
    assertEquals(0, NamenodeLoad.of(samples.subList(0, 1), 10_100, 12_400).operations());
    assertEquals(List.of(), NamenodeLoad.of(List.of(), 10_100, 12_400).allAs("none"));
  }

  @Test
  void theNamenodeIsAskedWhileAJobRuns() throws Exception {
    try (EmbeddedCrail crail = EmbeddedCrail.builder().start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      List<NamenodeLoad.Sample> samples;
      try (NamenodeWatch watch = NamenodeWatch.start(crail.configuration())) {
        for (int i = 0; i < 1000; i++) {
          store.lookup("/none").get();
        }
        samples = watch.end();
      }
      assertFalse(samples.isEmpty());
      samples.forEach(sample -> assertFalse(sample.counts().containsKey("dump")));
      try (NamenodeWatch watch = NamenodeWatch.start(crail.configuration())) {
        // The first sample is taken in any case.
        NamenodeLoad.Sample last = watch.end().get(0);
        assertTrue(last.count("lookup") >= 1000, last::toString);
        assertTrue(last.count("all") > last.count("lookup"), last::toString);
      }
    }
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
    SparkOptions options = parse("--executors 1,2");
    SparkFigures figures = new SparkFigures(options, new Samples());
    SparkCharts charts = new SparkCharts(options, figures);
    NamenodeLoad load =
        new NamenodeLoad(
            500, 1000, List.of(new TimeLine("all", new double[] {1}, new double[] {1000})));
    for (SparkCase one : options.cases()) {
      for (SparkWay way : SparkWay.values()) {
        if (one.task() == SparkTask.BROADCAST) {
          List<Long> first = List.of(1000L, 2000L, 3000L);
          figures.add(
              one, way, "", output(0, Map.of("first-128B", first, "cached-128B", List.of(10L))));
        } else {
          figures.add(one, way, "", output(way == SparkWay.CRAIL ? 0 : 4, Map.of()));
        }
      }
      figures.add(one, "", load);
      charts.add(one, load, List.of(new Span("7 map", 0, 1)));
    }
    String table = figures.table();
    assertTrue(table.contains("| join | s | 2.00 | 2.00 | 2.00 | 1.00 | 1.00 |\n"), table);
    assertTrue(table.contains("| join | MiB on local disk | 1.00 |"), table);
    assertTrue(table.contains("| join | namenode operations | | | 500 | | |\n"), table);
    assertTrue(table.contains("| terasort-killed | maps again | 4.00 | 4.00 | 0.00 |"), table);
    assertFalse(table.contains("| join | maps again"), table);
    assertTrue(table.contains("| broadcast 128 B, first read | us p50 | 2.00 |"), table);
    assertTrue(table.contains("| broadcast 128 B, cached read | us p90 | 0.01 |"), table);
    assertFalse(table.contains("8 MiB"), table);
    charts.write(directory, "Spark");
    assertDrawn("spark-jobs", "tmpfs", "join", "terasort-killed");
    assertDrawn("spark-terasort", "tmpfs", "1 x 1", "2 x 1");
    assertDrawn("spark-namenode-groupby", "1 x 1", "2 x 1");
    assertDrawn("spark-namenode-groupby-2x1", "all", "7 map", "Spark, groupby 2 x 1");
    assertDrawn("spark-namenode-join", "all", "7 map");
    assertDrawn("spark-broadcast-128B", "Crail, first read");
    assertFalse(Files.exists(directory.resolve("spark-broadcast-8MiB.svg")));
  }

  private static JobOutput output(long mapsAgain, Map<String, List<Long>> parts) {
    return new JobOutput(2, 1 << 20, 0, 2000, mapsAgain, List.of(), parts);
  }

  private void assertDrawn(String name, String... texts) throws IOException {
    String svg = Files.readString(directory.resolve(name + ".svg"));
    for (String text : texts) {
      assertTrue(svg.contains(">" + text + "<"), text + " in " + name);
    }
  }

  @Test
  void childrenOfAProgramEndWithIt() throws Exception {
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
