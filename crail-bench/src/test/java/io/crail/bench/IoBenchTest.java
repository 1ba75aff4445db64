/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.bench.run.BenchContext;
import io.crail.bench.run.BenchRunner;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every type, on a cluster within this process. */
class IoBenchTest {
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

  private int run(String line, boolean embedded, BenchContext.ConfigurationSource source) {
    return IoBench.run(line.split(" "), output.context(source, embedded));
  }

  private int run(String line, boolean embedded) {
    return run(line, embedded, cluster::configuration);
  }

  @ParameterizedTest
  @CsvSource({
    "-t write -s 5000 -k 40 -w 2, 40, 5000",
    "-t write -s 1048576 -k 8 -m false, 8, 1048576",
    "-t WRITE -s 1 -k 100 -w 0 --touch false, 100, 1",
    "-t writeAsync -s 4096 -k 101 -b 7 -w 3, 101, 4096",
    "-t readSequential -s 5000 -k 40, 40, 5000",
    "-t readSequential -s 64k -k 20 -m false, 20, 65536",
    "-t readSequentialAsync -s 4096 -k 101 -b 7, 101, 4096",
    "-t readRandom -s 1000 -k 50 --seed 3, 50, 1000",
    "-t readRandom -s 4 -k 50 -m false, 50, 4",
    "-t readRandomAsync -s 100 -k 50 -b 8, 50, 100",
    "-t getKey -s 64 -k 30, 30, 64",
    "-t getkey -s 1 -k 30 -w 0, 30, 1",
    "-t getFile -k 50, 50, 0",
    "-t getFileAsync -k 1001 -b 16, 1001, 0"
  })
  void everyTypeOfOneFileCountsRight(String line, long operations, long size) throws Exception {
    String path = "/one-" + Math.abs(line.hashCode()) + ".dat";
    assertEquals(BenchRunner.OK, run(line + " -f " + path, true), output::errors);
    output.assertPlausible(operations, operations * size);
    assertNotNull(store.lookup(path).get(), "the file stays");
    assertNull(store.lookup(path + ".warmup").get(), "the warm-up's file does not");
    if (line.startsWith("-t write")) {
      assertEquals(operations * size, store.lookup(path).get().getCapacity());
    }
  }

  @Test
  void createFileLeavesNothingBehind() throws Exception {
    assertEquals(
        BenchRunner.OK, run("-t createFile -k 100 -w 5 -f /created", false), output::errors);
    output.assertPlausible(100, 0);
    assertNull(store.lookup("/created").get());
  }

  @Test
  void namesAreCreatedOnceAndStay() throws Exception {
    String line = "-t getMultiFileAsync -f /many -n 300 -k 2000 -b 32 --seed 5";
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    output.assertPlausible(2000, 0);
    assertTrue(output.errors().contains("creating 300 missing files"), output.errors());
    assertNotNull(store.lookup("/many/f00000299").get());
    store.delete("/many/f00000007", false).get();
    output.forget();
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    assertTrue(output.errors().contains("creating 1 missing files"), output.errors());
    output.forget();
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    assertFalse(output.errors().contains("creating"), output.errors());
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void experimentsAreRepeatedAndSummedUp(boolean keepOpen) {
    String line = "-t write -s 1000 -k 20 -e 3 -f /repeated.dat -o " + keepOpen;
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    assertEquals(
        List.of(20.0, 20.0, 20.0, 60.0), output.lines("ops ").stream().map(a -> a[0]).toList());
    assertTrue(output.text().contains("summary of 3 experiments"), output.text());
    assertTrue(output.text().contains("throughput ops/s: median "), output.text());
  }

  @Test
  void experimentsThatAreDroppedAreShownAndDoNotCount() {
    assertEquals(
        BenchRunner.OK,
        run("-t write -s 1000 -k 20 --drop 2 -e 2 -o true -f /dropped.dat", false),
        output::errors);
    assertEquals(
        List.of(20.0, 20.0, 20.0, 20.0, 40.0),
        output.lines("ops ").stream().map(a -> a[0]).toList());
    assertTrue(output.text().contains("not counted, experiment 1"), output.text());
    assertTrue(output.text().contains("\nexperiment 1"), output.text());
    assertTrue(output.text().contains("summary of 2 experiments"), output.text());
  }

  @Test
  void sizeDefaultsToTheConfiguredBuffer() {
    int code =
        run(
            "-t write -k 2 -f /configured.dat",
            false,
            () ->
                cluster.configuration().toBuilder()
                    .set("crail.buffersize", "65536", "the test")
                    .set("crail.slicesize", "65536", "the test")
                    .build());
    assertEquals(BenchRunner.OK, code, output::errors);
    output.assertPlausible(2, 131_072);
  }

  @Test
  void missingFilesAreExplained() throws Exception {
    for (String type : List.of("readSequential", "readRandom", "getKey", "getFile")) {
      output.forget();
      assertEquals(BenchRunner.FAILED, run("-t " + type + " -s 512 -f /missing.dat", false));
      assertTrue(
          output.errors().contains("/missing.dat does not exist; write it first"), output.errors());
      assertTrue(output.errors().contains("crail iobench -t write"), output.errors());
    }
    assertNull(store.lookup("/missing.dat").get(), "nothing was written");
  }

  @Test
  void shortFilesAreExplained() {
    assertEquals(BenchRunner.OK, run("-t write -s 100 -k 1 -f /short.dat", false), output::errors);
    assertEquals(BenchRunner.FAILED, run("-t readSequential -s 101 -f /short.dat", false));
    assertTrue(
        output.errors().contains("/short.dat has 100 bytes, fewer than -s 101"), output.errors());
  }

  @Test
  void anythingButAFileIsKept() throws Exception {
    assertEquals(BenchRunner.OK, run("-t getMultiFileAsync -f /kept -n 1", false), output::errors);
    assertEquals(BenchRunner.FAILED, run("-t write -s 1 -f /kept", false));
    assertTrue(output.errors().contains("/kept is a"), output.errors());
    assertNotNull(store.lookup("/kept/f00000000").get());
    assertEquals(BenchRunner.FAILED, run("-t createFile -f /kept/f00000000", false));
    assertTrue(output.errors().contains("needs a directory"), output.errors());
  }

  @Test
  void aBadCommandStartsNoCluster() {
    BenchContext.ConfigurationSource never =
        () -> {
          throw new AssertionError("asked for a cluster");
        };
    assertEquals(BenchRunner.USAGE, run("-t nothing", false, never));
    assertTrue(output.errors().contains("nothing"), output.errors());
    assertEquals(BenchRunner.OK, run("--help", false, never));
    assertTrue(output.text().contains("getMultiFileAsync"), output.text());
  }

  @Test
  void aClusterThatCannotBeReachedIsAnError() throws IOException {
    Configuration nobody =
        Configuration.builder()
            .set("crail.namenode.address", "crail://127.0.0.1:1", "the test")
            .set("crail.rpctimeout", "500", "the test")
            .build();
    assertEquals(BenchRunner.FAILED, run("-t getFile -f /x", false, () -> nobody));
    assertTrue(output.errors().contains("127.0.0.1"), output.errors());
  }
}
