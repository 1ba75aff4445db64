/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.bench.record.OptionException;
import io.crail.bench.report.Json;
import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Account;
import io.crail.lab.programs.Jvm;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Programs;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The options of a comparison, and its report. */
class CompareTest {
  @TempDir Path directory;

  private static CompareOptions parse(String line) throws OptionException {
    return CompareOptions.parse(line.isEmpty() ? new String[0] : line.split(" "));
  }

  private CompareSession comparison(Programs programs, String line) throws Exception {
    return new CompareSession(
        programs,
        new CompareSession.Surroundings("crail", List.of(), null),
        parse(line),
        directory,
        new PrintStream(OutputStream.nullOutputStream()));
  }

  @Test
  void everythingIsMeasuredThreeTimesByDefault() throws Exception {
    CompareOptions options = parse("");
    assertEquals(3, options.runs());
    assertEquals(Part.words(), List.copyOf(options.only()));
    CompareOptions some = parse("--runs 1 --only mapped,lookup --json /x --plots /y --out /z");
    assertEquals(1, some.runs());
    assertEquals(List.of("lookup", "mapped"), List.copyOf(some.only()), "the order is ours");
    assertEquals(Path.of("/x"), some.json());
    assertEquals(Path.of("/y"), some.plots());
    assertEquals(Path.of("/z"), some.out());
    assertFalse(some.times());
    assertEquals(20_000, options.cached());
    assertEquals(262_144, parse("--cached 262144").cached());
    assertEquals(1_000_000, options.children());
    assertEquals(10_000_000, parse("--children 10000000").children());
    assertNull(options.flash());
    String target = "tcp://10.0.0.7:4420/nqn.2026-11.org.example:a#1";
    assertEquals(target, parse("--flash " + target).flash());
    assertTrue(parse("--times").times());
  }

  @Test
  void partsBesideHdfsFollowEachOther() {
    String line =
        Arrays.stream(Part.values())
            .map(part -> part.isBesideHdfs() ? "h" : "-")
            .collect(Collectors.joining());
    assertTrue(line.matches("-*h+-*"), line);
  }

  @Test
  void reportsTimeByItsUse() {
    Account account = new Account();
    account.add("one", 1_500_000_000L);
    account.add("two", 2_000_000_000L);
    account.add("one", 1_000_000_000L);
    assertEquals(
        List.of("    2.5 s  2 x one", "    2.0 s  1 x two", "    0.5 s  all else"),
        account.close(5_000_000_000L));
    assertEquals(
        List.of("    0.0 s  all else"), account.close(0), "what was reported is forgotten");
    assertEquals(
        "iobench getFile",
        Account.kind(List.of("taskset", "-c", "0", "/x/crail", "iobench", "-t", "getFile")));
    assertEquals(
        "LoopbackEcho",
        Account.kind(List.of("/x/java", "-cp", "y", "io.crail.lab.limits.LoopbackEcho", "8")));
    assertEquals("redis-benchmark", Account.kind(List.of("redis-benchmark", "-t", "get")));
    assertEquals("java", Account.kind(List.of("/x/java", "-version")));
  }

  @Test
  void programsTellWhatTheyTook() throws Exception {
    try (Programs programs = new Programs(directory)) {
      programs.run(List.of("sh", "-c", "echo x"));
      programs.run(List.of("sh", "-c", "echo x"), line -> {});
      programs.startAndReadLine(List.of("sh", "-c", "echo port 7; exec sleep 60"));
      programs.stopLast();
      String text = String.join("\n", programs.account().close(0));
      assertTrue(text.contains(" 2 x sh"), text);
      assertTrue(text.contains(" 1 x start of sh"), text);
      assertTrue(text.contains(" 1 x end of servers"), text);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--runs 0, --runs 0: expected a whole number from 1 to 1000",
    "--runs x, --runs x: expected a whole number",
    "--files 10, --files 10: expected",
    "--children 10000001, --children 10000001: expected",
    "--cached 10, --cached 10: expected",
    "--flash /dev/nvme0n1, --flash /dev/nvme0n1: expected host:port/nqn",
    "--only lookup;redis, there is no section 'lookup;redis'",
    "--only ., there is no section '.'",
    "--run 1, run",
    "more, 'more' belongs to no option"
  })
  void aBadCommandLineIsNamed(String line, String message) {
    OptionException thrown = assertThrows(OptionException.class, () -> parse(line));
    assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
  }

