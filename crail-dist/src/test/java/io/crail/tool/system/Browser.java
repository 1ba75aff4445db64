/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.bench.report.Json;
import java.io.File;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * A Chromium without a window, with one tab, driven by its DevTools protocol. Its files are in a
 * directory of its own, which goes with it. Used by one thread.
 */
final class Browser implements AutoCloseable {
  private static final Duration PATIENCE = ProcessCluster.PATIENCE;
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
  private static final int MOST_CHARACTERS = 64 << 20;

  private final Path directory;
  private final Process process;
  private final BlockingQueue<Map<?, ?>> messages = new LinkedBlockingQueue<>(10_000);
  private final List<String> complaints = new ArrayList<>();
  private WebSocket socket;
  private int lastId;

  private Browser(Path directory, Process process) {
    this.directory = directory;
    this.process = process;
  }

  /** The program, if there is one: that of {@code -Dcrail.test.browser}, or one in the path. */
  static Optional<Path> program() {
    String named = System.getProperty("crail.test.browser");
    if (named != null) {
      return Optional.of(Path.of(named));
    }
    return NAMES.stream()
        .flatMap(
            name ->
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                    .map(place -> Path.of(place, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Starts it. */
  static Browser start(Path program) throws Exception {
    Path directory = Files.createTempDirectory("crail-browser");
    List<String> command =
        List.of(
            program.toString(),
            "--headless=new",
            // Of its own processes; the only page it opens is ours. Root may not have one.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
            "--disable-breakpad",
            "--disable-crash-reporter",
            "--no-first-run",
            "--no-default-browser-check",
            "--remote-debugging-port=0",
            "--user-data-dir=" + directory.resolve("profile"),
            "about:blank");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile());
    builder.environment().put("TMPDIR", directory.toString());
    Process process = builder.start();
    Browser browser = new Browser(directory, process);
    boolean connected = false;
    try {
      browser.connect();
      connected = true;
      return browser;
    } finally {
      if (!connected) {
        browser.close();
      }
    }
  }

  private void connect() throws Exception {
    Path portFile = directory.resolve("profile/DevToolsActivePort");
    Await.until(
        "the browser listens",
        PATIENCE,
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError(Files.readString(directory.resolve("output")));
          }
          return Files.exists(portFile) && Files.readAllLines(portFile).size() >= 2;
        });
    String port = Files.readAllLines(portFile).get(0);
    HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/list"))
            .timeout(PATIENCE)
            .build();
    List<?> tabs =
        parse(http.send(request, HttpResponse.BodyHandlers.ofString()).body(), List.class);
    Map<?, ?> tab =
        tabs.stream()
            .map(Map.class::cast)
            .filter(each -> "page".equals(each.get("type")))
            .findFirst()
            .orElseThrow();
    socket =
        http.newWebSocketBuilder()
            .connectTimeout(PATIENCE)
            .buildAsync(URI.create(tab.get("webSocketDebuggerUrl").toString()), new Listener())
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    for (String domain : List.of("Page", "Runtime", "Log")) {
      send(domain + ".enable", Map.of());
    }
    // Keys reach the page as if its window was in front.
    send("Emulation.setFocusEmulationEnabled", Map.of("enabled", true));
  }

  private static <T> T parse(String json, Class<T> type) {
    // JSON is YAML, as long as the text has no strange characters, and this has none.
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(MOST_CHARACTERS);
    return type.cast(new Yaml(new SafeConstructor(options)).load(json));
  }

  private final class Listener implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        messages.add(parse(text.toString(), Map.class));
        text.setLength(0);
      }
      from.request(1);
      return null;
    }
  }

  /** Sends a command of the protocol, and returns its result. */
  Map<?, ?> send(String method, Map<String, ?> parameters) throws Exception {
    int id = ++lastId;
    String text = Json.of(Map.of("id", id, "method", method, "params", parameters));
    socket.sendText(text, true).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Map<?, ?> message = messages.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (message == null) {
        throw new AssertionError("no answer to " + method);
      }
      if (message.containsKey("method")) {
        note(message);
      } else if (message.get("id").equals(id)) {
        if (message.containsKey("error")) {
          throw new AssertionError(method + ": " + message.get("error"));
        }
        return (Map<?, ?>) message.get("result");
      }
    }
  }

  /** Keeps what the browser complains about, such as what the policy of the page forbids. */
  private void note(Map<?, ?> event) {
    String text = event.get("params").toString();
    if (event.get("method").equals("Runtime.exceptionThrown")
        || (event.get("method").equals("Log.entryAdded") && text.contains("level=error"))) {
      complaints.add(text);
    }
  }

  /** Errors of scripts and loads so far. */
  List<String> complaints() {
    return complaints;
  }

  /** Opens an address. Its scripts run later. */
  void open(String url) throws Exception {
    Map<?, ?> result = send("Page.navigate", Map.of("url", url));
    if (result.containsKey("errorText")) {
      throw new AssertionError(url + ": " + result);
    }
  }

  /** The value of an expression in the page; a promise is waited for. */
  Object evaluate(String expression) throws Exception {
    Map<?, ?> answer =
        send(
            "Runtime.evaluate",
            Map.of("expression", expression, "awaitPromise", true, "returnByValue", true));
    if (answer.containsKey("exceptionDetails")) {
      throw new AssertionError(expression + ": " + answer.get("exceptionDetails"));
    }
    return ((Map<?, ?>) answer.get("result")).get("value");
  }

  /** Waits until an expression is true. */
  void await(String expression) throws Exception {
    Await.until(expression, PATIENCE, () -> Boolean.TRUE.equals(evaluate(expression)));
  }

  /** An expression that is true when the page has such an element. */
  static String has(String selector) {
    return "document.querySelector('" + selector + "') !== null";
  }

  /** An expression of the text of an element; empty if there is none. */
  static String textOf(String selector) {
    return "(document.querySelector('" + selector + "')?.textContent ?? '')";
  }

  /** Opens the page of a namenode anew, and waits until it shows the cluster. */
  void openPage(String url, int width, boolean dark) throws Exception {
    look(width, 900, dark);
    // Another document, so that the page begins anew.
    open("about:blank");
    open(url);
    await("document.readyState === 'complete' && " + has("#datanode-rows tr"));
    await(textOf("#listing") + " !== ''");
  }

  /** Keeps a picture for people to look at. */
  void keep(String name) throws Exception {
    Path pictures = Files.createDirectories(Path.of("target", "pictures"));
    Files.write(pictures.resolve(name + ".png"), picture());
  }

  /** Sets the size of the window, and whether its user likes it dark. */
  void look(int width, int height, boolean dark) throws Exception {
    send(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    send(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(
                Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"),
                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
  }

  /** Presses a key. */
  void press(String key, int code, String text) throws Exception {
    for (String type : List.of("keyDown", "keyUp")) {
      send(
          "Input.dispatchKeyEvent",
          Map.of(
              "type", type,
              "key", key,
              "code", key,
              "windowsVirtualKeyCode", code,
              "text", type.equals("keyDown") ? text : ""));
    }
  }

  /** A picture of the whole page, as PNG. */
  byte[] picture() throws Exception {
    Object data =
        send("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true))
            .get("data");
    return Base64.getDecoder().decode(data.toString());
  }

  @Override
  public void close() throws Exception {
    if (socket != null) {
      socket.abort();
    }
    List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
    all.add(process.toHandle());
    all.forEach(ProcessHandle::destroyForcibly);
    for (ProcessHandle each : all) {
      each.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
