/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.MetricRegistry;
import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.CrailPlugin;
import io.crail.spark.SparkOnCrail;
import io.crail.spark.Valve;
import io.crail.spark.line42.TaskStatistics.Row;
import java.lang.ref.Reference;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** What users see of Crail in Spark: a page, and metrics. */
class CrailTabTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir Path local;
  private SparkOnCrail crail;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    crail = new SparkOnCrail(EmbeddedCrail.builder());
    store = crail.store();
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    crail.close();
  }

  private static String fetch(String address) throws Exception {
    HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(URI.create(address)).timeout(PATIENCE).build(),
            HttpResponse.BodyHandlers.ofString());
    assertEquals(200, response.statusCode(), response::body);
    return response.body();
  }

  /** The cells of the rows of a page. */
  private static List<List<String>> rows(String page) {
    List<List<String>> rows = new ArrayList<>();
    Matcher row = Pattern.compile("<tr>(.*?)</tr>", Pattern.DOTALL).matcher(page);
    while (row.find()) {
      List<String> cells = new ArrayList<>();
      Matcher cell = Pattern.compile("<t[dh]>(.*?)</t[dh]>", Pattern.DOTALL).matcher(row.group(1));
      while (cell.find()) {
        cells.add(cell.group(1));
      }
      rows.add(cells);
    }
    return rows;
  }

  private static long bytes(String cell) {
    return Long.parseLong(cell.replaceAll(".*\\((\\d+)\\)", "$1"));
  }

  private long stored() throws Exception {
    long bytes = 0;
    for (String file : MapTask.files(store, "/")) {
      bytes += store.lookup(file).get().getCapacity();
    }
    return bytes;
  }

  private static MetricRegistry registry() {
    return SparkEnv.get()
        .metricsSystem()
        .getSourcesByName("plugin." + CrailPlugin.class.getName())
        .head()
        .metricRegistry();
  }

  private static Object metric(String name) {
    return registry().getGauges().get(name).getValue();
  }

  @Test
  void pageAndMetricsSayWhatIsStored() throws Exception {
    SparkConf conf =
        crail
            .conf("local[2]", local)
            .set("spark.ui.enabled", "true")
            .set("spark.ui.port", "0")
            .set("spark.plugins", CrailPlugin.class.getName())
            .set("spark.crail.broadcast.minsize", "1m");
    MetricRegistry registry;
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      registry = registry();
      String page = spark.sc().uiWebUrl().get() + "/crail/";
      assertEquals(List.of("shuffle", "0", "0.0 B (0)"), rows(fetch(page)).get(1).subList(2, 5));
      JavaPairRDD<Integer, Iterable<Integer>> grouped =
          spark
              .parallelize(IntStream.range(0, 20_000).boxed().toList(), 5)
              .mapToPair(number -> new Tuple2<>(number % 97, number))
              .groupByKey(3);
      grouped.count();
      spark.sc().listenerBus().waitUntilEmpty();
      long stored = stored();
      List<List<String>> rows = rows(fetch(page));
      assertEquals(5, rows.size(), rows::toString);
      List<String> shuffle = rows.get(1);
      String id = spark.getConf().get("spark.crail.application");
      assertEquals(List.of(id, "1", "shuffle", "5"), shuffle.subList(0, 4));
      assertEquals(stored, bytes(shuffle.get(4)));
      List<String> executor = rows.get(4);
      assertEquals("driver", executor.get(0), rows::toString);
      long written = bytes(executor.get(1));
      assertTrue(written > 0 && written < stored, executor::toString);
      assertEquals(written, bytes(executor.get(2)));
      assertEquals("0", executor.get(3));
      assertEquals(5L, metric("outputs"));
      assertEquals(stored, metric("bytesWritten"));
      assertEquals(written, metric("bytesFetched"));
      assertEquals(0L, metric("blocksFailed"));

      store.delete(MapTask.files(store, "/").get(0), false).get();
      ShuffleManager42.current().fetcher().forgetShuffle(0);
      grouped.count();
      spark.sc().listenerBus().waitUntilEmpty();
      executor = rows(fetch(page)).get(4);
      assertTrue(Integer.parseInt(executor.get(3)) > 0, executor::toString);
      assertTrue((long) metric("blocksFailed") > 0);

      Broadcast<byte[]> value = spark.broadcast(new byte[2 << 20]);
      List<String> broadcast = rows(fetch(page)).get(2);
      assertEquals(List.of("broadcast", "1"), broadcast.subList(2, 4));
      // Spark removes what is not referenced any more.
      Reference.reachabilityFence(value);
    }
    // Streams that were kept open have added what they have counted.
    Map<String, Long> values = new TreeMap<>();
    registry.getGauges().forEach((name, gauge) -> values.put(name, (long) gauge.getValue()));
    assertTrue(values.get("store.create.count") >= 7, values::toString);
    assertTrue(values.get("store.create.medianNanos") > 0, values::toString);
    assertTrue(
        values.get("store.create.p99Nanos") >= values.get("store.create.medianNanos"),
        values::toString);
    assertTrue(values.get("store.read.count") >= 15, values::toString);
    assertTrue(values.get("store.write.count") >= 7, values::toString);
    assertTrue(values.get("store.operations") > 30, values::toString);
    assertTrue(values.get("store.errors") > 0, "one output was deleted: " + values);
    assertTrue(values.get("store.bytesWritten") > values.get("bytesWritten"), values::toString);
    assertTrue(values.get("store.bytesRead") >= values.get("bytesFetched"), values::toString);
  }

  /** With the shuffle manager alone there is a page from the first shuffle on. */
  @Test
  void aPageNeedsNoPlugin() throws Exception {
    SparkConf conf =
        crail.conf("local[1]", local).set("spark.ui.enabled", "true").set("spark.ui.port", "0");
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      JavaPairRDD<Integer, Iterable<Integer>> groups =
          spark
              .parallelize(List.of(1, 2, 3), 2)
              .mapToPair(number -> new Tuple2<>(number % 2, number))
              .groupByKey(1);
      assertEquals(2, groups.count());
      String page = fetch(spark.sc().uiWebUrl().get() + "/crail/");
      assertEquals("2", rows(page).get(1).get(3), page);
      // Spark removes what is not referenced any more.
      Reference.reachabilityFence(groups);
    }
  }

  /** A page that waits for the deadline of an operation does not come in time. */
  @Test
  @Tag("once")
  void aSilentNamenodeIsNamedAndDoesNotHoldThePageUp() throws Exception {
    try (SparkOnCrail two = new SparkOnCrail(EmbeddedCrail.builder().namenodes(2));
        Valve valve = new Valve(two.cluster().namenodeAddresses().get(1))) {
      int first = two.cluster().namenodeAddresses().get(0).getPort();
      SparkConf conf =
          two.conf("local[1]", local)
              .set(
                  "spark.crail.namenode.address",
                  "crail://127.0.0.1:" + first + "," + valve.address())
              .set("spark.crail.rpctimeout", "120s")
              .set("spark.ui.enabled", "true")
              .set("spark.ui.port", "0")
              .set("spark.plugins", CrailPlugin.class.getName());
      try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
        spark
            .parallelize(List.of(1, 2, 3), 2)
            .mapToPair(number -> new Tuple2<>(number, number))
            .groupByKey(1)
            .count();
        String page = spark.sc().uiWebUrl().get() + "/crail/";
        assertEquals("8", rows(fetch(page)).get(1).get(1));
        valve.hold(true);
        String part = fetch(page);
        valve.hold(false);
        String silent = "no answer from namenode 1 at 127.0.0.1:" + valve.port();
        assertTrue(part.contains(silent), part);
        assertTrue(Integer.parseInt(rows(part).get(1).get(1)) < 8, part);
        String whole = fetch(page);
        assertEquals("8", rows(whole).get(1).get(1), whole);
        assertFalse(whole.contains("no answer"), whole);
      }
    }
  }

  @Test
  void executorsThatComeLateAreOneRow() {
    TaskStatistics statistics = new TaskStatistics();
    for (int i = 0; i < TaskStatistics.MOST_ROWS + 5; i++) {
      statistics.add(new Row("executor " + i, 1, 2, 0));
    }
    statistics.add(new Row("executor 3", 10, 20, 1));
    assertEquals(TaskStatistics.MOST_ROWS + 1, statistics.rows().size());
    assertTrue(statistics.rows().contains(new Row("others", 5, 10, 0)), "others");
    assertTrue(statistics.rows().contains(new Row("executor 3", 11, 22, 1)), "known");
  }
}