  @Test
  void theHelpNamesEverySection() {
    for (Part part : Part.values()) {
      assertTrue(Compare.help().contains(part.word() + " "), part.word());
      assertTrue(Compare.help().contains(part.title()), part.title());
    }
    assertTrue(
        Arrays.stream(Compare.help().split("\n")).allMatch(line -> line.length() <= 100),
        Compare::help);
  }

  @Test
  void jsonHasAllKindsOfValues() {
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("text", "a \"b\" \\ \n");
    value.put("numbers", List.of(1, 2.5));
    value.put("none", null);
    value.put("nothing", Double.NaN);
    value.put("list", List.of(Map.of("yes", true)));
    value.put("empty", List.of());
    assertEquals(
        """
        {
          "text": "a \\"b\\" \\\\ \\u000a",
          "numbers": [1, 2.5],
          "none": null,
          "nothing": null,
          "list": [
            {
              "yes": true
            }
          ],
          "empty": []
        }
        """,
        Json.of(value));
  }

  @Test
  void figuresAndGoalsAreInTheJson() {
    Samples samples = new Samples();
    samples.add("thing", "us p50", "do it", 3);
    samples.add("limit", "us p50", "do less", 2);
    Goals goals = new Goals(samples);
    goals.add("thing", "limit", "us p50", 1.4);
    goals.add("thing", "limit", "us p50", 0);
    Map<String, Object> goal = goals.all().get(0).fields();
    assertEquals(1.5, goal.get("ratio"));
    assertEquals("at most 1.4", goal.get("goal"));
    assertEquals(false, goal.get("met"));
    assertFalse(goals.all().get(1).fields().containsKey("goal"), "nothing is demanded");
    assertEquals(List.of(3.0), samples.fields().get(0).get("values"));
    assertEquals("do it", samples.fields().get(0).get("command"));
  }

  @Test
  void chartsShowWhatWasMeasured() throws Exception {
    Section section =
        new Section(null, new Samples()) {
          @Override
          protected void run() {}

          @Override
          protected void compare() {}
        };
    Plot.Series series = Plot.Series.overSizes("TCP", new int[] {4, 1024}, "read %s");
    assertEquals(Map.of("4", "read 4 B", "1024", "read 1 KiB"), series.points());
    for (double value : new double[] {5, 6, 9}) {
      section.samples().add("read 4 B", "us p50", "x", value);
      section.samples().add("read 1 KiB", "us p50", "x", 2 * value);
    }
    section.plot(
        new Plot("lines", "Reads", "latency [us]", "us p50", Plot.Axis.SIZE, List.of(series)));
    section.plot(
        new Plot(
            "load",
            "Reads",
            "latency [us]",
            "us p50",
            Plot.Axis.LOAD,
            List.of(new Plot.Series("TCP", Map.of("1000", "read 4 B", "2000", "read 1 KiB")))));
    section.plot(
        new Plot("bars", "Reads", "latency [us]", "us p50", Plot.Axis.LABELS, List.of(series)));
    Plots.write(directory, section);
    String lines = Files.readString(directory.resolve("lines.svg"));
    assertTrue(lines.contains(">Reads<") && lines.contains(">TCP<"), lines);
    String load = Files.readString(directory.resolve("load.svg"));
    assertTrue(load.contains(">operations a second<") && load.contains(">TCP<"), load);
    String bars = Files.readString(directory.resolve("bars.svg"));
    assertTrue(bars.contains(">Reads<") && bars.contains(">12.0<"), bars);
    for (String file : new String[] {"lines.png", "load.png", "bars.png"}) {
      assertTrue(Files.size(directory.resolve(file)) > 1000, file);
    }
  }

