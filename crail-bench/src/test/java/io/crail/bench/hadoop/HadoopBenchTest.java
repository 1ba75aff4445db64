/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.bench.BenchOutput;
import io.crail.bench.options.LoadType;
import io.crail.bench.run.BenchContext;
import io.crail.bench.run.BenchRunner;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Every type through Hadoop's interface, on a cluster within this process. */
@Tag("once")
class HadoopBenchTest {
  private static final BenchContext.ConfigurationSource NEVER =
      () -> {
        throw new AssertionError("asked for a cluster");
      };

  private static EmbeddedCrail cluster;
  private static CrailStore store;

  private final BenchOutput output = new BenchOutput();

  @BeforeAll
  static void start() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      store.close();
      cluster.close();
    }
  }

  private int run(String line, boolean embedded) {
    return HadoopBench.run(
        line.split(" "), Map.of(), NEVER, output.context(() -> cluster.configuration(), embedded));
  }

  private int runElsewhere(String line) {
    return HadoopBench.run(
        line.split(" "), Map.of(), Configuration::defaults, output.context(NEVER, true));
  }

  private static CrailNode node(String path) throws Exception {
    return store.lookup(path).get();
  }

  @ParameterizedTest
  @CsvSource({
    "-t writeSequentialHeap -s 5000 -k 40 -w 2, 40, 5000",
    "-t WRITEsequentialHEAP -s 1 -k 100 -w 0 --touch false, 100, 1",
    "-t readSequentialHeap -s 5000 -k 40, 40, 5000",
    "-t readSequentialDirect -s 64k -k 20, 20, 65536",
    "-t readsequentialdirect -s 3 -k 7 -w 0 --touch false, 7, 3",
    "-t readRandomHeap -s 1000 -k 50 --seed 3, 50, 1000",
    "-t readRandomDirect -s 4 -k 50, 50, 4",
    "-t keyGet -s 64 -k 30, 30, 64",
    "-t KEYGET -s 1 -k 30 -w 0, 30, 1",
    "-t getFile -k 50, 50, 0"
  })
  void everyTypeOfOneFileCountsRight(String line, long operations, long size) throws Exception {
    String path = "/one-" + Math.abs(line.hashCode()) + ".dat";
    assertEquals(BenchRunner.OK, run(line + " -f " + path, true), output::errors);
    output.assertPlausible(operations, operations * size);
    assertEquals(CrailNodeType.DATAFILE, node(path).getType(), "the file stays");
    assertEquals(null, node(path + ".warmup"), "the warm-up's file does not");
    if (line.contains("rite")) {
      assertEquals(operations * size, node(path).getCapacity());
    }
  }

  @ParameterizedTest
  @EnumSource(HadoopType.class)
  void everyTypeHasSeveralWorkersAndARate(HadoopType type) throws Exception {
    String path = "/several-" + type.label();
    String line = "-t " + type.label() + " -s 4k -k 12 -n 20 -w 2 --threads 3 -f " + path;
    assertEquals(BenchRunner.OK, run(line + " --rate 20000", true), output::errors);
    output.assertPlausible(36, type.usesSize() ? 36 * 4096 : 0);
    assertTrue(output.text().contains("rate asked 20000 ops/s"), output.text());
    assertEquals(null, node(path + ".1"), "what others than the first have made");
  }

  @Test
  void workersOfSeveralProcessesMeasureTogether() throws Exception {
    String line = "-t writeSequentialHeap -s 1000 -k 20 --threads 2 --clients 2 -f /together.dat";
    assertEquals(BenchRunner.OK, run(line, true), output::errors);
    output.assertPlausible(80, 80_000);
    assertEquals(20_000, node("/together.dat").getCapacity());
    assertEquals(null, node("/together.dat.3"), "the files of the others are removed");
    output.forget();
    line = "-t readRandomHeap -s 100 -k 20 --threads 2 --rate 1000 -f /together.dat";
    assertEquals(BenchRunner.OK, run(line, true), output::errors);
    output.assertPlausible(40, 4000);
    assertTrue(output.text().contains("rate asked 1000 ops/s"), output.text());
  }

  @Test
  void createFileLeavesNothingBehind() throws Exception {
    assertEquals(
        BenchRunner.OK, run("-t createFile -k 100 -w 5 -f /created", false), output::errors);
    output.assertPlausible(100, 0);
    assertEquals(null, node("/created"));
    store
        .create(
            "/kept",
            CrailNodeType.DIRECTORY,
            CrailStorageClass.PARENT,
            CrailLocationClass.PARENT,
            true)
        .get()
        .syncDir();
    assertEquals(BenchRunner.OK, run("-t createFile -k 3 -f /kept", false), output::errors);
    assertFalse(node("/kept").asDirectory().listEntries().hasNext());
  }

  @ParameterizedTest
  @CsvSource({"getMultiFile", "enumerateDir", "browseDir"})
  void listedFilesAreCreatedOnceAndStay(String type) throws Exception {
    String line = "-t " + type + " -n 70 -k 200 -w 3 -f /listed-" + type;
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    output.assertPlausible(200, 0);
    assertTrue(output.errors().contains("creating 70 missing files"), output.errors());
    assertEquals(CrailNodeType.DATAFILE, node("/listed-" + type + "/f00000069").getType());
    store.delete("/listed-" + type + "/f00000007", false).get();
    output.forget();
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    assertTrue(output.errors().contains("creating 1 missing files"), output.errors());
  }

  @Test
  void newNodesBelongToHadoopsUserUnlessAKeyNamesOne() throws Exception {
    Configuration site =
        cluster.configuration().toBuilder().set("crail.user", "root-owner", "the test").build();
    Map<String, String> named = Map.of("crail.user", "named");
    for (Map<String, String> keys : List.of(Map.<String, String>of(), named)) {
      String path = "/whose" + keys.size();
      String[] line = ("-t writeSequentialHeap -s 1 -k 1 -w 0 --touch false -f " + path).split(" ");
      assertEquals(
          BenchRunner.OK,
          HadoopBench.run(line, keys, NEVER, output.context(() -> site, false)),
          output::errors);
      assertEquals(
          keys.getOrDefault("crail.user", System.getProperty("user.name")),
          node(path).getAttributes().owner());
    }
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void experimentsAreRepeatedAndSummedUp(boolean keepOpen) {
    String line = "-t writeSequentialHeap -s 1000 -k 20 -e 3 -f /repeated.dat -o " + keepOpen;
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    assertEquals(
        List.of(20.0, 20.0, 20.0, 60.0), output.lines("ops ").stream().map(a -> a[0]).toList());
    assertTrue(output.text().contains("summary of 3 experiments"), output.text());
  }

  @Test
  void argumentsOfApacheCrailAreUnderstood() throws Exception {
    assertEquals(
        BenchRunner.OK, run("writeSequentialHeap 1000 20 /apache.dat", false), output::errors);
    output.assertPlausible(20, 20_000);
    output.forget();
    assertEquals(BenchRunner.USAGE, run("nothing 1000 20 /apache.dat", false));
    assertTrue(output.errors().contains("'nothing'"), output.errors());
  }

  @Test
  void aUriNamesItsOwnCluster() throws Exception {
    String uri = cluster.configuration().texts().get("crail.namenode.address") + "/named.dat";
    assertEquals(
        BenchRunner.OK,
        runElsewhere("-t writeSequentialHeap -s 10 -k 2 -f " + uri),
        output::errors);
    assertEquals(20, node("/named.dat").getCapacity());
  }

  @Test
  void anyOtherFileSystemIsMeasuredToo(@TempDir Path directory) throws Exception {
    String file = " -s 1000 -k 20 -f " + directory.resolve("local.dat").toUri();
    assertEquals(BenchRunner.OK, runElsewhere("-t writeSequentialHeap" + file), output::errors);
    assertEquals(20_000, Files.size(directory.resolve("local.dat")));
    for (String type : List.of("readSequentialHeap", "readRandomHeap", "keyGet", "getFile")) {
      output.forget();
      assertEquals(BenchRunner.OK, runElsewhere("-t " + type + file), output::errors);
      output.assertPlausible(20, type.equals("getFile") ? 0 : 20_000);
    }
    assertEquals(BenchRunner.FAILED, runElsewhere("-t readSequentialDirect" + file));
    assertTrue(output.errors().contains("take a type of the heap"), output.errors());
  }

  @Test
  void keysOfHadoopAreGivenAndShown(@TempDir Path directory) {
    String line = "-t createFile -k 2 -f " + directory.resolve("created").toUri();
    int code =
        HadoopBench.run(
            line.split(" "),
            Map.of("fs.file.impl", "none.Such"),
            Configuration::defaults,
            output.context(NEVER, false));
    assertEquals(BenchRunner.FAILED, code);
    assertTrue(output.text().contains("fs.file.impl=none.Such"), output.text());
    assertTrue(output.errors().contains("none.Such"), output.errors());
  }

  @Test
  void namesAnUnknownScheme() {
    assertEquals(BenchRunner.FAILED, runElsewhere("-t getFile -f nobody://host/x"));
    assertTrue(output.errors().contains("\"nobody\""), output.errors());
  }

  @Test
  void missingAndShortFilesAreExplained() throws Exception {
    for (String type :
        List.of("readSequentialHeap", "readSequentialDirect", "readRandomHeap", "keyGet")) {
      output.forget();
      assertEquals(BenchRunner.FAILED, run("-t " + type + " -s 512 -f /missing.dat", false));
      assertTrue(
          output.errors().contains("/missing.dat does not exist; write it first"), output.errors());
      assertTrue(
          output.errors().contains("crail hdfsbench -t writeSequentialHeap"), output.errors());
    }
    assertEquals(null, node("/missing.dat"), "nothing was written");
    assertEquals(
        BenchRunner.OK, run("-t writeSequentialHeap -s 100 -f /short.dat", false), output::errors);
    assertEquals(BenchRunner.FAILED, run("-t keyGet -s 101 -f /short.dat", false));
    assertTrue(output.errors().contains("/short.dat has 100 bytes, fewer than"), output.errors());
    assertEquals(BenchRunner.FAILED, run("-t enumerateDir -f /short.dat", false));
    assertTrue(output.errors().contains("needs a directory"), output.errors());
    assertEquals(BenchRunner.FAILED, run("-t keyGet -s 1 -f /", false));
    assertTrue(output.errors().contains("needs a file"), output.errors());
  }

  @ParameterizedTest
  @EnumSource(HadoopType.class)
  void everyTypeIsFoundInAnyLetterCaseAndItsExampleParses(HadoopType type) throws Exception {
    List<HadoopType> types = List.of(HadoopType.values());
    assertEquals(type, LoadType.find(types, type.label().toUpperCase(Locale.ROOT)).orElseThrow());
    assertEquals(
        type, HadoopBench.SYNTAX.parse(type.text().example().split(" ")).orElseThrow().type());
    assertTrue(HadoopBench.help().contains("crail hdfsbench " + type.text().example()));
  }

  @ParameterizedTest
  @CsvSource({
    "-k 3, -t",
    "-t wrote, wrote",
    "-t getFile -k 0, -k 0",
    "-t getFile -s 2g, -s 2g",
    "-t getFile -f relative, relative",
    "-t getFile -f hdfs://[::1/x, hdfs://[::1/x",
    "-t getFile -b 3, -b",
    "-t getFile -m false, -m",
    "-t getFile extra, extra"
  })
  void badLinesNameWhatIsWrongAndStartNoCluster(String line, String named) {
    assertEquals(
        BenchRunner.USAGE,
        HadoopBench.run(line.split(" "), Map.of(), NEVER, output.context(NEVER, false)));
    assertTrue(output.errors().contains(named), output.errors());
    assertTrue(output.errors().contains("crail hdfsbench --help"), output.errors());
  }

  @Test
  void helpNeedsNoCluster() {
    assertEquals(
        BenchRunner.OK,
        HadoopBench.run(new String[] {"--help"}, Map.of(), NEVER, output.context(NEVER, false)));
    assertTrue(output.text().contains("readRandomDirect"), output.text());
  }
}
