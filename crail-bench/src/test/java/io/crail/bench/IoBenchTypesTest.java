/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Ticker;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchContext;
import io.crail.bench.run.BenchRun;
import io.crail.bench.run.BenchRunner;
import io.crail.bench.run.Crew;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The types for metadata, multi-files and checked contents, on a cluster within this process. */
@Tag("once")
class IoBenchTypesTest {
  private static EmbeddedCrail cluster;
  private static CrailStore store;

  private final BenchOutput output = new BenchOutput();
  private boolean mapped = true;
  private String locationMap = "";

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

  private Configuration configuration() {
    return cluster.configuration().toBuilder()
        .set("crail.storage.localmap", String.valueOf(mapped), "the test")
        .set("crail.locationmap", locationMap, "the test")
        .build();
  }

  private int run(String line, boolean embedded) {
    output.forget();
    return IoBench.run(line.split(" "), output.context(this::configuration, embedded));
  }

  private void assertRuns(String line, long operations, long bytes) {
    assertEquals(BenchRunner.OK, run(line, false), output::errors);
    output.assertPlausible(operations, bytes);
  }

  /** Runs a command line that fails, and checks its message. */
  private void assertFails(String line, String... words) {
    assertEquals(BenchRunner.FAILED, run(line, false), output::text);
    for (String word : words) {
      assertTrue(output.errors().contains(word), output.errors());
    }
    assertFalse(output.text().contains("execution time"), output.text());
  }

