/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.Threads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers GET requests of HTTP, one for each connection. Each connection has a thread of its own
 * for as long as it may last, so neither a slow client nor a slow page holds up the others. If
 * there are too many connections, the oldest one is closed for a new one. Thread-safe.
 */
public final class HttpPort implements AutoCloseable {
  /** The most connections at a time. */
  static final int MOST_CONNECTIONS = 16;

  private static final Logger LOG = LoggerFactory.getLogger(HttpPort.class);
  private static final int LONGEST_HEAD = 8192;
  private static final int BACKLOG = 64;
  private static final long CONNECTION_NANOS = 10_000_000_000L;
  private static final int LOOK_MILLIS = 500;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final long JOIN_MILLIS = 5_000;
  private static final Map<Integer, String> REASONS =
      Map.of(
          200, "OK",
          400, "Bad Request",
          403, "Forbidden",
          404, "Not Found",
          405, "Method Not Allowed",
          429, "Too Many Requests",
          431, "Request Header Fields Too Large",
          500, "Internal Server Error",
          502, "Bad Gateway",
          503, "Service Unavailable");

  private final RateLimitedLog log = new RateLimitedLog(LOG, Clock.SYSTEM);
  private final Map<String, Page> pages;
  private final ServerSocket listener;
  private final Thread acceptor;
  private final Deque<Client> clients = new ArrayDeque<>();
  private volatile boolean closed;

  /** Makes an answer. */
  @FunctionalInterface
  public interface Page {
    /** Answers a request. Called by many threads at a time. */
    Answer answer(Request request) throws IOException;
  }

  /**
   * What was asked for.
   *
   * @param method such as {@code GET}
   * @param path what comes before the question mark
   * @param query what comes after it, as it was sent; empty without one
   * @param headers by their names in lower case
   */
  public record Request(String method, String path, String query, Map<String, String> headers) {
    private static Request bad(String method) {
      return new Request(method, "", "", Map.of());
    }

    /** The value of a header, or an empty text. */
    public String header(String name) {
      return headers.getOrDefault(name, "");
    }
  }

  /**
   * An answer.
   *
   * @param headers more headers, each as a line
   */
  public record Answer(int status, String type, byte[] body, List<String> headers) {
    /** An answer without more headers. */
    public Answer(int status, String type, byte[] body) {
      this(status, type, body, List.of());
    }

    /** An answer of one line. */
    public static Answer text(int status, String line) {
      return new Answer(
          status, "text/plain; charset=utf-8", (line + "\n").getBytes(StandardCharsets.UTF_8));
    }
  }

  private HttpPort(ServerSocket listener, Map<String, Page> pages) {
    this.listener = listener;
    this.pages = pages;
    this.acceptor = Threads.daemon("crail-http", this::accept);
  }

  /**
   * Begins to serve.
   *
   * @param candidates addresses; it serves on the first one that is free
   * @param pages by their paths
   * @throws IOException that names the addresses when none can be bound
   */
  static HttpPort open(List<InetSocketAddress> candidates, Map<String, Page> pages)
      throws IOException {
    return open(listen(candidates), pages);
  }

  /** As the other one, on a socket that is bound and is closed with the port. */
  static HttpPort open(ServerSocket listener, Map<String, Page> pages) {
    HttpPort port = new HttpPort(listener, pages);
    port.acceptor.start();
    return port;
  }

  private static ServerSocket listen(List<InetSocketAddress> candidates) throws IOException {
    InetSocketAddress first = candidates.get(0);
    for (InetSocketAddress candidate : candidates) {
      ServerSocket socket = new ServerSocket();
      try {
        socket.setReuseAddress(true);
        socket.setSoTimeout(LOOK_MILLIS);
        socket.bind(new InetSocketAddress(candidate.getHostString(), candidate.getPort()), BACKLOG);
        return socket;
      } catch (BindException e) {
        socket.close();
        LOG.debug("{} is taken", Addresses.text(candidate), e);
      } catch (IOException e) {
        socket.close();
        throw new IOException(
            "cannot serve metrics on " + Addresses.text(candidate) + ": " + e.getMessage(), e);
      }
    }
    throw new IOException(
        "cannot serve metrics on "
            + Addresses.text(first)
            + (candidates.size() == 1
                ? ": another process has that address, or it is not of this host;"
                : " nor on the " + (candidates.size() - 1) + " ports after it;")
            + " set "
            + MetricsKeys.ADDRESS.name()
            + ", which may be a range of ports");
  }

  /** Where it serves, with the real port. */
  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  private void accept() {
    while (!closed) {
      try {
        begin(listener.accept());
      } catch (SocketTimeoutException e) {
        endOverdue();
      } catch (IOException e) {
        if (!closed) {
          // Such as too many open files, which may be over soon.
          failed(e);
        }
      } catch (RuntimeException | Error e) {
        // Without this thread a probe would find the process dead.
        failed(e);
      }
    }
  }

  private void failed(Throwable cause) {
    log.warn("cannot accept a connection for metrics", cause);
    LockSupport.parkNanos(this, PAUSE_NANOS);
  }

