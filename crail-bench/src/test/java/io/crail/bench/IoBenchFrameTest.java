/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.crail.CrailStore;
import io.crail.bench.run.BenchContext;
import io.crail.bench.run.BenchRunner;
import io.crail.bench.run.ClientProcess;
import io.crail.bench.run.ClientsLoad;
import io.crail.bench.run.Cues;
import io.crail.bench.run.ParentLink;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads, processes, rates, JSON and charts, on a cluster within this process. */
@Timeout(120)
@Tag("once")
class IoBenchFrameTest {
  private static EmbeddedCrail cluster;
  private static CrailStore store;

  private final BenchOutput output = new BenchOutput();

  @TempDir private Path directory;

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

  private int run(String line) {
    return IoBench.run(line.split(" "), output.context(cluster::configuration, true));
  }

  private JsonElement json(String line) throws Exception {
    Path file = directory.resolve("figures.json");
    assertEquals(BenchRunner.OK, run(line + " --json " + file), output::errors);
    return JsonParser.parseString(Files.readString(file));
  }

  /** The element at a path of names and indexes. */
  private static JsonElement at(JsonElement json, String path) {
    JsonElement found = json;
    for (String step : path.split("/")) {
      found =
          found.isJsonArray()
              ? found.getAsJsonArray().get(Integer.parseInt(step))
              : found.getAsJsonObject().get(step);
      assertNotNull(found, () -> step + " of " + path + " is not in " + json);
    }
    return found;
  }

  @ParameterizedTest
  @CsvSource({
    "-t write -s 1000 -k 20 -w 2 --threads 3, 60, 1000",
    "-t writeAsync -s 4096 -k 50 -b 4 --threads 2, 100, 4096",
    "-t readRandom -s 512 -k 20 --threads 4, 80, 512",
    "-t readSequentialAsync -s 512 -k 20 -b 4 --threads 2, 40, 512",
    "-t getKey -s 10 -k 10 --threads 3, 30, 10",
    "-t getFileAsync -k 500 -b 8 --threads 4, 2000, 0",
    "-t write -s 1000 -k 20 --threads 2 --rate 4000, 40, 1000",
    "-t getFile -k 50 --rate 2000, 50, 0",
    "-t getFileAsync -k 200 -b 8 --rate 5000, 200, 0",
    "-t readSequentialAsync -s 512 -k 50 -b 4 --threads 2 --rate 5000, 100, 512"
  })
  void workersAreCountedTogether(String line, long operations, long size) throws Exception {
    String path = "/frame-" + Math.abs(line.hashCode()) + ".dat";
    assertEquals(BenchRunner.OK, run(line + " -f " + path), output::errors);
    output.assertPlausible(operations, operations * size);
    assertNotNull(store.lookup(path).get(), "the file of the first stays");
    assertNull(store.lookup(path + ".warmup").get());
    assertNull(store.lookup(path + ".1.warmup").get());
    assertEquals(line.contains("--rate"), output.text().contains("rate asked"), output.text());
  }