  private static void writeInts(String path, int... ints) throws Exception {
    try (CrailBufferedOutputStream stream =
        store
            .create(
                path,
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asFile()
            .getBufferedOutputStream(0)) {
      for (int each : ints) {
        stream.writeInt(each);
      }
    }
  }

  private static int[] ints(int count) {
    return IntStream.range(0, count).toArray();
  }

  @Test
  void createFileAsyncLeavesNothingBehind() throws Exception {
    assertRuns("-t createFileAsync -k 101 -b 7 -w 5 -e 2 -f /async", 101, 0);
    assertNull(store.lookup("/async").get());
  }

  @Test
  void createMultiFileLeavesOne() throws Exception {
    assertRuns("-t createMultiFile -f /bag", 1, 0);
    assertRuns("-t createMultiFile -k 5 -w 3 -e 3 -f /bag", 5, 0);
    assertEquals(CrailNodeType.MULTIFILE, store.lookup("/bag").get().getType());
    for (String other : List.of("/bag-1", "/bag-4", "/bag.warmup")) {
      assertNull(store.lookup(other).get(), other);
    }
    writeInts("/bag/a", 1);
    assertFails("-t createMultiFile -f /bag", "/bag is there already", "crail fs -rm -r /bag");
    assertNotNull(store.lookup("/bag/a").get());
  }

  @Test
  void namesAreCreatedLookedUpListedAndShown() throws Exception {
    assertFails("-t enumerateDir -f /listed", "/listed does not exist", "crail iobench -t");
    assertRuns("-t getMultiFile -n 40 -k 200 -f /listed", 200, 0);
    assertTrue(output.errors().contains("creating 40 missing files"), output.errors());
    assertRuns("-t getMultiFileAsync -n 40 -k 1000 -b 16 -f /listed", 1000, 0);
    assertFalse(output.errors().contains("creating"), output.errors());
    assertRuns("-t enumerateDir -k 7 -f /listed", 7, 0);
    assertTrue(output.text().contains("entries 40"), output.text());
    assertRuns("-t enumeratedir -b 9 -w 1 -f /listed", 9, 0);
    writeInts("/listed/data", 1, 2, 3);
    assertRuns("-t browseDir -k 2 -w 0 -f /listed", 2, 0);
    assertTrue(output.text().contains("node type is DIRECTORY"), output.text());
    assertTrue(output.text().contains("/listed/data DATAFILE 12"), output.text());
    assertTrue(output.text().contains("/listed/f00000039 DATAFILE 0"), output.text());
    assertFails("-t enumerateDir -f /listed/data", "/listed/data is a DATAFILE");
  }

  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void earlyHandlesAreWrittenTo(boolean overMemory, boolean buffered) throws Exception {
    mapped = overMemory;
    String path = "/early-" + overMemory + buffered;
    assertRuns("-t early -s 1000 -k 20 -w 3 -e 2 -m " + buffered + " -f " + path, 20, 20_000);
    assertEquals(1000, store.lookup(path).get().getCapacity());
    assertNull(store.lookup(path + ".warmup").get());
    assertFails("-t early -s 1 -f /", "/ is a DIRECTORY");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void intsAreWrittenReadAndFoundRight(boolean overMemory) throws Exception {
    mapped = overMemory;
    String path = "/ints-" + overMemory;
    assertFails("-t readInt -f " + path, path + " does not exist", "crail iobench -t writeInt");
    assertRuns("-t writeInt -k 3000 -w 10 -e 2 -f " + path, 3000, 12_000);
    assertEquals(12_000, store.lookup(path).get().getCapacity());
    assertNull(store.lookup(path + ".warmup").get());
    assertRuns("-t readInt -k 7000 -w 5 -f " + path, 7000, 28_000);
    assertTrue(output.text().contains("falseMatches 0"), output.text());
    assertRuns("-t seekInt -k 500 -f " + path, 500, 2000);
    assertTrue(output.text().contains("falseMatches 0"), output.text());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void multiStreamsGiveWholeFilesInAnyOrder(boolean overMemory) throws Exception {
    mapped = overMemory;
    String path = "/multi-" + overMemory;
    assertFails(
        "-t readMultiStream -f " + path,
        path + " does not exist",
        "crail iobench -t createMultiFile -f " + path,
        "crail iobench -t write -s");
    assertRuns("-t createMultiFile -f " + path, 1, 0);
    assertFails("-t readMultiStreamInt -f " + path, path + " has no bytes", "-t writeInt");
    int[] lengths = {3000, 1, 700, 700, 200_000};
    for (int i = 0; i < lengths.length; i++) {
      assertRuns(
          "-t writeInt -k " + lengths[i] + " -f " + path + "/p" + i, lengths[i], 4L * lengths[i]);
    }
    long bytes = 4L * IntStream.of(lengths).sum();
    assertRuns(
        "-t readMultiStream -s 1000 -k 3 -b 2 -f " + path, 3 * (bytes / 1000 + 1), 3 * bytes);
    assertRuns("-t readMultiStreamInt -k 300000 -b 3 -f " + path, 300_000, 1_200_000);
    assertTrue(output.text().contains("falseMatches 0"), output.text());
    assertFails("-t readMultiStream -f /", "/ is a DIRECTORY", "needs a multi-file");
  }

  @ParameterizedTest
  @CsvSource({"readInt", "seekInt"})
  void otherIntsFailLoudly(String type) throws Exception {
    String path = "/bad-" + type;
    int[] ints = ints(100);
    ints[57] = -8;
    writeInts(path, ints);
    assertFails(
        "-t " + type + " -k 2000 -w 0 --seed 1 -f " + path,
        path + ", position 228: expected 57, found -8",
        "of 2000 ints are wrong");
    assertFalse(output.text().contains("falseMatches 0"), output.text());
    assertTrue(output.text().contains("falseMatches"), output.text());
    assertFails("-t " + type + " -k 1 -w 2000 --seed 1 -f " + path, "position 228: expected 57");
    store.delete(path, false).get();
    assertEquals(BenchRunner.OK, run("-t write -s 6 -f " + path, false), output::errors);
    assertFails("-t " + type + " -f " + path, "has 6 bytes, which are no ints", "-t writeInt");
  }

  @Test
  void otherIntsInAMultiStreamFailLoudly() throws Exception {
    assertRuns("-t createMultiFile -f /bad", 1, 0);
    writeInts("/bad/a", 0, 1, 2, 3);
    assertRuns("-t readMultiStreamInt -k 4 -f /bad", 4, 16);
    writeInts("/bad/b", 4, 5, 6, 7);
    assertFails(
        "-t readMultiStreamInt -k 8 -w 0 -f /bad", "/bad, position ", "expected ", "found ");
  }

  /** A clock that advances by a second at each call, so that no rate is kept. */
  private static Ticker slowClock() {
    AtomicLong nanos = new AtomicLong();
    return new Ticker() {
      @Override
      public long getAsLong() {
        return nanos.addAndGet(1_000_000_000);
      }

      @Override
      public void await(long until) {
        nanos.accumulateAndGet(until, Math::max);
      }
    };
  }

  /** One worker with that clock. Its prints are in the output. */
  private Figures runOnSlowClock(String line) throws Exception {
    output.forget();
    BenchOptions<BenchType> options = IoBench.SYNTAX.parse(line.split(" ")).orElseThrow();
    BenchContext context = output.context(this::configuration, false);
    BenchRun run = new BenchRun(options, store, false, context.out(), context.err(), false, 0);
    try (Crew crew = new Crew(options, () -> null, slowClock())) {
      crew.add(options.type().workload(run), 0);
      return crew.run();
    }
  }

  @ParameterizedTest
  @CsvSource({"readInt,", "seekInt,", "readMultiStreamInt,/part"})
  void readsBeforeTheEndOfARunAreChecked(String type, String part) throws Exception {
    String path = "/given-up-" + type;
    if (part != null) {
      assertRuns("-t createMultiFile -f " + path, 1, 0);
    }
    String file = part == null ? path : path + part;
    String line = "-t " + type + " -k 1000 -w 0 --rate 1000 -f " + path;
    writeInts(file, ints(50));
    long read = runOnSlowClock(line).operations();
    assertTrue(read > 0 && read < 1000, "read " + read);
    assertTrue(output.text().contains("falseMatches 0"), output.text());
    store.delete(file, false).get();
    writeInts(file, 77, 77, 77);
    BenchException thrown = assertThrows(BenchException.class, () -> runOnSlowClock(line));
    assertTrue(thrown.getMessage().contains("found 77 ("), thrown.getMessage());
    assertTrue(thrown.getMessage().contains(path + ", position "), thrown.getMessage());
    assertFalse(thrown.getMessage().contains("of 1000"), "only what was read was checked");
  }

  @ParameterizedTest
  @CsvSource({
    "enumerateDir -k 1 -b 100, 100, 0",
    "browseDir -k 2 -b 50, 100, 0",
    "readMultiStream -k 2 -s 4, 100, 400",
    "readMultiStream -k 1 -s 7, 29, 200"
  })
  void severalForEachOfTheLoopAreGivenUpToo(String what, long operations, long bytes)
      throws Exception {
    String path = "/several-" + what.hashCode();
    assertRuns("-t createMultiFile -f " + path, 1, 0);
    writeInts(path + "/part", ints(50));
    String line = "-t " + what + " -w 0 -f " + path;
    Figures figures = runOnSlowClock(line + " --rate 1000");
    // The limit is twice the planned time, and 5 s. Each operation takes two seconds.
    assertEquals(3, figures.operations(), 1.0);
    assertEquals(operations, figures.operations() + figures.givenUp());
    assertRuns(line + " --rate 100000", operations, bytes);
  }

  @Test
  void blocksArePrintedByTheNamesOfTheLocationMap() throws Exception {
    assertRuns("-t write -s 64k -k 3 -f /located.dat", 3, 3 * 65_536);
    CrailBlockLocation[] blocks = store.lookup("/located.dat").get().getBlockLocations(0, 196_608);
    String host = blocks[0].getHosts()[0];
    locationMap = host + ",elsewhere";
    assertEquals(BenchRunner.OK, run("-t locationmap -f /located.dat", false), output::errors);
    for (CrailBlockLocation block : blocks) {
      String line =
          "offset " + block.getOffset() + " length " + block.getLength() + " hosts elsewhere";
      assertTrue(output.text().contains(line), output.text());
    }
    assertFalse(output.text().contains("execution time"), output.text());
    assertFails("-t locationMap -f /", "/ is a DIRECTORY");
    assertFails("-t locationMap -f /nowhere.dat", "/nowhere.dat", "-t write");
  }

  @Test
  void aQueueIsAskedInPlaceOfTheStore() {
    assertRuns("-t collection -k 5000 -b 16 -w 100", 5_000, 0);
  }

  @Test
  void locationClassIsPrintedAndNothingElse() {
    assertEquals(BenchRunner.OK, run("-t printLocationclass", false), output::errors);
    assertTrue(
        output.text().contains("locationClass " + store.getLocationClass().value()), output.text());
    assertFalse(output.text().contains("execution time"), output.text());
    // In the form of -p.
    String location = String.valueOf(store.getLocationClass().value());
    assertRuns("-t write -s 100 -k 2 -p " + location + " -f /here.dat", 2, 200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t getMultiFileAsync -f / -k 1000 -b 128 -n 300",
        "-t write -s 1024 -k 1000 -w 32 -f /tmp.dat",
        "-t getkey -s 4 -k 100 -f /seed.dat -w 32",
        "-t readMultiStream -s 65536 -f /seed-multi",
        "-t readMultiStreamInt -k 1000 -f /seed-multi-ints",
        "-t readInt -k 1000 -f /seed-ints",
        "-t seekInt -k 1000 -f /seed-seek",
        "-t enumerateDir -n 20 -w 1 -f /seed-dir",
        "-t browseDir -n 20 -w 1 -f /seed-browsed"
      })
  void anEmbeddedClusterNeedsNoPreparation(String line) {
    assertEquals(BenchRunner.OK, run(line, true), output::errors);
    assertTrue(output.text().contains("execution time"), output.text());
  }

  @Test
  void severalClientsCreateTheSameNames() throws Exception {
    String line = "-t getMultiFile -f /same -n 3000 -w 0";
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Integer>> codes = new ArrayList<>();
      for (int client = 0; client < 4; client++) {
        BenchContext context = new BenchOutput().context(this::configuration, false);
        codes.add(threads.submit(() -> IoBench.run(line.split(" "), context)));
      }
      for (Future<Integer> code : codes) {
        assertEquals(BenchRunner.OK, code.get(60, TimeUnit.SECONDS));
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(3000, store.lookup("/same").get().asContainer().files());
  }

  @ParameterizedTest
  @EnumSource(BenchType.class)
  void severalWorkersShareAPath(BenchType type) throws Exception {
    String path = "/workers-" + type.label();
    String line = "-t " + type.label() + " -f " + path + " -k 10 -w 2 -b 3 -n 20 -s 500 --seed 4";
    BenchOptions<BenchType> options = IoBench.SYNTAX.parse(line.split(" ")).orElseThrow();
    BenchContext context = output.context(this::configuration, true);
    List<Workload> workloads = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      List<Future<?>> runs = new ArrayList<>();
      for (int worker = 0; worker < 3; worker++) {
        BenchRun run =
            new BenchRun(options, store, true, context.out(), context.err(), false, worker);
        workloads.add(type.workload(run));
      }
      for (Workload workload : workloads) {
        workload.prepare();
      }
      for (Workload workload : workloads) {
        runs.add(
            threads.submit(
                () -> {
                  workload.run(10, new Recorder(System::nanoTime));
                  workload.verify();
                  return null;
                }));
      }
      for (Future<?> each : runs) {
        each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdown();
      Collections.reverse(workloads);
      for (Workload workload : workloads) {
        workload.close();
      }
    }
    List<String> left = new ArrayList<>();
    store.lookup("/").get().asContainer().listEntries().forEachRemaining(left::add);
    left.removeIf(each -> !each.startsWith(path + ".") && !each.startsWith(path + "-"));
    assertEquals(List.of(), left);
    if (type == BenchType.CREATE_FILE || type == BenchType.CREATE_FILE_ASYNC) {
      assertNull(store.lookup(path).get());
    }
  }
}