  private void begin(Socket socket) {
    Client client = new Client(socket);
    try {
      begin(client);
    } catch (RuntimeException | Error e) {
      // Such as no memory, or no more threads.
      client.forget();
      throw e;
    }
  }

  private void begin(Client client) {
    Client displaced = null;
    boolean late;
    synchronized (clients) {
      late = closed;
      if (clients.size() >= MOST_CONNECTIONS) {
        displaced = clients.poll();
      }
      clients.add(client);
    }
    if (displaced != null) {
      displaced.end();
    }
    if (late) {
      client.forget();
      return;
    }
    endOverdue();
    client.start();
  }

  private void endOverdue() {
    long now = System.nanoTime();
    List<Client> overdue = new ArrayList<>();
    synchronized (clients) {
      while (!clients.isEmpty() && now - clients.peek().begunNanos > CONNECTION_NANOS) {
        overdue.add(clients.poll());
      }
    }
    overdue.forEach(Client::end);
  }

  @Override
  public void close() {
    List<Client> open;
    synchronized (clients) {
      closed = true;
      open = List.copyOf(clients);
    }
    open.forEach(Client::end);
    try {
      listener.close();
      acceptor.join(JOIN_MILLIS);
    } catch (IOException e) {
      LOG.debug("the end of the metrics' port", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A connection and its thread. */
  private final class Client {
    private final Socket socket;
    private final long begunNanos = System.nanoTime();

    Client(Socket socket) {
      this.socket = socket;
    }

    void start() {
      Threads.daemon("crail-http-" + socket.getPort(), this::run).start();
    }

    /** Ends it, whatever its thread does. */
    void end() {
      try {
        socket.close();
      } catch (IOException e) {
        LOG.debug("the end of a connection", e);
      }
    }

    private void forget() {
      synchronized (clients) {
        clients.remove(this);
      }
      end();
    }

    private void run() {
      try {
        socket.setTcpNoDelay(true);
        Request request = read(socket.getInputStream());
        if (request != null) {
          write(request, answer(request));
        }
      } catch (IOException e) {
        LOG.debug("a request for metrics has failed", e);
      } catch (RuntimeException | Error e) {
        // Costs this request only, not the process.
        log.warn("a request for metrics has failed", e);
      } finally {
        forget();
      }
    }

    /** Reads a request; null when the client has gone. Its connection may be closed meanwhile. */
    private Request read(InputStream in) throws IOException {
      byte[] head = new byte[LONGEST_HEAD];
      int length = 0;
      while (true) {
        int count = in.read(head, length, head.length - length);
        if (count < 0) {
          return null;
        }
        length += count;
        String text = new String(head, 0, length, StandardCharsets.ISO_8859_1);
        if (text.contains("\r\n\r\n") || text.contains("\n\n")) {
          return parse(text);
        }
        if (length == head.length) {
          return Request.bad("");
        }
      }
    }

    private Request parse(String head) {
      String[] lines = head.split("\r?\n", -1);
      String[] words = lines[0].split(" ");
      if (words.length != 3 || !words[2].startsWith("HTTP/1.") || !words[1].startsWith("/")) {
        return Request.bad("?");
      }
      Map<String, String> headers = new HashMap<>();
      for (int i = 1; i < lines.length; i++) {
        int colon = lines[i].indexOf(':');
        if (colon > 0) {
          headers.put(
              lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
              lines[i].substring(colon + 1).strip());
        }
      }
      String[] target = words[1].split("\\?", 2);
      return new Request(words[0], target[0], target.length == 1 ? "" : target[1], headers);
    }

    private Answer answer(Request request) throws IOException {
      if (request.method.isEmpty()) {
        return Answer.text(431, "the request has more than " + LONGEST_HEAD + " bytes");
      }
      if (request.path.isEmpty()) {
        return Answer.text(400, "this is no request of HTTP/1.1");
      }
      if (!request.method.equals("GET") && !request.method.equals("HEAD")) {
        return Answer.text(405, "only GET and HEAD are served");
      }
      Page page = pages.get(request.path);
      if (page == null) {
        return Answer.text(404, "there is " + String.join(", ", pages.keySet()));
      }
      try {
        return page.answer(request);
      } catch (RuntimeException | Error e) {
        LOG.error("{} has failed", request.path, e);
        return Answer.text(500, "an error; the log of this process has it");
      }
    }

    private void write(Request request, Answer answer) throws IOException {
      String more =
          answer.headers.stream().map(line -> line + "\r\n").collect(Collectors.joining());
      String head =
          "HTTP/1.1 "
              + answer.status
              + " "
              + REASONS.get(answer.status)
              + "\r\nContent-Type: "
              + answer.type
              + "\r\nContent-Length: "
              + answer.body.length
              + "\r\nCache-Control: no-store\r\n"
              + more
              + "Connection: close\r\n\r\n";
      OutputStream out = socket.getOutputStream();
      out.write(head.getBytes(StandardCharsets.ISO_8859_1));
      if (!request.method.equals("HEAD")) {
        out.write(answer.body);
      }
      out.flush();
      socket.shutdownOutput();
    }
  }
}
