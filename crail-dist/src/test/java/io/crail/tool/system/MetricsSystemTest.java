/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.conf.CrailConfiguration;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import io.crail.tool.Ran;
import io.crail.tool.YamlFiles;
import io.crail.tool.metrics.Metric;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** What servers report about themselves over HTTP and in their logs, while they work and fail. */
@Tag("once")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MetricsSystemTest {
  private static final int BYTES = 300_000;
  private static final int SECTOR = 512;
  private static final int SECTORS = (9 << 20) / SECTOR;
  private static final Path EXAMPLES = Path.of("..", "conf", "monitoring");
  private static final Path COMPOSE = Path.of("..", "deploy", "container", "compose.yaml");
  private static final Pattern NAME =
      Pattern.compile("\\b(crail_(ready|(namenode|datanode)_[a-z0-9_]+)|(jvm|process)_[a-z0-9_]+)");
  private static final Pattern CHOSEN =
      Pattern.compile("\\b(crail_[a-z_]+)\\{([a-z]+)=\"([^\"]+)\"");
  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

  @TempDir private static Path logs;
  private static NvmeTarget target;
  private static ProcessCluster cluster;
  private static CrailProcess flash;
  private static HttpClient http;
  private static String datanode;

  @BeforeAll
  static void start() throws Exception {
    target = new NvmeTarget(new TargetOptions(), new TargetNamespace(1, SECTORS, SECTOR));
    cluster =
        ProcessCluster.startSmall(
            "",
            Map.of(
                "crail.metrics.address", "127.0.0.1:0",
                "crail.namenode.slowoperation", "1ms",
                "crail.namenode.durability", "sync",
                "crail.namenode.datapath", logs.toString(),
                "crail.storage.keepalive", "200ms",
                "crail.storage.types", "tcp,nvmf",
                "crail.storage.localmap", "false"));
    http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(30)).build();
    datanode = url(cluster.datanode(0));
    flash = cluster.crail("datanode", "-t", "nvmf", "--", "-t", target.text());
    flash.await("^datanode \\S+ serves .+, registered$", ProcessCluster.PATIENCE);
  }

  @AfterAll
  static void stop() throws Exception {
    if (flash != null) {
      flash.close();
    }
    if (cluster != null) {
      cluster.close();
    }
    target.close();
    assertEquals(List.of(), target.complaints());
  }

  private static String url(CrailProcess server) throws Exception {
    Matcher line = server.await("^metrics are at (http://\\S+)/metrics$", ProcessCluster.PATIENCE);
    return line.group(1);
  }

  private static String namenode() throws Exception {
    return url(cluster.namenode(0));
  }

  private static HttpResponse<String> get(String url, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url)).timeout(ProcessCluster.PATIENCE);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static PrometheusText scrape(String server) throws Exception {
    HttpResponse<String> answer = get(server + "/metrics");
    assertEquals(200, answer.statusCode());
    assertEquals(TEXT, answer.headers().firstValue("Content-Type").orElse(""));
    return new PrometheusText(answer.body());
  }

  private static CrailStore open() throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  private static void create(CrailStore store, String path, CrailNodeType type) throws Exception {
    store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS);
  }

  private static void writeToFlash(CrailStore store, String path) throws Exception {
    var file =
        store
            .create(
                path,
                CrailNodeType.DATAFILE,
                CrailStorageClass.get(1),
                CrailLocationClass.DEFAULT,
                true)
            .get(60, TimeUnit.SECONDS)
            .asFile();
    try (var out = file.getBufferedOutputStream(BYTES)) {
      out.write(new byte[BYTES]);
    }
  }

  private static int read(CrailStore store, String path) throws Exception {
    var file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    try (var in = file.getBufferedInputStream(BYTES)) {
      return in.readNBytes(BYTES + 1).length;
    }
  }

  private static void write(CrailStore store, String path) throws Exception {
    try (var out = DataFiles.create(store, path).getBufferedOutputStream(BYTES)) {
      out.write(new byte[BYTES]);
    }
  }

  /** Makes the namenode answer with an error. */
  private static void removeNothing(CrailStore store) {
    Exception refusal =
        assertThrows(
            Exception.class, () -> store.delete("/nothing", false).get(60, TimeUnit.SECONDS));
    assertTrue(refusal.toString().contains("no such node"), refusal::toString);
  }

  private static String times(String operation) {
    return "crail_namenode_operation_seconds_count{operation=\"" + operation + "\"}";
  }

  @Test
  void valuesFollowWhatIsDone() throws Exception {
    PrometheusText before = scrape(namenode());
    PrometheusText datanodeBefore = scrape(datanode);
    CrailStore store = open();
    try {
      write(store, "/values");
      removeNothing(store);
      CompoundOperation guarded =
          CompoundOperation.builder().requireEpoch(Comparison.AT_LEAST, 1).build();
      assertFalse(store.operate("/values", guarded).get(60, TimeUnit.SECONDS).isSuccess());
    } finally {
      store.close();
    }
    PrometheusText after = scrape(namenode());
    assertEquals(before.value(times("create")) + 1, after.value(times("create")));
    String files = "crail_namenode_nodes{type=\"datafile\"}";
    assertEquals(1, after.value(files) - before.value(files));
    assertTrue(after.value("crail_namenode_nodes{type=\"directory\"}") >= 1);
    assertTrue(after.value("crail_namenode_transport{figure=\"waiting-connections\"}") >= 0);
    assertTrue(after.value("crail_namenode_used_bytes{class=\"0\"}") >= BYTES);
    assertEquals(
        after.value("crail_namenode_capacity_bytes{class=\"0\"}"),
        after.value("crail_namenode_used_bytes{class=\"0\"}")
            + after.value("crail_namenode_free_bytes{class=\"0\"}")
            + after.value("crail_namenode_waiting_bytes{class=\"0\"}"));
    assertEquals(2, after.value("crail_namenode_datanodes{state=\"online\"}"));
    assertEquals(0, after.value("crail_namenode_lost_bytes{class=\"0\"}"));
    assertEquals(1, after.value("crail_ready"));
    assertTrue(
        after.value("crail_namenode_errors_total{error=\"node_not_found\",operation=\"remove\"}")
            >= 1);
    // A list of steps whose guard does not hold has an answer, and is no error.
    String failed = "crail_namenode_failed_lists_total{error=\"condition_failed\"}";
    assertEquals(before.value(failed) + 1, after.value(failed));
    PrometheusText datanodeAfter = scrape(datanode);
    String written = "crail_datanode_transferred_bytes_total{direction=\"write\"}";
    assertEquals(BYTES, datanodeAfter.value(written) - datanodeBefore.value(written));
    assertEquals(64 << 20, datanodeAfter.value("crail_datanode_lent_bytes"));
  }

  @Test
  void openMetricsAreServedToThoseWhoAsk() throws Exception {
    HttpResponse<String> answer =
        get(namenode() + "/metrics", "Accept", "application/openmetrics-text; version=1.0.0");
    assertEquals(
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        answer.headers().firstValue("Content-Type").orElse(""));
    assertTrue(answer.body().endsWith("# EOF\n"));
  }

  /** Each name and each label in the examples and pages exists. */
  @Test
  void examplesNameWhatThereIs() throws Exception {
    CrailStore store = open();
    try {
      removeNothing(store);
    } finally {
      store.close();
    }
    List<PrometheusText> scraped =
        List.of(scrape(namenode()), scrape(datanode), scrape(url(flash)));
    TreeSet<String> known = new TreeSet<>();
    scraped.forEach(each -> known.addAll(each.names()));
    for (Metric metric : Metric.values()) {
      if (StandbyWatchSystemTest.isOfPeers(metric)) {
        // That test finds them.
        known.add(metric.fullName());
      }
      boolean isThere = known.stream().anyMatch(name -> name.startsWith(metric.fullName()));
      assertTrue(isThere, () -> metric.fullName() + " among " + known);
    }
    scraped.forEach(each -> known.addAll(each.families()));
    TreeSet<String> unknown = new TreeSet<>();
    for (String file : List.of("crail-alerts.yml", "crail-dashboard.json")) {
      String text = Files.readString(EXAMPLES.resolve(file)).replace("\\\"", "\"");
      assertTrue(unknownNames(text, file, known, unknown) > 5, file);
      Matcher chosen = CHOSEN.matcher(text);
      while (chosen.find()) {
        if (scraped.stream()
            .noneMatch(s -> s.hasLabel(chosen.group(1), chosen.group(2), chosen.group(3)))) {
          unknown.add(file + ": " + chosen.group());
        }
      }
    }
    try (Stream<Path> pages = Files.walk(Path.of("..", "docs"))) {
      for (Path page : pages.filter(path -> path.toString().endsWith(".md")).toList()) {
        unknownNames(Files.readString(page), page.toString(), known, unknown);
      }
    }
    assertEquals(new TreeSet<>(), unknown);
  }

  /** Adds the unknown names, and counts all. */
  private static int unknownNames(
      String text, String file, TreeSet<String> known, TreeSet<String> unknown) {
    Matcher named = NAME.matcher(text);
    int count = 0;
    while (named.find()) {
      count++;
      if (!known.contains(named.group())) {
        unknown.add(file + ": " + named.group());
      }
    }
    return count;
  }

  /** By metrics, probes and commands, until it is back. */
  @Test
  void aLostTargetIsSeen() throws Exception {
    String reached = "crail_datanode_target_reached{target=\"" + target.text() + "\"}";
    String used = "crail_namenode_used_bytes{class=\"1\"}";
    assertEquals(1, scrape(url(flash)).value(reached));
    CrailStore store = open();
    try {
      writeToFlash(store, "/kept");
      double before = scrape(namenode()).value(used);
      assertTrue(before >= BYTES, before + " bytes");
      target.down();
      Await.until(
          "the datanode is not ready",
          ProcessCluster.PATIENCE,
          () -> get(url(flash) + "/ready").statusCode() == 503);
      String sentence = get(url(flash) + "/ready").body();
      assertEquals("target " + target.text() + " is lost\n", sentence);
      assertEquals(200, get(url(flash) + "/health").statusCode());
      assertEquals(0, scrape(url(flash)).value(reached));
      Await.until(
          "the namenode knows it",
          ProcessCluster.PATIENCE,
          () -> scrape(namenode()).value("crail_namenode_datanodes{state=\"impaired\"}") == 1);
      String line = cluster.run("datanodes").stdout();
      assertTrue(Pattern.compile("(?m)^\\S+  impaired +nvmf ").matcher(line).find(), line);
      CrailProcess status = cluster.run("status");
      assertEquals(1, status.awaitExit(ProcessCluster.PATIENCE), status.stdout());
      assertTrue(status.stdout().contains(" has lost a target, "), status.stdout());
      writeToFlash(store, "/elsewhere");
      assertEquals(BYTES, read(store, "/elsewhere"));
      assertEquals(before, scrape(namenode()).value(used));
      target.up();
      Await.until(
          "the datanode is ready again",
          ProcessCluster.PATIENCE,
          () -> get(url(flash) + "/ready").statusCode() == 200);
      Await.until(
          "the namenode knows it",
          ProcessCluster.PATIENCE,
          () -> scrape(namenode()).value("crail_namenode_datanodes{state=\"online\"}") == 2);
      assertEquals(1, scrape(url(flash)).value(reached));
      assertEquals(BYTES, read(store, "/kept"));
    } finally {
      store.close();
    }
  }

  /** Comes last, since space rests for some time after the start of a namenode. */
  @Test
  @Order(Integer.MAX_VALUE)
  void datanodeIsReadyWhileItsNamenodeKnowsIt() throws Exception {
    assertEquals(200, get(datanode + "/ready").statusCode());
    assertEquals(200, get(namenode() + "/ready").statusCode());
    cluster.namenode(0).kill();
    Await.until(
        "the datanode is not ready",
        ProcessCluster.PATIENCE,
        () -> get(datanode + "/ready").statusCode() == 503);
    String sentence = get(datanode + "/ready").body();
    assertTrue(sentence.matches("namenode 127.0.0.1:\\d+ has not answered for \\d+ s\n"), sentence);
    assertEquals(200, get(datanode + "/health").statusCode());
    assertEquals(0, scrape(datanode).value("crail_ready"));
    cluster.restartNamenode(0);
    Await.until(
        "the datanode is ready again",
        ProcessCluster.PATIENCE,
        () -> get(datanode + "/ready").statusCode() == 200);
  }

  @Test
  void aRemovedDatanodeThatStaysLendsNothing() throws Exception {
    List<String> before = cluster.leftovers();
    try (CrailProcess stays =
        cluster.crail(
            "datanode", "--stay", "--", "-d", "" + cluster.dataPath(), "-s", "16m", "-p", "0")) {
      String serves = "^datanode (\\S+) serves .+ on (\\S+), registered$";
      Matcher line = stays.await(serves, ProcessCluster.PATIENCE);
      assertEquals(200, get(url(stays) + "/ready").statusCode());
      assertEquals(16 << 20, scrape(url(stays)).value("crail_datanode_lent_bytes"));
      assertNotEquals(before, cluster.leftovers());
      assertEquals(0, cluster.run("drain", line.group(2)).awaitExit(ProcessCluster.PATIENCE));
      stays.await(
          "^datanode \\S+ was removed and lends nothing any more; it stays until SIGTERM$",
          ProcessCluster.PATIENCE);
      assertEquals(before, cluster.leftovers());
      // The namenode remembers it for a moment, should its answer have got lost.
      Await.until(
          "the namenode lists it no more",
          ProcessCluster.PATIENCE,
          () -> !Ran.run(cluster.directory(), "datanodes").stdout().contains(line.group(2)));
      assertEquals(200, get(url(stays) + "/health").statusCode());
      HttpResponse<String> ready = get(url(stays) + "/ready");
      assertEquals(503, ready.statusCode());
      assertEquals(
          "the namenodes have removed this datanode; it lends nothing any more\n", ready.body());
      assertEquals(0, scrape(url(stays)).value("crail_datanode_lent_bytes"));
      stays.terminate();
      assertEquals(143, stays.awaitExit(ProcessCluster.PATIENCE));
    }
  }

  /** The health check of the compose file, at the port of a server and where no program listens. */
  @Test
  void containersAreHealthyWhileTheyAnswer() throws Exception {
    Object compose = YamlFiles.documents(COMPOSE).get(0);
    for (String service : List.of("namenode", "datanode")) {
      String health = "services/" + service + "/healthcheck/test";
      List<String> command =
          YamlFiles.list(compose, health).stream().map(String.class::cast).toList();
      assertEquals("CMD", command.get(0));
      assertEquals(0, healthCheck(command, URI.create(namenode()).getPort()));
      int unused;
      try (ServerSocket free = new ServerSocket(0)) {
        unused = free.getLocalPort();
      }
      assertNotEquals(0, healthCheck(command, unused));
    }
  }

  private static int healthCheck(List<String> command, int port) throws Exception {
    List<String> here =
        command.stream().skip(1).map(word -> word.replace("/9070", "/" + port)).toList();
    Process process = new ProcessBuilder(here).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), said);
    return process.exitValue();
  }

  @Test
  void slowOperationsAreLogged() throws Exception {
    CrailStore store = open();
    try {
      create(store, "/slow", CrailNodeType.DIRECTORY);
      int[] count = new int[1];
      // The first operations of a JVM are slow, and sooner or later one waits for a processor.
      untilLogged(
          "slow operation: \\S+ of 127.0.0.1:\\d+ took \\d+ us: \\S+",
          () -> {
            for (int i = 0; i < 100; i++) {
              create(store, "/slow/" + count[0]++, CrailNodeType.DATAFILE);
            }
            return true;
          });
    } finally {
      store.close();
    }
  }

  @Test
  void levelsOfTheLogChangeWhileItRuns() throws Exception {
    Path file = cluster.directory().resolve("log4j2-server.xml");
    String before = Files.readString(file);
    String logger = "<Logger name=\"io.crail.tool.metrics\" level=\"debug\"/>";
    Files.writeString(file, before.replace("<Loggers>", "<Loggers>\n" + logger));
    untilLogged(
        "DEBUG .*HttpPort: a request for metrics has failed",
        () -> {
          // The server finds that its client has broken the connection off.
          try (Socket socket = new Socket("127.0.0.1", URI.create(namenode()).getPort())) {
            socket.setSoLinger(true, 0);
            socket.getOutputStream().write('G');
          }
          return true;
        });
  }

  private static void untilLogged(String pattern, Callable<Boolean> action) throws Exception {
    Pattern line = Pattern.compile(pattern);
    Await.until(
        "a line of the log like " + pattern,
        ProcessCluster.PATIENCE,
        () -> action.call() && line.matcher(cluster.namenode(0).stderr()).find());
  }

  @Test
  void scrapesAndWorkGoOnTogether() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    AtomicBoolean ended = new AtomicBoolean();
    CrailStore store = open();
    try {
      String namenode = namenode();
      List<Future<Double>> scrapes = new ArrayList<>();
      for (String server : List.of(namenode, datanode)) {
        scrapes.add(
            threads.submit(
                () -> {
                  double count = 0;
                  while (!ended.get() || count == 0) {
                    scrape(server);
                    count++;
                  }
                  return count;
                }));
      }
      double before = scrape(namenode).value(times("create"));
      for (int i = 0; i < 500; i++) {
        create(store, "/together" + i, CrailNodeType.DATAFILE);
      }
      ended.set(true);
      for (Future<Double> count : scrapes) {
        assertTrue(count.get(60, TimeUnit.SECONDS) > 0);
      }
      assertEquals(500, scrape(namenode).value(times("create")) - before);
    } finally {
      ended.set(true);
      threads.shutdownNow();
      store.close();
    }
  }
}
