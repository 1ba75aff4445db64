/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every type on a cluster within this process. */
class IoBenchTest {
  private static final Pattern NUMBER = Pattern.compile("[-0-9.]+");

  private static EmbeddedCrail cluster;
  private static CrailStore store;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

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
    BenchContext context = new BenchContext(source, embedded, stream(out), stream(err), false);
    return IoBench.run(line.split(" "), context);
  }

  private int run(String line, boolean embedded) {
    return run(line, embedded, cluster::configuration);
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private String output() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String errors() {
    return err.toString(StandardCharsets.UTF_8);
  }

  /** All numbers of the lines that begin with a word, line by line. */
  private List<double[]> lines(String word) {
    List<double[]> found = new ArrayList<>();
    output()
        .lines()
        .filter(line -> line.startsWith(word))
        .forEach(
            line -> {
              Matcher matcher = NUMBER.matcher(line.substring(word.length()));
              List<Double> numbers = new ArrayList<>();
              while (matcher.find()) {
                numbers.add(Double.parseDouble(matcher.group()));
              }
              found.add(numbers.stream().mapToDouble(Double::doubleValue).toArray());
            });
    return found;
  }

  private void assertPlausible(long operations, long bytes) {
    assertTrue(output().contains("starting benchmark..."), output());
    double seconds = lines("execution time ").get(0)[0];
    assertTrue(seconds > 0 && seconds < 60, output());
    assertEquals(operations, lines("ops ").get(0)[0], output());
    assertEquals(bytes, lines("sumbytes ").get(0)[0], output());
    assertEquals(operations / seconds, lines("throughput ").get(0)[0], operations / seconds / 20);
    // Behind the name of each percentile, which is a number too, stands its value.
    double[] latencies = lines("latency p50 ").get(0);
    assertTrue(
        latencies[0] > 0
            && latencies[0] <= latencies[2]
            && latencies[2] <= latencies[4]
            && latencies[4] <= latencies[5],
        output());
    assertTrue(latencies[5] <= seconds * 1e6 * 1.01, output());
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
    "-t getKey -s 64 -k 30, 30, 64",
    "-t getkey -s 1 -k 30 -w 0, 30, 1",
    "-t getFile -k 50, 50, 0",
    "-t getFileAsync -k 1001 -b 16, 1001, 0"
  })
  void everyTypeOfOneFileCountsRight(String line, long operations, long size) throws Exception {
    String path = "/one-" + Math.abs(line.hashCode()) + ".dat";
    assertEquals(IoBench.OK, run(line + " -f " + path, true), this::errors);
    assertPlausible(operations, operations * size);
    assertNotNull(store.lookup(path).get(), "the file stays");
    assertNull(store.lookup(path + ".warmup").get(), "the warm-up's file does not");
    if (line.startsWith("-t write")) {
      assertEquals(operations * size, store.lookup(path).get().getCapacity());
    }
  }

  @Test
  void createFileLeavesNothingBehind() throws Exception {
    assertEquals(IoBench.OK, run("-t createFile -k 100 -w 5 -f /created", false), this::errors);
    assertPlausible(100, 0);
    assertNull(store.lookup("/created").get());
  }

  @Test
  void namesAreCreatedOnceAndStay() throws Exception {
    String line = "-t getMultiFileAsync -f /many -n 300 -k 2000 -b 32 --seed 5";
    assertEquals(IoBench.OK, run(line, false), this::errors);
    assertPlausible(2000, 0);
    assertTrue(errors().contains("creating 300 missing files"), errors());
    assertNotNull(store.lookup("/many/f00000299").get());
    store.delete("/many/f00000007", false).get();
    err.reset();
    assertEquals(IoBench.OK, run(line, false), this::errors);
    assertTrue(errors().contains("creating 1 missing files"), errors());
    err.reset();
    assertEquals(IoBench.OK, run(line, false), this::errors);
    assertFalse(errors().contains("creating"), errors());
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void experimentsAreRepeatedAndSummedUp(boolean keepOpen) {
    String line = "-t write -s 1000 -k 20 -e 3 -f /repeated.dat -o " + keepOpen;
    assertEquals(IoBench.OK, run(line, false), this::errors);
    assertEquals(List.of(20.0, 20.0, 20.0, 60.0), lines("ops ").stream().map(a -> a[0]).toList());
    assertTrue(output().contains("summary of 3 experiments"), output());
    assertTrue(output().contains("throughput ops/s: median "), output());
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
    assertEquals(IoBench.OK, code, this::errors);
    assertPlausible(2, 131_072);
  }

  @Test
  void missingFilesAreExplained() throws Exception {
    for (String type : List.of("readSequential", "readRandom", "getKey", "getFile")) {
      err.reset();
      assertEquals(IoBench.FAILED, run("-t " + type + " -s 512 -f /missing.dat", false));
      assertTrue(errors().contains("/missing.dat does not exist; write it first"), errors());
      assertTrue(errors().contains("crail iobench -t write"), errors());
    }
    assertNull(store.lookup("/missing.dat").get(), "nothing was written");
  }

  @Test
  void shortFilesAreExplained() {
    assertEquals(IoBench.OK, run("-t write -s 100 -k 1 -f /short.dat", false), this::errors);
    assertEquals(IoBench.FAILED, run("-t readSequential -s 101 -f /short.dat", false));
    assertTrue(errors().contains("/short.dat has 100 bytes, fewer than -s 101"), errors());
  }

  @Test
  void anythingButAFileIsKept() throws Exception {
    assertEquals(IoBench.OK, run("-t getMultiFileAsync -f /kept -n 1", false), this::errors);
    assertEquals(IoBench.FAILED, run("-t write -s 1 -f /kept", false));
    assertTrue(errors().contains("/kept is a"), errors());
    assertNotNull(store.lookup("/kept/f00000000").get());
    assertEquals(IoBench.FAILED, run("-t createFile -f /kept/f00000000", false));
    assertTrue(errors().contains("needs a directory"), errors());
  }

  @Test
  void aBadCommandStartsNoCluster() {
    BenchContext.ConfigurationSource never =
        () -> {
          throw new AssertionError("asked for a cluster");
        };
    assertEquals(IoBench.USAGE, run("-t nothing", false, never));
    assertTrue(errors().contains("nothing"), errors());
    assertEquals(IoBench.OK, run("--help", false, never));
    assertTrue(output().contains("getMultiFileAsync"), output());
  }

  @Test
  void aClusterThatCannotBeReachedIsAnError() throws IOException {
    Configuration nobody =
        Configuration.builder()
            .set("crail.namenode.address", "crail://127.0.0.1:1", "the test")
            .set("crail.rpctimeout", "500", "the test")
            .build();
    assertEquals(IoBench.FAILED, run("-t getFile -f /x", false, () -> nobody));
    assertTrue(errors().contains("127.0.0.1"), errors());
  }
}
