/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An assembled layout in a place of its own, as one that was unpacked there. What does not change
 * are links. It ends the servers that it has started. Used by one thread.
 */
final class Installation implements AutoCloseable {
  private static final Set<String> COPIED = Set.of("bin", "libexec", "conf", "README.md");
  private static final Path CLONE = Path.of("..");
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  /** What a datanode lends without options. */
  private static final long LENT_BYTES = 1L << 30;

  private final Path home;
  private final List<CrailProcess> servers = new ArrayList<>();
  private final Map<String, String> replaced = new LinkedHashMap<>();
  private boolean started;

  /** Unpacks the layout that {@code -Dcrail.home=} names. */
  Installation(Path home) throws IOException {
    this.home = home;
    instead(":9060", ":" + freePort());
    instead("//node1:", "//localhost:");
    instead(":9070-9079", ":0");
    instead(":9070", ":0");
    instead(" /tmp/readme.copy", " " + home + "/readme.copy");
    Files.createDirectory(home);
    try (Stream<Path> parts = Files.list(Path.of(System.getProperty("crail.home")).toRealPath())) {
      for (Path part : parts.toList()) {
        Path place = home.resolve(part.getFileName());
        if (COPIED.contains(part.getFileName().toString())) {
          copy(part, place);
        } else {
          Files.createSymbolicLink(place, part);
        }
      }
    }
    // The usual port, and the usual place on a small machine, may be taken.
    Path site = home.resolve("conf/crail-site.conf");
    append(site, "crail.storage.tcp.port " + freePort());
    if (!Files.isDirectory(Path.of("/dev/shm"))
        || Path.of("/dev/shm").toFile().getUsableSpace() < 2 * LENT_BYTES) {
      Path data = Files.createDirectory(home.resolve("data"));
      append(site, "crail.storage.tcp.datapath " + data);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  private static void append(Path file, String line) throws IOException {
    Files.writeString(file, line + "\n", StandardOpenOption.APPEND);
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new AssertionError("no free port", e);
    }
  }

  Path home() {
    return home;
  }

  /** Adds a line to the site file. */
  void configure(String line) throws IOException {
    append(home.resolve("conf/crail-site.conf"), here(line));
  }

  /** Puts something that is there in the place of what a page has: a port, a host. */
  void instead(String text, String here) {
    replaced.put(text, here);
  }

  /** A line of a page as it is run here. */
  private String here(String line) {
    String here = line;
    for (Map.Entry<String, String> each : replaced.entrySet()) {
      here = here.replace(each.getKey(), each.getValue());
    }
    return here;
  }

  /** Starts a line of a page that goes on, and waits until it prints a line that matches. */
  void serve(String line, String sign) throws Exception {
    // In place of the shell, so that the signal reaches it that ends it.
    CrailProcess server = CrailProcess.shell(home, "exec " + here(line));
    servers.add(server);
    server.await(sign, ProcessCluster.PATIENCE);
  }

  /** Runs a line of a page, which has to succeed, and returns what it has printed. */
  String run(String line) throws Exception {
    started = line.equals("bin/start-crail") || started;
    // A clone has more programs than the tarball.
    String program = line.split(" ")[0];
    Path directory =
        program.startsWith("bin/") && !Files.exists(home.resolve(program)) ? CLONE : home;
    try (CrailProcess process = CrailProcess.shell(directory, here(line))) {
      int code = process.awaitExit(PATIENCE);
      assertEquals(0, code, () -> line + "\n" + process.stdout() + process.stderr());
      started = !line.equals("bin/stop-crail") && started;
      return process.stdout() + process.stderr();
    }
  }

  @Override
  public void close() throws Exception {
    if (started) {
      run("bin/stop-crail");
    }
    // The namenodes last.
    for (int i = servers.size() - 1; i >= 0; i--) {
      servers.get(i).close();
    }
  }
}
