/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The web page of a cluster of two namenodes and two datanodes: what it is made of, over HTTP, and
 * what a real browser makes of it. Without a browser (see {@link Browser#program}), those tests are
 * skipped.
 */
@Tag("once")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class WebPageSystemTest {
  private static final int BYTES = 3 << 20;
  private static final int CHILDREN = 450;
  private static final int SPREAD_CHILDREN = 250;
  private static final int LAST = Integer.MAX_VALUE;

  /** Names that strangers could think of; the last one would turn the text after it around. */
  private static final List<String> HOSTILE =
      List.of(
          "<img src=x onerror=\"document.title='broken'\">",
          "<script>document.title='broken'<",
          "a&amp;b?c#d%2f+e'\"\\",
          "line\nbreak",
          "\ud83d\ude00 \u00e9",
          "\u202egnp.exe");

  /** The same as the page is to show them. */
  private static final Map<String, String> SHOWN =
      Map.of("line\nbreak", "line\\u000abreak", "\u202egnp.exe", "\\u202egnp.exe");

  private static ProcessCluster cluster;
  private static CrailStore store;
  private static HttpClient http;
  private static String page;
  private static Browser browser;

  @BeforeAll
  static void start() throws Exception {
    cluster =
        ProcessCluster.start(
            2,
            0,
            Map.of("crail.metrics.address", "127.0.0.1:0", "crail.storage.keepalive", "200ms"));
    // Now they learn each other's ports.
    cluster.restartNamenode(0);
    cluster.restartNamenode(1);
    cluster.startDatanode("64m", -1);
    cluster.startDatanode("64m", -1);
    http = HttpClient.newBuilder().connectTimeout(ProcessCluster.PATIENCE).build();
    Matcher line =
        cluster
            .namenode(0)
            .await("^the cluster's page is at (http://\\S+/)$", ProcessCluster.PATIENCE);
    page = line.group(1);
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    create("/many", CrailNodeType.DIRECTORY);
    for (int i = 0; i < CHILDREN; i++) {
      create("/many/" + i, CrailNodeType.DATAFILE);
    }
    create("/names", CrailNodeType.DIRECTORY);
    for (String name : HOSTILE) {
      create("/names/" + name, CrailNodeType.DIRECTORY);
    }
    // Some at each namenode.
    for (int i = 0; i < 8; i++) {
      create("/top" + i, CrailNodeType.TABLE);
    }
    store
        .createSpread(
            "/wide",
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get(60, TimeUnit.SECONDS);
    for (int i = 0; i < SPREAD_CHILDREN; i++) {
      create("/wide/" + i, CrailNodeType.DATAFILE);
    }
    write("/top0/key", CrailNodeType.KEYVALUE, 100);
    write("/file", CrailNodeType.DATAFILE, BYTES);
  }

  @AfterAll
  static void stop() throws Exception {
    try {
      if (browser != null) {
        browser.close();
      }
      if (store != null) {
        store.close();
      }
    } finally {
      if (cluster != null) {
        cluster.close();
      }
    }
  }

  private static CrailNode create(String path, CrailNodeType type) throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS);
  }

  private static void write(String path, CrailNodeType type, int bytes) throws Exception {
    CrailNode node = create(path, type);
    CrailFile file = type == CrailNodeType.KEYVALUE ? node.asKeyValue() : node.asFile();
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(bytes)) {
      out.write(new byte[bytes]);
    }
  }

  private static HttpResponse<String> get(String path) throws Exception {
    return send(request(path));
  }

  /** As the page itself asks. */
  private static HttpResponse<String> getAsPage(String path) throws Exception {
    return send(request(path).header("X-Crail-Page", "1"));
  }

  private static HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(page + path)).timeout(ProcessCluster.PATIENCE);
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static Map<?, ?> json(String path) throws Exception {
    HttpResponse<String> answer = getAsPage(path);
    assertEquals(200, answer.statusCode(), answer::body);
    assertEquals("application/json", answer.headers().firstValue("Content-Type").orElse(""));
    return parse(answer.body());
  }

  private static Map<?, ?> parse(String json) {
    // JSON is YAML, as long as the text has no strange characters.
    return (Map<?, ?>) new Yaml(new SafeConstructor(new LoaderOptions())).load(json);
  }

  private static List<Map<?, ?>> maps(Object list) {
    List<Map<?, ?>> maps = new ArrayList<>();
    ((List<?>) list).forEach(each -> maps.add((Map<?, ?>) each));
    return maps;
  }

  private static List<Map<?, ?>> datanodes() throws Exception {
    return report("datanodes");
  }

  private static List<Map<?, ?>> report(String part) throws Exception {
    return maps(((Map<?, ?>) json("api/cluster.json").get("report")).get(part));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** The children of a container by their names; a name that comes twice fails. */
  private static Map<String, Map<?, ?>> list(String path) throws Exception {
    Map<String, Map<?, ?>> children = new LinkedHashMap<>();
    Object after = "";
    while (after != null) {
      Map<?, ?> answer =
          json("api/list?path=" + encoded(path) + "&after=" + encoded(after.toString()));
      assertEquals(path, answer.get("path"));
      List<Map<?, ?>> entries = maps(answer.get("entries"));
      assertTrue(entries.size() <= 200, () -> entries.size() + " in one answer");
      for (Map<?, ?> entry : entries) {
        assertEquals(null, children.put(entry.get("name").toString(), entry));
      }
      after = answer.get("next");
    }
    return children;
  }

  @Test
  void filesAreOfThisPortAndMayDoNothingElse() throws Exception {
    for (String file : List.of("", "page.css", "page.js")) {
      HttpResponse<String> answer = get(file);
      assertEquals(200, answer.statusCode());
      String policy = answer.headers().firstValue("Content-Security-Policy").orElse("");
      assertTrue(policy.startsWith("default-src 'none'; script-src 'self';"), policy);
      assertFalse(policy.contains("unsafe"), policy);
      assertEquals(
          "nosniff", answer.headers().firstValue("X-Content-Type-Options").orElse(""), file);
      // The one address in them is the name of a namespace.
      String plain = answer.body().replace("http://www.w3.org/2000/svg", "");
      assertFalse(plain.contains("//") && plain.matches("(?s).*https?://.*"), file);
      for (String markup : List.of("innerHTML", "outerHTML", "insertAdjacent", "document.write")) {
        assertFalse(plain.contains(markup), markup);
      }
    }
    String html = get("").body();
    Matcher reference = Pattern.compile("(?:src|href)=\"([^\"]*)\"").matcher(html);
    TreeSet<String> files = new TreeSet<>();
    while (reference.find()) {
      if (!reference.group(1).matches("#.*|data:,")) {
        files.add(reference.group(1));
      }
    }
    assertEquals(
        new TreeSet<>(List.of("api/cluster.json", "metrics", "page.css", "page.js")), files);
  }

  @Test
  void showsTheStateOfTheCluster() throws Exception {
    List<Map<?, ?>> namenodes = report("namenodes");
    assertEquals(2, namenodes.size());
    for (Map<?, ?> namenode : namenodes) {
      assertEquals(true, namenode.get("answers"), namenode::toString);
      // Both have served the creation of nodes in the root.
      assertTrue((int) namenode.get("requests") > 0, namenode::toString);
      assertTrue(((Number) namenode.get("requestNanos")).longValue() > 0, namenode::toString);
    }
    assertEquals(
        CHILDREN + SPREAD_CHILDREN + HOSTILE.size() + 13,
        namenodes.stream().mapToInt(each -> (int) each.get("objects")).sum());
    assertTrue(
        namenodes.stream().mapToInt(each -> (int) each.get("committedBytes")).sum() >= BYTES + 100,
        namenodes::toString);
    List<Map<?, ?>> datanodes = datanodes();
    assertEquals(2, datanodes.size());
    Map<?, ?> space = report("classes").get(0);
    for (String count : List.of("lentBytes:capacityBytes", "usedBytes:usedBytes")) {
      String[] names = count.split(":");
      assertEquals(
          space.get(names[1]),
          datanodes.stream().mapToInt(each -> (int) each.get(names[0])).sum(),
          count);
    }
    assertTrue((int) space.get("usedBytes") >= BYTES, space::toString);
    Map<?, ?> state = json("api/cluster.json");
    assertEquals(0, state.get("servedBy"));
    Map<?, ?> create =
        maps(state.get("operations")).stream()
            .filter(each -> each.get("name").equals("create"))
            .findFirst()
            .orElseThrow();
    List<?> buckets = (List<?>) create.get("buckets");
    assertEquals(create.get("count"), buckets.stream().mapToInt(each -> (int) each).sum());
  }

  /** A TCP datanode counts the bytes that pass through it, from one sign of life to the next. */
  @Test
  void showsWhatDatanodesServe() throws Exception {
    CrailConfiguration remote =
        CrailConfiguration.of(cluster.configuration("crail.storage.localmap", "false"));
    try (CrailStore client = CrailStore.newInstance(remote)) {
      Await.until(
          "both datanodes serve bytes",
          ProcessCluster.PATIENCE,
          () -> {
            CrailFile file = DataFiles.create(client, "/served");
            try (CrailBufferedOutputStream out = file.getBufferedOutputStream(BYTES)) {
              out.write(new byte[BYTES]);
            }
            try (CrailBufferedInputStream in = file.getBufferedInputStream(BYTES)) {
              assertEquals(BYTES, in.readAllBytes().length);
            }
            client.delete("/served", false).get(60, TimeUnit.SECONDS);
            return datanodes().stream()
                .allMatch(each -> rate(each, "readRate") > 0 && rate(each, "writeRate") > 0);
          });
    }
  }

  private static long rate(Map<?, ?> datanode, String name) {
    return ((Number) datanode.get(name)).longValue();
  }

  @Test
  void listsAllChildrenInParts() throws Exception {
    Map<String, Map<?, ?>> many = list("/many");
    assertEquals(CHILDREN, many.size());
    assertEquals("file", many.get("7").get("type"));
    assertEquals(new TreeSet<>(HOSTILE), new TreeSet<>(list("/names").keySet()));
    Map<String, Map<?, ?>> root = list("/");
    // Four more, and the eight tables.
    assertEquals(12, root.size(), root::toString);
    assertEquals(CHILDREN, root.get("many").get("children"));
    assertEquals(null, root.get("many").get("note"));
    assertEquals("spread", root.get("wide").get("note"));
    assertEquals("directory", root.get("wide").get("type"));
    assertEquals("spread", json("api/node?path=/wide").get("note"));
    assertEquals(SPREAD_CHILDREN, list("/wide").size());
    assertEquals(BYTES, root.get("file").get("size"));
    assertEquals("table", root.get("top7").get("type"));
  }

  @Test
  void showsWhereBytesAre() throws Exception {
    Map<?, ?> file = json("api/node?path=/file");
    assertEquals(BYTES, file.get("size"));
    List<Map<?, ?>> places = maps(file.get("places"));
    assertEquals(
        BYTES, places.stream().mapToInt(place -> (int) place.get("bytes")).sum(), places::toString);
    TreeSet<String> addresses = new TreeSet<>();
    for (int i = 0; i < 2; i++) {
      addresses.add("127.0.0.1:" + cluster.datanodeAddress(i).getPort());
    }
    for (Map<?, ?> place : places) {
      assertTrue(addresses.contains(place.get("datanode")), place::toString);
    }
    Map<?, ?> small = json("api/node?path=/top0/key");
    assertEquals(true, small.get("heldByNamenode"));
    assertEquals(List.of(), small.get("places"));
  }

  @Test
  void answersWithStatusAndSentence() throws Exception {
    Map<String, Integer> statuses =
        Map.of(
            "api/list?path=/nothing",
            404,
            "api/list?path=/file",
            404,
            "api/list?path=/a/../b",
            400,
            "api/list?path=/many&after=1",
            400,
            "api/list?path=/" + "x".repeat(300),
            400,
            "api/node?path=/nothing",
            404,
            "api/applications.json",
            403,
            "api/nothing",
            404);
    for (Map.Entry<String, Integer> each : statuses.entrySet()) {
      HttpResponse<String> answer = get(each.getKey());
      assertEquals(each.getValue(), answer.statusCode(), each.getKey());
      assertTrue(answer.body().matches("[^\n]{10,}\n"), answer.body());
    }
    assertTrue(ask("/api/list?path=%zz", "localhost").startsWith("HTTP/1.1 400 "));
    HttpRequest post =
        HttpRequest.newBuilder(URI.create(page + "api/list"))
            .POST(HttpRequest.BodyPublishers.noBody())
            .timeout(ProcessCluster.PATIENCE)
            .build();
    assertEquals(405, http.send(post, HttpResponse.BodyHandlers.ofString()).statusCode());
    // What a browser asks before it lets another site send a header of the page.
    HttpResponse<String> refusal =
        send(
            request("api/list")
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                .header("Access-Control-Request-Headers", "x-crail-page"));
    assertEquals(405, refusal.statusCode());
    assertEquals(
        List.of(),
        refusal.headers().map().keySet().stream()
            .filter(name -> name.toLowerCase(Locale.ROOT).startsWith("access-control"))
            .toList());
  }

  /** As in a browser in which a site has given its own name the address of this host. */
  @Test
  void aForeignNameOfTheHostIsRefused() throws Exception {
    for (String path : List.of("/", "/page.js", "/api/cluster.json", "/api/list?path=/")) {
      assertTrue(ask(path, "evil.example:9070").startsWith("HTTP/1.1 403 "), path);
      assertTrue(ask(path, "localhost:9070").startsWith("HTTP/1.1 200 "), path);
    }
    assertTrue(ask("/health", "any.name").startsWith("HTTP/1.1 200 "));
  }

  private static String ask(String path, String host) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", URI.create(page).getPort())) {
      socket.setSoTimeout((int) ProcessCluster.PATIENCE.toMillis());
      String request = "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void browsersTogetherCostNoMoreThanOne() throws Exception {
    String reports = "crail_namenode_operation_seconds_count{operation=\"usage\"}";
    double before = new PrometheusText(get("metrics").body()).value(reports);
    long began = System.nanoTime();
    for (int i = 0; i < 300; i++) {
      assertEquals(200, get("api/cluster.json").statusCode());
    }
    double asked = new PrometheusText(get("metrics").body()).value(reports) - before;
    double seconds = (System.nanoTime() - began) / 1e9;
    assertTrue(asked <= seconds + 1, () -> asked + " times in " + seconds + " s");
    // Requests for the namespace are refused from a number on, and served again afterwards.
    long deadline = System.nanoTime() + ProcessCluster.PATIENCE.toNanos();
    while (get("api/list?path=/names").statusCode() != 429) {
      assertTrue(System.nanoTime() - deadline < 0, "nothing was refused");
    }
    // The page itself has room left: only its own scripts can send this header.
    assertEquals(200, getAsPage("api/list?path=/names").statusCode());
    Await.until(
        "it is served again",
        ProcessCluster.PATIENCE,
        () -> get("api/list?path=/names").statusCode() == 200);
  }

  // ---- In a browser ----

  private static Browser browser() throws Exception {
    Optional<Path> program = Browser.program();
    Assumptions.assumeTrue(program.isPresent(), "no Chromium is installed");
    if (browser == null) {
      browser = Browser.start(program.get());
    }
    return browser;
  }

  private static Browser open(String where, int width, boolean dark) throws Exception {
    Browser tab = browser();
    tab.openPage(page + where, width, dark);
    return tab;
  }

  /** What axe-core finds, with the places. */
  private static Object barriers(Browser tab) throws Exception {
    tab.evaluate(axe());
    return tab.evaluate(
        "axe.run().then(r => r.violations.map(v => v.id + ' at ' + v.nodes.map(n =>"
            + " n.target + ': ' + n.failureSummary).join('; ')).join('\\n'))");
  }

  private static String axe() throws Exception {
    ClassLoader loader = WebPageSystemTest.class.getClassLoader();
    Properties jar = new Properties();
    String pom = "META-INF/maven/org.webjars.npm/axe-core/pom.properties";
    try (InputStream in = loader.getResourceAsStream(pom)) {
      jar.load(in);
    }
    String script =
        "META-INF/resources/webjars/axe-core/" + jar.getProperty("version") + "/axe.min.js";
    try (InputStream in = loader.getResourceAsStream(script)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aBrowserShowsNoVerdictThatMayBeOutOfDate() throws Exception {
    Browser tab = open("", 1280, false);
    tab.await(Browser.textOf("#verdict") + " === '\u25cf healthy'");
    // A cure that was shown may not stay either.
    tab.evaluate("document.querySelector('#findings').textContent = 'a finding'");
    tab.evaluate("window.fetch = () => Promise.reject(new TypeError('out of reach'))");
    tab.await(Browser.textOf("#verdict") + " === '\u2716 no answer'");
    assertEquals("", tab.evaluate(Browser.textOf("#findings")));
  }

  @Test
  void aBrowserShowsTheClusterWithoutBarriers() throws Exception {
    for (boolean dark : List.of(false, true)) {
      for (int width : List.of(1280, 390, 1920)) {
        Browser tab = open("", width, dark);
        tab.await(Browser.has("#rate path.curve[d*=L]"));
        String name = (dark ? "dark" : "light") + "-" + width;
        tab.keep(name);
        assertEquals("", barriers(tab), name);
        assertEquals(
            true,
            tab.evaluate("document.documentElement.scrollWidth <= innerWidth"),
            name + " is wider than the window");
        assertEquals(
            "",
            tab.evaluate(
                "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth)"
                    + ".map(e => e.getAttribute('aria-labelledby')).join(' ')"),
            name + ": tables that are cut off");
        assertEquals(List.of(), tab.complaints(), name);
      }
    }
    Browser tab = open("", 1280, false);
    for (int i = 0; i < 2; i++) {
      String datanodes = tab.evaluate(Browser.textOf("#datanode-rows")).toString();
      assertTrue(datanodes.contains("127.0.0.1:" + cluster.datanodeAddress(i).getPort()));
      String namenodes = tab.evaluate(Browser.textOf("#namenode-rows")).toString();
      assertTrue(namenodes.contains("127.0.0.1:" + cluster.namenodeAddress(i).getPort()));
    }
    tab.await(Browser.textOf("#node-rows") + ".includes('directory, spread')");
    // Of what no program asks for now, nothing is shown unless it is asked for.
    tab.await(Browser.textOf("#operation-rows") + ".includes('usage')");
    assertEquals(false, tab.evaluate(Browser.textOf("#operation-rows") + ".includes('create')"));
    tab.evaluate("document.getElementById('idle').click()");
    tab.await(Browser.textOf("#operation-rows") + ".includes('create')");
    assertEquals("\u25cf healthy", tab.evaluate(Browser.textOf("#verdict")));
  }

  @Test
  void aBrowserShowsStrangeNamesAsText() throws Exception {
    Browser tab = open("#path=%2Fnames", 1280, false);
    tab.await("document.querySelectorAll('#node-rows tr').length === " + HOSTILE.size());
    String names =
        tab.evaluate(
                "JSON.stringify([...document.querySelectorAll('#node-rows th')]"
                    + ".map(e => encodeURIComponent(e.textContent)))")
            .toString();
    for (String name : HOSTILE) {
      String shown = encoded(SHOWN.getOrDefault(name, name)).replace("+", "%20");
      assertTrue(
          names.replace("'", "%27").replace("(", "%28").replace(")", "%29").contains(shown),
          () -> shown + " in " + names);
    }
    assertEquals(
        false, tab.evaluate(Browser.has("main img") + " || " + Browser.has("main script")));
    tab.keep("names");
    // Each link leads to its own node.
    for (String name : HOSTILE) {
      tab.evaluate(
          "[...document.querySelectorAll('#node-rows a')].find(a => decodeURIComponent(a.hash)"
              + " === '#path=/names/' + decodeURIComponent('"
              + encoded(name).replace("+", "%20")
              + "')).click()");
      tab.await(Browser.textOf("#listing") + ".startsWith('0 children of /names/')");
      tab.evaluate("history.back()");
      tab.await("document.querySelectorAll('#node-rows tr').length === " + HOSTILE.size());
    }
    assertEquals(List.of(), tab.complaints());
    assertEquals(false, tab.evaluate("document.title === 'broken'"));
  }

  @Test
  void aBrowserIsUsedByKeyboard() throws Exception {
    Browser tab = open("", 1280, false);
    tab.press("Tab", 9, "");
    assertEquals("Skip to the content", tab.evaluate("document.activeElement.textContent"));
    assertEquals(true, tab.evaluate("document.activeElement.getBoundingClientRect().left >= 0"));
    tab.press("Enter", 13, "\r");
    tab.await("document.activeElement.id === 'main'");
    // To the directory, and to its further children.
    focus(tab, "#node-rows a[href$=\"%2Fmany\"]");
    tab.press("Enter", 13, "\r");
    tab.await("document.querySelectorAll('#node-rows tr').length === 200");
    focus(tab, "#more");
    tab.press("Enter", 13, "\r");
    tab.await("document.querySelectorAll('#node-rows tr').length === 400");
    tab.press("Enter", 13, "\r");
    tab.await("document.querySelectorAll('#node-rows tr').length === " + CHILDREN);
    tab.await("document.getElementById('more').hidden && document.activeElement.id === 'nodes'");
    // Back to the root, to the places of a file.
    focus(tab, "#crumbs a");
    tab.press("Enter", 13, "\r");
    String button = "#node-rows button[aria-label=\"Show the places of file\"]";
    tab.await(Browser.has(button));
    focus(tab, button);
    tab.press("Enter", 13, "\r");
    tab.await(Browser.textOf("#node-rows ul.places") + ".includes('127.0.0.1:')");
    tab.keep("places");
    assertEquals("", barriers(tab));
    // A pause ends the requests.
    focus(tab, "#pause");
    tab.press("Enter", 13, "\r");
    tab.await(Browser.textOf("#age") + ".startsWith('paused')");
    assertEquals("true", tab.evaluate("document.activeElement.getAttribute('aria-pressed')"));
  }

  private static void focus(Browser tab, String selector) throws Exception {
    String quoted = selector.replace("\"", "\\\"");
    tab.await("document.querySelector(\"" + quoted + "\") !== null");
    tab.evaluate("document.querySelector(\"" + quoted + "\").focus()");
  }

  /** Comes late, since other tests count what is in the root. */
  @Test
  @Order(LAST - 2)
  void countsApplicationsOnRequest() throws Exception {
    for (int i = 0; i < 12; i++) {
      String root = "/spark-job" + i + "-20261126-102030-ab.0";
      create(root, CrailNodeType.DIRECTORY);
      create(root + "/broadcast", CrailNodeType.DIRECTORY);
      create(root + "/shuffle-0", CrailNodeType.DIRECTORY);
      write(root + "/shuffle-0/0", CrailNodeType.DATAFILE, 1000 * (i + 1));
    }
    Map<?, ?> report = (Map<?, ?>) json("api/applications.json").get("report");
    List<Map<?, ?>> top = maps(report.get("applications"));
    assertEquals(10, top.size());
    assertEquals(2, report.get("others"));
    assertEquals("job11-20261126-102030-ab", top.get(0).get("id"));
    assertEquals(12_000, top.get(0).get("shuffleBytes"));
    assertEquals(List.of(), report.get("missing"));
    // One that was made a moment ago is good enough.
    Object at = json("api/applications.json").get("at");
    Object later = json("api/applications.json").get("at");
    // The first may just have become too old.
    assertEquals(at.equals(later) ? at : later, json("api/applications.json").get("at"));
    Browser tab = open("#applications", 1280, false);
    assertEquals(0L, ((Number) tab.evaluate(rows("#application-rows"))).longValue());
    focus(tab, "#count");
    tab.press("Enter", 13, "\r");
    tab.await(rows("#application-rows") + " === 10");
    tab.await(Browser.textOf("#application-state") + ".includes('and 2 more hold less')");
    String first = tab.evaluate(Browser.textOf("#application-rows tr")).toString();
    assertTrue(first.startsWith("job11-20261126-102030-ab11.7 KiB"), first);
    tab.keep("applications");
    assertEquals("", barriers(tab));
    assertEquals(List.of(), tab.complaints());
  }

  private static String rows(String selector) {
    return "document.querySelectorAll('" + selector + " tr').length";
  }

  /** Comes late, since the datanode gets no new data afterwards. */
  @Test
  @Order(LAST - 1)
  void drainingDatanodesAreShown() throws Exception {
    String address = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
    CrailProcess remove = cluster.run("removeDatanode", address);
    assertTrue(
        remove.stdout().contains("is being removed"), () -> remove.stdout() + remove.stderr());
    Await.until(
        "the datanode drains",
        ProcessCluster.PATIENCE,
        () -> datanodes().stream().anyMatch(each -> "draining".equals(each.get("state"))));
    Browser tab = open("", 1280, true);
    tab.await(Browser.textOf("#drain-rows th") + " === '" + address + "'");
    String row = tab.evaluate(Browser.textOf("#drain-rows tr")).toString();
    assertTrue(row.contains("MiB belong to files"), row);
    tab.keep("drains");
    assertEquals("", barriers(tab));
    // While it is silent its drain waits, and is still one.
    cluster.datanode(0).signal("STOP");
    try {
      Await.until(
          "the datanode is offline",
          ProcessCluster.PATIENCE,
          () -> datanodes().stream().anyMatch(each -> "offline".equals(each.get("state"))));
      assertTrue(
          datanodes().stream()
              .anyMatch(
                  each ->
                      "offline".equals(each.get("state"))
                          && Boolean.TRUE.equals(each.get("draining"))),
          () -> "it is not draining any more");
      tab.await(Browser.textOf("#drain-rows tr") + ".includes('the drain waits for it')");
      assertEquals(address, tab.evaluate(Browser.textOf("#drain-rows th")));
      tab.keep("silent-drain");
    } finally {
      cluster.datanode(0).signal("CONT");
    }
  }

  /** Comes last, since the cluster is broken then. */
  @Test
  @Order(LAST)
  void unansweringNamenodesAreNamed() throws Exception {
    cluster.datanode(1).kill();
    int port = cluster.datanodeAddress(1).getPort();
    Await.until(
        "the datanode is not online",
        ProcessCluster.PATIENCE,
        () ->
            datanodes().stream()
                .anyMatch(
                    each -> each.get("port").equals(port) && !each.get("state").equals("online")));
    cluster.namenode(1).kill();
    String gone = "namenode 1 at 127.0.0.1:" + cluster.namenodeAddress(1).getPort();
    Await.until(
        "the namenode is missing",
        ProcessCluster.PATIENCE,
        () -> Boolean.FALSE.equals(report("namenodes").get(1).get("answers")));
    Map<?, ?> root = json("api/list?path=/");
    assertTrue(root.get("missing").toString().contains(gone), root::toString);
    assertFalse(maps(root.get("entries")).isEmpty());
    Browser tab = open("", 1280, false);
    tab.await(Browser.textOf("#findings") + ".includes('" + gone + "')");
    tab.await(Browser.textOf("#findings") + ".includes('crail namenode -i 1')");
    assertEquals("\u2716 unhealthy", tab.evaluate(Browser.textOf("#verdict")));
    tab.await(Browser.textOf("#listing") + ".includes('" + gone + "')");
    tab.keep("missing");
    assertEquals("", barriers(tab));
  }
}