  /** A section with one figure and a chart, which looks at something before it measures. */
  private static Section figure(CompareSession with, String name, Runnable first) {
    return new Section(with) {
      @Override
      protected void run() {
        first.run();
        samples.add(name, "/s", "do " + name, 1000);
      }

      @Override
      protected void compare() {
        plot(
            new Plot(
                name,
                name,
                "rate",
                "/s",
                Plot.Axis.LABELS,
                List.of(new Plot.Series(name, Map.of("all", name)))));
      }
    };
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A comparison whose Crail has a version and nothing else. */
  private Compare compare(
      Programs programs,
      CompareOptions options,
      Path own,
      Function<CompareSession, Map<Part, Section>> sections)
      throws Exception {
    Path launcher = directory.resolve("crail");
    Files.writeString(launcher, "#!/bin/sh\necho crail 0, of a test\n");
    assertTrue(launcher.toFile().setExecutable(true));
    PrintStream err = new PrintStream(OutputStream.nullOutputStream());
    CompareSession with =
        new CompareSession(
            programs,
            new CompareSession.Surroundings(launcher.toString(), List.of(), null),
            options,
            own,
            err);
    return new Compare(with, options, err, sections.apply(with)::get, 1);
  }

  @Test
  void whatWasMeasuredStaysWhenTheRunIsEnded() throws Exception {
    Path out = Files.writeString(directory.resolve("out.md"), "that of the last run");
    Path json = directory.resolve("all.json");
    Path plots = Files.createDirectory(directory.resolve("plots"));
    CompareOptions options =
        parse(
            "--runs 1 --only lookup,hdfs,random --out %s --json %s --plots %s"
                .formatted(out, json, plots));
    Path own = Files.createDirectory(directory.resolve("own"));
    List<String> reports = new ArrayList<>();
    Runnable look = () -> reports.add(read(out));
    Runnable end =
        () -> {
          look.run();
          throw new IllegalStateException("the run is ended");
        };
    try (Programs programs = new Programs(own)) {
      Compare compare =
          compare(
              programs,
              options,
              own,
              with ->
                  Map.of(
                      Part.LOOKUP,
                      figure(with, "first", look),
                      Part.HDFS,
                      figure(with, "second", look),
                      Part.RANDOM,
                      figure(with, "third", end)));
      assertThrows(IllegalStateException.class, () -> compare.measure("crail compare"));
    }
    assertEquals("that of the last run", reports.get(0));
    assertTrue(reports.get(1).contains("**Not measured yet: hdfs, random.**"), reports.get(1));
    assertTrue(reports.get(1).contains("| first | 1,000 /s |"), reports.get(1));
    assertFalse(reports.get(1).contains("second"), reports.get(1));
    assertEquals(reports.get(2), read(out), "as it was when the run was ended");
    assertTrue(reports.get(2).contains("**Not measured yet: random.**"), reports.get(2));
    assertTrue(reports.get(2).contains("| second | 1,000 /s |"), reports.get(2));
    assertTrue(
        read(json).replaceAll("\\s", "").contains("\"notMeasured\":[\"random\"]"), read(json));
    try (Stream<Path> files = Files.list(plots)) {
      assertEquals(
          List.of("first.png", "first.svg", "second.png", "second.svg"),
          files.map(file -> file.getFileName().toString()).sorted().toList());
    }
    try (Stream<Path> files = Files.list(directory)) {
      assertTrue(files.noneMatch(file -> file.getFileName().toString().startsWith(".")));
    }
  }

  /** A directory is missing in the first section, and there in the second one. */
  @Test
  void whatCouldNotBeWrittenIsWrittenLater() throws Exception {
    Path later = directory.resolve("later");
    CompareOptions options =
        parse("--runs 1 --only lookup,random --out %s/out.md --plots %s".formatted(later, later));
    Path own = Files.createDirectory(directory.resolve("own"));
    List<Boolean> wholes = new ArrayList<>();
    Compare[] compare = new Compare[1];
    Runnable make =
        () -> {
          wholes.add(compare[0].isWhole());
          assertTrue(later.toFile().mkdir());
        };
    try (Programs programs = new Programs(own)) {
      compare[0] =
          compare(
              programs,
              options,
              own,
              with ->
                  Map.of(
                      Part.LOOKUP,
                      figure(with, "first", () -> {}),
                      Part.RANDOM,
                      figure(with, "second", make)));
      compare[0].measure("crail compare");
    }
    assertEquals(List.of(false), wholes);
    assertTrue(compare[0].isWhole());
    try (Stream<Path> files = Files.list(later)) {
      assertEquals(
          List.of("first.png", "first.svg", "out.md", "second.png", "second.svg"),
          files.map(file -> file.getFileName().toString()).sorted().toList());
    }
  }

  @Test
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aPipeGetsTheReportOnce() throws Exception {
    assumeTrue(Programs.isInstalled("mkfifo"), "there is no mkfifo");
    Path pipe = directory.resolve("pipe");
    Path link = Files.createSymbolicLink(directory.resolve("link"), pipe);
    Path own = Files.createDirectory(directory.resolve("own"));
    ExecutorService reader = Executors.newSingleThreadExecutor();
    try (Programs programs = new Programs(own)) {
      programs.run(List.of("mkfifo", pipe.toString()));
      Compare compare =
          compare(
              programs,
              parse("--runs 1 --only lookup,random --out " + link),
              own,
              with ->
                  Map.of(
                      Part.LOOKUP,
                      figure(with, "first", () -> {}),
                      Part.RANDOM,
                      figure(with, "second", () -> {})));
      Future<String> text = reader.submit(() -> Files.readString(pipe));
      compare.measure("crail compare");
      assertTrue(compare.isWhole());
      String report = text.get(60, TimeUnit.SECONDS);
      assertTrue(report.contains("| second | 1,000 /s |"), report);
      assertFalse(report.contains("Not measured yet"), report);
    } finally {
      reader.shutdownNow();
    }
  }

  @Test
  void aLinkIsWrittenTo() throws Exception {
    Path target = directory.resolve("target");
    Path link = Files.createSymbolicLink(directory.resolve("link"), target);
    for (String text : List.of("to what is not there", "to what is there")) {
      WholeFile.write(link, file -> Files.writeString(file, text));
      assertTrue(Files.isSymbolicLink(link));
      assertEquals(text, Files.readString(target));
    }
    assertFalse(WholeFile.isStream(link));
    assertTrue(WholeFile.isStream(Path.of("/dev/null")));
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aFileThatIsWrittenAnewKeepsItsPermissions() throws Exception {
    Path usual = Files.createFile(directory.resolve("usual"));
    Path own = directory.resolve("own");
    WholeFile.write(own, file -> Files.writeString(file, "text"));
    assertEquals(Files.getPosixFilePermissions(usual), Files.getPosixFilePermissions(own));
    Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwx--x--x"));
    WholeFile.write(own, file -> Files.writeString(file, "more"));
    assertEquals("more", read(own));
    assertEquals("rwx--x--x", PosixFilePermissions.toString(Files.getPosixFilePermissions(own)));
    assertEquals(List.of("own", "usual"), files());
  }

  @Test
  void aFileThatCannotBeWrittenStays() throws Exception {
    Path out = Files.writeString(directory.resolve("out.md"), "that of the last run");
    WholeFile.Writer failing =
        file -> {
          Files.writeString(file, "half");
          throw new IOException("no space is left");
        };
    assertThrows(IOException.class, () -> WholeFile.write(out, failing));
    assertEquals("that of the last run", read(out));
    assertEquals(List.of("out.md"), files());
  }

  @Test
  void aFileThatNoOtherCanReplaceIsWrittenTo() throws Exception {
    Path out = Files.writeString(directory.resolve("out.md"), "that of the last run");
    WholeFile.write(
        out,
        file -> {
          if (file.equals(out)) {
            Files.writeString(file, "text");
          } else {
            // So it cannot be moved.
            Files.delete(file);
          }
        });
    assertEquals("text", read(out));
    assertEquals(List.of("out.md"), files());
  }

  @Test
  void missingProgramsAreNamed() {
    Map<CompareSession.Peer, String> lacks =
        new CompareSession.Surroundings("crail", List.of(), null).lacks();
    assertTrue(lacks.get(CompareSession.Peer.HDFS).contains("jars"), lacks::toString);
    assertFalse(
        new CompareSession.Surroundings("crail", List.of(), directory)
            .lacks()
            .containsKey(CompareSession.Peer.HDFS));
    assertTrue(Programs.isInstalled("sh"));
    assertFalse(Programs.isInstalled("no-such-program"));
  }

  @Test
  void aMissingTargetIsNamed() throws Exception {
    try (Programs programs = new Programs(directory)) {
      CompareSession without = comparison(programs, "");
      assertFalse(without.has(CompareSession.Peer.FLASH));
      assertTrue(without.lacks().get(CompareSession.Peer.FLASH).contains("--flash"));
    }
    Path other = Files.createDirectory(directory.resolve("other"));
    try (Programs programs = new Programs(other)) {
      CompareSession with =
          new CompareSession(
              programs,
              new CompareSession.Surroundings("crail", List.of(), null),
              parse("--flash 127.0.0.1:4420/nqn.2026-11.io.crail:a"),
              other,
              new PrintStream(OutputStream.nullOutputStream()));
      assertTrue(with.has(CompareSession.Peer.FLASH));
    }
  }

  @Test
  void aRateIsKeptOrNot() {
    String kept = "throughput 999.9 ops/s\nrate asked 1000 ops/s, achieved 999.9 ops/s\n";
    assertTrue(TiersSection.isKept(kept, 1000));
    assertFalse(TiersSection.isKept(kept, 1100));
    assertFalse(TiersSection.isKept(kept + "gave up 7 of 100 operations, after 3 s\n", 1000));
    assertThrows(IllegalArgumentException.class, () -> TiersSection.isKept("throughput 1\n", 1));
  }

  @Test
  void theNameOfAFigureSaysThatItsPaceWasNotKept() {
    assertEquals("", SpreadSection.ofPace(31_400, 32_000));
    assertEquals(", left out: 32,000/s were asked for", SpreadSection.ofPace(31_300, 32_000));
  }

  @Test
  void usedSpaceOfAClassIsThatOfDf() {
    String df =
        """
        class  capacity       used       free  waiting  largest
            0  201326592  201326592          0        0        0
            1  335544320  201392128  134152192        0  1048576
        12 nodes (files, directories, tables, key-values), 2 of 2 datanodes online
        """;
    assertEquals(201_326_592, TiersSection.usedBytes(df, 0));
    assertEquals(201_392_128, TiersSection.usedBytes(df, 1));
    assertThrows(IllegalArgumentException.class, () -> TiersSection.usedBytes(df, 2));
  }

  @Test
  void figuresOfSeveralSizesAreTakenApart() {
    String text = "readRandom, size 4,1024\nsize 4\np50 1\nsize 1024\np50 2\n";
    assertEquals("p50 1\n", Section.part(text, 4));
    assertEquals("p50 2\n", Section.part(text, 1024));
    assertThrows(IllegalArgumentException.class, () -> Section.part(text, 102));
  }

  @Test
  void copiesAreReadByTheirSize() throws Exception {
    try (Programs programs = new Programs(directory)) {
      String text =
          programs.run(
              CompareSession.java(
                  "io.crail.lab.limits.MemoryCopy", directory, 1 << 20, 4, "4096x8"));
      for (int size : new int[] {4, 4096}) {
        String line = MemoryCopies.line(text, size);
        assertTrue(Samples.number(line, "read") > 0, text);
        double plain = Samples.number(line, "plain");
        double fetched = Samples.number(line, "fetched");
        assertTrue(plain > 0 && fetched > 0, text);
        assertEquals(Math.max(plain, fetched), Samples.number(line, "write"), text);
        assertTrue(Samples.number(line, "random") > 0, text);
      }
      assertThrows(IllegalArgumentException.class, () -> MemoryCopies.line(text, 409));
      for (String figure : List.of("read", "write", "random")) {
        String only =
            programs.run(
                CompareSession.java("io.crail.lab.limits.MemoryCopy", directory, 4096, figure, 4));
        String shape =
            figure.equals("write") ? "write \\d+ plain \\d+ fetched \\d+" : figure + " [\\d.]+";
        assertTrue(only.strip().matches("piece 4 " + shape), only);
      }
    }
  }

  @Test
  void bareStreamsAreNamedByWhereTheirBytesLie() throws Exception {
    Samples samples = new Samples();
    try (Programs programs = new Programs(directory)) {
      CompareSession with = comparison(programs, "");
      BareStreams.measureBeside(
          with, samples, ", beside x", 1 << 20, 1 << 16, BareStreams.Way.values());
      assertEquals(1 << 20, Files.size(with.limitRegion()), "its memory stays");
      MemoryCopies.measure(with, samples, 1 << 20, 4096);
      MemoryCopies.measureRandom(with, samples, 1 << 20, 8192);
      MemoryCopies.measureBeside(with, samples, ", beside y", false, 1 << 20, 4096, 2);
      with.dropLimitRegion();
      assertFalse(Files.exists(with.limitRegion()));
    }
    for (BareStreams.Way way : BareStreams.Way.values()) {
      assertTrue(samples.median(BareStreams.name(way) + ", beside x", "MB/s") > 0, way.name());
    }
    assertTrue(samples.median(MemoryCopies.name(true, 4096), "MB/s") > 0);
    assertTrue(samples.median(MemoryCopies.random(8192), "us p50") > 0);
    assertTrue(samples.median(MemoryCopies.name(false, 4096) + ", beside y", "MB/s") > 0);
  }

  @Test
  void theClientOfRedisHasTheThreadsThatAreAskedFor() {
    assertEquals(
        "redis-benchmark -c 16 -P 1 -d 64 -n 100 -t get --csv",
        new Redis.Load("get", 0, 64, 16, 1, 100).shown());
    assertEquals(
        "redis-benchmark -c 16 -P 1 --threads 16 -d 64 -n 100 -t get --csv",
        new Redis.Load("get", 0, 64, 16, 1, 100, 16).shown());
  }

  @Test
  void programsHaveTheEnvironmentThatWasSetLast() throws Exception {
    try (Programs programs = new Programs(directory)) {
      programs.setEnvironment("CRAIL_TEST", "one");
      programs.setEnvironment("CRAIL_TEST", "two");
      assertEquals("two\n", programs.run(List.of("sh", "-c", "echo $CRAIL_TEST")));
    }
  }

  @Test
  void redisHoldsWhatIsMeasuredAndNothingElse() throws Exception {
    assumeTrue(Programs.isInstalled("redis-server"), "redis-server is not installed");
    try (Programs programs = new Programs(directory)) {
      Redis redis = Redis.start(programs, LabCluster.freePort());
      redis.fill(0, 16);
      long empty = redis.usedBytes();
      redis.fill(2000, 4096);
      long filled = redis.usedBytes() - empty;
      assertTrue(filled > 2000 * 4096 && filled < 2000 * 6000, "filled " + filled);
      // Fewer and shorter values. The earlier ones must be gone, which the fill checks.
      redis.fill(10, 4);
      long less = redis.usedBytes() - empty;
      assertTrue(less < 100_000, "left " + less);
    }
  }

  @Test
  void anotherJvmReportsItsMemory() throws Exception {
    int port = LabCluster.freePort();
    try (Programs programs = new Programs(directory)) {
      List<String> command = CompareSession.java("io.crail.lab.limits.LoopbackEcho");
      command.addAll(1, List.of(Jvm.options(port).split(" ")));
      command.addAll(List.of("server", "blocking", "8", "8"));
      assertTrue(programs.startAndReadLine(command).startsWith("port "));
      try (Jvm jvm = Jvm.connect(port)) {
        long used = jvm.usedHeapBytes();
        assertTrue(used > 0 && used < 1L << 30, "used " + used);
        Map<Long, Long> before = jvm.allocatedBytes();
        assertTrue(before.values().stream().mapToLong(each -> each).sum() > 0, before::toString);
        long between = Jvm.allocatedBetween(before, jvm.allocatedBytes());
        assertTrue(between < 10_000, "it does nothing, and to look does not count: " + between);
      }
    }
  }

  @Test
  void anEndedThreadMakesAllocationUnknown() throws Exception {
    Map<Long, Long> before = Map.of(1L, 100L, 2L, 50L);
    assertEquals(37, Jvm.allocatedBetween(before, Map.of(1L, 110L, 2L, 50L, 3L, 27L)));
    assertThrows(IOException.class, () -> Jvm.allocatedBetween(before, Map.of(1L, 900L)));
  }

  @Test
  void smallValuesAreThoseOfDf() {
    assertEquals(
        11_200, MemorySection.smallBytes("1 of 1\n11200 of small values at the namenodes\n"));
    assertEquals(0, MemorySection.smallBytes("1 of 1 datanodes online\n"));
  }

  @Test
  void eachRunBeginsWithAnotherFigure() throws Exception {
    List<String> taken = new ArrayList<>();
    try (Programs programs = new Programs(directory)) {
      CompareSession with = comparison(programs, "--runs 4");
      Section section =
          new Section(with) {
            @Override
            protected void run() throws IOException, InterruptedException {
              inTurn(() -> taken.add("a"), () -> taken.add("b"), () -> taken.add("c"));
              taken.add("-");
            }

            @Override
            protected void compare() {}
          };
      section.measure();
    }
    assertEquals("abc-bca-cab-abc-", String.join("", taken));
  }

  @Test
  void theLastExperimentIsTakenApart() {
    String text =
        "x\nexperiment 0\nthroughput 1 ops/s\nexperiment 1\nthroughput 2 ops/s\n"
            + "summary of 2 experiments\nthroughput ops/s: median 1.5\n";
    assertEquals("experiment 1\nthroughput 2 ops/s\n", Section.lastExperiment(text));
    assertThrows(IllegalArgumentException.class, () -> Section.lastExperiment("throughput 1\n"));
  }

  @Test
  void unwritableFilesAreNamedBeforeTheMeasurement() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    for (String option : new String[] {"--out", "--json"}) {
      for (Path wrong : new Path[] {directory, directory.resolve("none/x"), file.resolve("x")}) {
        OptionException thrown =
            assertThrows(
                OptionException.class,
                () -> parse(option + " " + wrong).checkFiles(),
                wrong::toString);
        assertTrue(thrown.getMessage().startsWith(option + ": " + wrong), thrown.getMessage());
      }
      parse(option + " " + file).checkFiles();
      parse(option + " " + directory.resolve("new")).checkFiles();
    }
    assertEquals(0, Files.size(file), "it is only looked at");
    assertThrows(OptionException.class, () -> parse("--out x --json x"));
    // The launcher is not even looked for.
    assertThrows(
        OptionException.class,
        () ->
            Compare.run(
                new String[] {"--json", directory.toString()},
                null,
                List.of(),
                null,
                System.out,
                System.err));
  }
}
