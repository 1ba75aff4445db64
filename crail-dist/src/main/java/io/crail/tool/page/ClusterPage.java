/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import io.crail.bench.report.Json;
import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.ha.PeerStanding;
import io.crail.namenode.ha.ReplicatedNamenode;
import io.crail.protocol.cluster.Lead;
import io.crail.rpc.Transport;
import io.crail.tool.metrics.HttpPort;
import io.crail.tool.metrics.HttpPort.Answer;
import io.crail.tool.metrics.HttpPort.Request;
import io.crail.tool.metrics.MetricsKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The web page of a namenode, which shows the whole cluster, and the answers in JSON that it asks
 * for. Nothing can be changed through it. It asks the namenodes as any client does, over a
 * connection of its own, at most as often as its limits say. Thread-safe.
 */
public final class ClusterPage implements AutoCloseable {
  private static final int MOST_READS = 4;
  private static final int MOST_READS_IN_A_SECOND = 50;

  /**
   * The page sends it with its requests. No other site can: a browser would ask this port first
   * whether it may, and gets no permission.
   */
  private static final String OWN_HEADER = "x-crail-page";

  /** A browser loads and asks nothing but what this port has, and no other site may frame it. */
  private static final List<String> PROTECTION =
      List.of(
          "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';"
              + " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
              + " frame-ancestors 'none'",
          "X-Content-Type-Options: nosniff",
          "Referrer-Policy: no-referrer",
          "Cross-Origin-Resource-Policy: same-origin",
          "Cross-Origin-Opener-Policy: same-origin");

  private final Map<String, HttpPort.Page> pages = new TreeMap<>();
  private final RequestLimit own =
      new RequestLimit(MOST_READS, MOST_READS_IN_A_SECOND, Clock.SYSTEM);

  /** Limit of requests that do not come from the page. It leaves room for those that do. */
  private final RequestLimit strangers =
      new RequestLimit(MOST_READS / 2, MOST_READS_IN_A_SECOND / 2, Clock.SYSTEM);

  private final Optional<PageSource> source;

  /** One without pages. */
  private ClusterPage() {
    source = Optional.empty();
  }

  private ClusterPage(PageSource source) {
    this.source = Optional.of(source);
    HostGuard guard = new HostGuard(source.hosts());
    addFile(guard, "/", "page.html", "text/html");
    addFile(guard, "/page.css", "page.css", "text/css");
    addFile(guard, "/page.js", "page.js", "text/javascript");
    SharedAnswer cluster = new SharedAnswer(() -> json(source::cluster), Clock.SYSTEM);
    add(guard, "/api/cluster.json", request -> cluster.get());
    SharedAnswer applications = new SharedAnswer(() -> json(source::applications), Clock.SYSTEM);
    // It costs more than the rest, so other sites cannot make a browser ask for it.
    add(
        guard,
        "/api/applications.json",
        request ->
            isOwn(request)
                ? applications.get()
                : Answer.text(403, "the header X-Crail-Page is missing"));
    NamespaceReader namespace = source.namespace();
    add(
        guard,
        "/api/list",
        request -> read(request, words -> namespace.list(words.path, words.after)));
    add(guard, "/api/node", request -> read(request, words -> namespace.node(words.path)));
  }

  /**
   * Makes the page of a namenode. It has no pages, and owns nothing, if the configuration has no
   * address for them.
   *
   * @param transport that of the namenode; the caller closes it, after this
   */
  public static ClusterPage of(
      NameNodeServer namenode, Configuration configuration, Transport transport) {
    PageSource.Served served = new PageSource.Served(namenode.index(), Lead.NONE, () -> namenode);
    return of(served, configuration, transport);
  }

  /** Makes the page of a peer of a namenode, as the other method. It is there at a standby too. */
  public static ClusterPage of(
      ReplicatedNamenode peer, Configuration configuration, Transport transport) {
    PeerStanding standing = peer.standing();
    PageSource.Served served =
        new PageSource.Served(standing.namenode(), standing.peer(), peer::server);
    return of(served, configuration, transport);
  }

  private static ClusterPage of(
      PageSource.Served served, Configuration configuration, Transport transport) {
    return configuration.get(MetricsKeys.ADDRESS).isEmpty()
        ? new ClusterPage()
        : new ClusterPage(new PageSource(served, configuration, transport));
  }

  /** What is answered, by the path of the request. */
  public Map<String, HttpPort.Page> pages() {
    return pages;
  }

  /** Reads something for an answer. */
  @FunctionalInterface
  private interface Reader {
    Map<String, Object> read() throws IOException, InterruptedException;
  }

  /** As {@link Reader}, for what a request says behind its question mark. */
  @FunctionalInterface
  private interface QueryReader {
    Map<String, Object> read(Words words) throws IOException, InterruptedException;
  }

  /** What a request says behind its question mark. */
  private record Words(String path, String after) {
    /**
     * Reads them.
     *
     * @throws IllegalArgumentException when a percent sign stands wrong
     */
    static Words of(String query) {
      Map<String, String> words = new HashMap<>();
      for (String word : query.split("&")) {
        String[] pair = word.split("=", 2);
        if (pair.length == 2) {
          words.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
        }
      }
      return new Words(words.getOrDefault("path", "/"), words.getOrDefault("after", ""));
    }
  }

  private Answer read(Request request, QueryReader reader) throws IOException {
    Words words;
    try {
      words = Words.of(request.query());
    } catch (IllegalArgumentException e) {
      return Answer.text(400, "what follows the question mark is not encoded right");
    }
    RequestLimit limit = isOwn(request) ? own : strangers;
    if (!limit.enter()) {
      return Answer.text(429, "too many requests at this namenode; ask again in a second");
    }
    try {
      return json(() -> reader.read(words));
    } finally {
      limit.leave();
    }
  }

  private static boolean isOwn(Request request) {
    return !request.header(OWN_HEADER).isEmpty();
  }

  /** An answer in JSON, or the error that took its place. */
  private static Answer json(Reader reader) throws IOException {
    try {
      byte[] body = Json.of(reader.read()).getBytes(StandardCharsets.UTF_8);
      return new Answer(200, "application/json", body);
    } catch (CrailException e) {
      return Answer.text(status(e.code()), e.getMessage());
    } catch (IOException e) {
      return Answer.text(502, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  private static int status(ErrorCode code) {
    return switch (code) {
      case INVALID_ARGUMENT, INVALID_PATH -> 400;
      case NODE_NOT_FOUND, PARENT_NOT_FOUND, NOT_A_CONTAINER, STALE_NODE -> 404;
      default -> MissingNamenode.isDown(code) ? 503 : 502;
    };
  }

  private void addFile(HostGuard guard, String path, String name, String type) {
    byte[] body;
    try (InputStream in = ClusterPage.class.getResourceAsStream(name)) {
      body = in.readAllBytes();
    } catch (IOException e) {
      throw new AssertionError(name + " is not in the jar", e);
    }
    add(guard, path, request -> new Answer(200, type + "; charset=utf-8", body));
  }

  private void add(HostGuard guard, String path, HttpPort.Page page) {
    pages.put(
        path,
        request -> {
          Answer answer =
              guard.accepts(request.header("host"))
                  ? page.answer(request)
                  : Answer.text(
                      403,
                      "this page is not served under that name: ask for it by the address in"
                          + " numbers, or by the name of the host");
          return new Answer(answer.status(), answer.type(), answer.body(), PROTECTION);
        });
  }

  /** Ends its connection. The port that serves the pages must be closed before. */
  @Override
  public void close() {
    source.ifPresent(PageSource::close);
  }
}