  @ParameterizedTest
  @EnumSource(
      value = BenchType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"PRINT_LOCATION_CLASS", "LOCATION_MAP"})
  void everyTypeHasSeveralWorkersAndARate(BenchType type) throws Exception {
    String label = type.label();
    String path = "/several-" + label;
    // Large, so that types that read a whole file repeatedly do not need many operations.
    String line = " -s 64k -k 12 -b 3 -n 20 -w 2 --threads 3 -f " + path;
    assertEquals(BenchRunner.OK, run("-t " + label + line), output::errors);
    double operations = output.lines("ops ").get(0)[0];
    assertTrue(operations >= 36, output.text());
    output.forget();
    assertEquals(BenchRunner.OK, run("-t " + label + line + " --rate 20000"), output::errors);
    assertEquals(operations, output.lines("ops ").get(0)[0]);
    assertTrue(output.text().contains("rate asked 20000 ops/s"), output.text());
    List<String> left = new ArrayList<>();
    store.lookup("/").get().asDirectory().listEntries().forEachRemaining(left::add);
    left.removeIf(name -> !name.contains(path) || name.endsWith(path));
    assertEquals(List.of(), left, "what others than the first have made");
  }

  @Test
  void filesAndNamesOfManyWorkersAreRemoved() throws Exception {
    assertEquals(
        BenchRunner.OK, run("-t createFile -k 20 -f /made --threads 4 -w 3"), output::errors);
    output.assertPlausible(80, 0);
    assertNull(store.lookup("/made").get());
  }

  @Test
  void aRateIsKept() throws Exception {
    JsonElement json = json("-t getFile -k 100 --rate 1000 --threads 2 -f /paced.dat");
    double seconds = at(json, "results/0/merged/seconds").getAsDouble();
    // It is never faster. The machine may make it slower.
    assertTrue(seconds > 0.198, () -> seconds + " s");
    assertEquals(1000, at(json, "settings/rate").getAsDouble());
    assertTrue(output.text().contains("rate asked 1000 ops/s, achieved "), output.text());
  }

  @Test
  void jsonHasSettingsAndFigures() throws Exception {
    JsonElement json =
        json(
            "-t write -s 1k,4k -k 30 -e 2 -m false --threads 2 --seed 7 --warm-seconds 0 -f /json.dat");
    assertEquals(1, at(json, "format").getAsInt());
    assertEquals("iobench", at(json, "command").getAsString());
    assertFalse(at(json, "version").getAsString().contains("$"), "filtered");
    assertEquals("-t", at(json, "arguments/0").getAsString());
    assertEquals("write", at(json, "settings/type").getAsString());
    assertEquals("/json.dat", at(json, "settings/file").getAsString());
    assertEquals(7, at(json, "settings/seed").getAsLong());
    assertFalse(at(json, "settings/buffered").getAsBoolean());
    assertTrue(at(json, "settings/rate").isJsonNull());
    assertTrue(
        at(json, "configuration/crail.namenode.address").getAsString().contains("127.0.0.1"));
    assertEquals(2, at(json, "results").getAsJsonArray().size());
    JsonElement second = at(json, "results/1");
    assertEquals(4096, at(second, "size").getAsInt());
    assertEquals(2, at(second, "experiments").getAsJsonArray().size());
    assertEquals(60, at(second, "experiments/1/operations").getAsLong());
    JsonElement merged = at(second, "merged");
    assertEquals(120, at(merged, "operations").getAsLong());
    assertEquals(120 * 4096, at(merged, "bytes").getAsLong());
    double p50 = at(merged, "latencyMicros/p50").getAsDouble();
    double max = at(merged, "latencyMicros/max").getAsDouble();
    assertTrue(p50 > 0 && p50 <= max, merged::toString);
    JsonElement last =
        at(merged, "percentiles/" + (at(merged, "percentiles").getAsJsonArray().size() - 1));
    assertEquals(100, at(last, "0").getAsDouble());
    assertEquals(max, at(last, "1").getAsDouble(), max / 500);
    assertEquals(120, at(last, "2").getAsLong());
    Histogram histogram =
        Histogram.decodeFromCompressedByteBuffer(
            ByteBuffer.wrap(Base64.getDecoder().decode(at(merged, "histogram").getAsString())), 0);
    assertEquals(120, histogram.getTotalCount());
    assertEquals(p50, histogram.getValueAtPercentile(50) / 1e3, 1e-6);
  }

  @Test
  void jsonAloneIsOnStandardOutputWhenItIsWantedThere() throws Exception {
    assertEquals(BenchRunner.OK, run("-t getFile -k 10 -f /out.dat --json -"), output::errors);
    JsonElement json = JsonParser.parseString(output.text());
    assertEquals(10, at(json, "results/0/merged/operations").getAsLong());
    assertTrue(at(json, "results/0/size").isJsonNull());
    assertTrue(output.errors().contains("execution time"), output.errors());
  }

  /** Those of a part that is not on this class path. */
  @Test
  void jsonHasNoSecrets() throws Exception {
    String secret = "DHHC-1:00:AAECAwQF:";
    Configuration configuration =
        cluster.configuration().toBuilder()
            .set("crail.storage.nvmf.secret", secret, "the test")
            .build();
    int code =
        IoBench.run(
            "-t getFile -k 10 -f /secret.dat --json -".split(" "),
            output.context(() -> configuration, true));
    assertEquals(BenchRunner.OK, code, output::errors);
    JsonElement json = JsonParser.parseString(output.text());
    assertEquals("(secret)", at(json, "configuration/crail.storage.nvmf.secret").getAsString());
    assertFalse(output.text().contains(secret) || output.errors().contains(secret));
  }

  @Test
  void oneSizeIsPlottedAsLatencies() throws Exception {
    Path file = directory.resolve("latency.svg");
    assertEquals(
        BenchRunner.OK,
        run("-t getFile -k 200 -f /plot.dat --warm-seconds 0 --plot " + file),
        output::errors);
    String svg = Files.readString(file);
    for (String text : List.of("iobench, getFile", "latency [µs]", "getFile", "99.99")) {
      assertTrue(svg.contains(text), () -> text + " is not in " + svg);
    }
  }

  @Test
  void severalSizesArePlottedAsThroughput() throws Exception {
    Path file = directory.resolve("throughput.svg");
    assertEquals(
        BenchRunner.OK,
        run(
            "-t readSequential -s 1k,4k,64k -k 20 -e 3 -f /sizes.dat --plot "
                + file
                + " --warm-seconds 1"),
        output::errors);
    assertEquals(
        List.of(1024.0, 4096.0, 65_536.0),
        output.lines("size ").stream().map(numbers -> numbers[0]).toList());
    // It is in no figure.
    assertTrue(output.text().contains("the load runs for 1 s, not counted"), output.text());
    assertEquals(20, output.lines("ops ").get(0)[0]);
    String svg = Files.readString(file);
    for (String text : List.of("throughput [MB/s]", "readSequential", "4k", "64k")) {
      assertTrue(svg.contains(text), () -> text + " is not in " + svg);
    }
    String png = directory + "/a.png";
    assertEquals(BenchRunner.OK, run("-t getFile -f /x --warm-seconds 0 --plot " + png));
    assertTrue(Files.size(directory.resolve("a.png")) > 1000);
  }

  @Test
  void earlierRunsAreInTheSameChart() throws Exception {
    Path chart = directory.resolve("chart.svg");
    for (String line :
        List.of(
            "-t readSequential -s 1k,4k -k 20 -f /lines.dat --warm-seconds 0",
            "-t getFile -k 20 -f /lines.dat --warm-seconds 0")) {
      for (String run : List.of("before", "long-before")) {
        String json = directory.resolve(run + ".json").toString();
        assertEquals(BenchRunner.OK, run(line + " --json " + json), output::errors);
      }
      String baselines = " --baseline DIR/before.json --baseline DIR/long-before.json";
      assertEquals(
          BenchRunner.OK,
          run(line + " --plot " + chart + baselines.replace("DIR", directory.toString())),
          output::errors);
      String svg = Files.readString(chart);
      for (String text : List.of(">this run<", ">before<", ">long-before<")) {
        assertTrue(svg.contains(text), () -> text + " is not in " + svg);
      }
    }
  }

  /** Before anything is measured. */
  @Test
  void earlierFiguresThatDoNotFitAreRefused() throws Exception {
    String json = directory.resolve("before.json").toString();
    String plot = " --warm-seconds 0 -f /lines.dat --plot " + directory.resolve("x.svg");
    assertEquals(BenchRunner.OK, run("-t getFile -k 20 -f /lines.dat --json " + json));
    for (Map.Entry<String, String> wrong :
        Map.of(
                "-t readSequential -s 1k", "has no figures of operations of 1024 bytes",
                "-t readSequential -s 1k,2k", "has no figures of sizes")
            .entrySet()) {
      output.forget();
      assertEquals(BenchRunner.FAILED, run(wrong.getKey() + plot + " --baseline " + json));
      assertTrue(output.errors().contains(json + " " + wrong.getValue()), output.errors());
      assertFalse(output.text().contains("starting benchmark"), output.text());
    }
    for (String text : List.of("", "{", "[1]", "{\"format\": 2, \"results\": []}", "{} x")) {
      Files.writeString(Path.of(json), text);
      output.forget();
      assertEquals(BenchRunner.FAILED, run("-t getFile" + plot + " --baseline " + json));
      assertTrue(output.errors().contains("--baseline: " + json), output.errors());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "-t getFile --plot DIR/x.pdf, .svg or .png",
    "-t getFile --baseline DIR/x.json, only the chart of --plot",
    "-t locationMap --warm-seconds 1, locationMap measures nothing",
    "-t getFile --warm-seconds 9999, --warm-seconds 9999",
    "-t getFile --plot DIR/none/x.svg, no directory",
    "-t getFile --json DIR/none/x.json, no directory",
    "-t getFile --json DIR, cannot be written",
    "-t getFile --json DIR/x.svg --plot DIR/x.svg, --plot",
    "'-t getFile -s 1k,2k', getFile has no size",
    "'-t write -s 1k,1k', each size once",
    "'-t write -s 1k,', list",
    "'-t write -s 1k,2k --rate 5 --plot DIR/x.svg', leave one out",
    "-t printLocationClass --rate 5, --rate: printLocationClass measures nothing",
    "-t locationMap --rate 5, --rate: locationMap measures nothing",
    "-t write --rate 0, --rate 0",
    "-t write --rate NaN, --rate NaN",
    "-t write --rate fast, --rate fast",
    "-t write --threads 0, --threads 0",
    "-t write --clients 1000, --clients 1000"
  })
  void senselessOptionsAreRefusedByName(String line, String named) {
    BenchContext.ConfigurationSource never =
        () -> {
          throw new AssertionError("asked for a cluster");
        };
    int code =
        IoBench.run(
            line.replace("DIR", directory.toString()).split(" "), output.context(never, true));
    assertEquals(BenchRunner.USAGE, code, output::text);
    assertTrue(output.errors().contains(named), output.errors());
  }

  @Test
  void reportsWhatCannotBeMadeReady() throws Exception {
    assertEquals(BenchRunner.FAILED, run("-t write -s 10 -f / --threads 2"));
    assertTrue(output.errors().contains("/ is a DIRECTORY"), output.errors());
    assertFalse(output.text().contains("starting"), output.text());
  }

  @Test
  void processesMeasureTogether() throws Exception {
    JsonElement json =
        json(
            "-t readRandom -s 100 -k 20 --drop 1 -e 2 -w 4 --clients 2 --threads 2 --rate 1000"
                + " -f /clients.dat");
    assertEquals(
        List.of(80.0, 80.0, 80.0, 160.0),
        output.lines("ops ").stream().map(numbers -> numbers[0]).toList());
    assertEquals(2, at(json, "settings/clients").getAsInt());
    assertEquals(1, at(json, "settings/drop").getAsInt());
    assertEquals(2, at(json, "results/0/experiments").getAsJsonArray().size());
    assertEquals(80 * 100, at(json, "results/0/experiments/1/bytes").getAsLong());
    assertEquals(160, at(json, "results/0/merged/operations").getAsLong());
    // The file to read is missing, and the cluster is embedded: the first worker writes it.
    assertTrue(
        output.errors().contains("client 0: The embedded cluster is empty"), output.errors());
    assertFalse(output.errors().contains("client 1: "), output.errors());
    assertNoChildren();
  }

  @Test
  void aProcessThatFailsEndsAllWithItsError() throws Exception {
    assertEquals(
        BenchRunner.FAILED,
        IoBench.run(
            "-t readRandom -s 100 --clients 2 -f /nowhere.dat".split(" "),
            output.context(cluster::configuration, false)));
    assertTrue(
        output.errors().contains("client 0: /nowhere.dat does not exist; write it first"),
        output.errors());
    assertNoChildren();
  }

  @Test
  void anInterruptEndsAllProcesses() throws Exception {
    Thread measuring =
        new Thread(() -> run("-t getFile -k 1000000000 --clients 2 -f /interrupted.dat"));
    measuring.start();
    try {
      while (!output.text().contains("starting benchmark")) {
        Thread.sleep(10);
      }
      List<ProcessHandle> children = ProcessHandle.current().children().toList();
      assertEquals(2, children.size());
    } finally {
      measuring.interrupt();
      measuring.join();
    }
    assertTrue(output.errors().contains("iobench: interrupted"), output.errors());
    assertNoChildren();
  }

  @Test
  void aProcessEndsWithTheOneThatStartedIt() throws Exception {
    Process process = new ProcessBuilder(ClientsLoad.command(IoBench.class)).start();
    ClientProcess client = new ClientProcess(0, process, new ConcurrentLinkedQueue<>(), System.err);
    client.order(
        new ParentLink.Orders(
            0,
            true,
            List.of("-t", "getFile", "-k", "1000000000", "-f", "/orphan.dat"),
            cluster.configuration().texts(),
            Map.of()));
    for (Cues.Cue cue : List.of(Cues.Cue.PREPARE, Cues.Cue.RUN, Cues.Cue.GO)) {
      client.cue(cue);
    }
    while (store.lookup("/orphan.dat").get() == null) {
      Thread.sleep(10);
    }
    // The pipe ends, as when the other process is killed.
    client.letEnd();
    client.awaitEnd(System.nanoTime() + TimeUnit.SECONDS.toNanos(60));
    assertEquals(1, process.exitValue(), "ended by itself");
  }

  private static void assertNoChildren() {
    assertEquals(0, ProcessHandle.current().children().filter(ProcessHandle::isAlive).count());
  }
}
