/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.crail.tool.Ran;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a server does with what the system gives its process: descriptors and children. */
@Tag("once")
@Timeout(300)
class ServerProcessSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int DESCRIPTORS = 160;

  @TempDir private Path directory;

  /** Without descriptors a JVM can load no more classes from directories, only from open jars. */
  private CrailProcess namenode(String... through) throws Exception {
    Assumptions.assumeTrue(System.getProperty("crail.home") != null, "needs bin/crail");
    Path site = directory.resolve("crail-site.conf");
    Files.writeString(site, "crail.namenode.address crail://127.0.0.1:0\n");
    String logging = "log4j2-server.xml";
    Files.copy(Path.of("..", "conf", logging), directory.resolve(logging));
    return CrailProcess.crail(List.of(through), directory, "namenode");
  }

  /** Where it serves; a command of this directory finds it there from now on. */
  private InetSocketAddress await(CrailProcess namenode) throws Exception {
    Matcher line = namenode.await("serves on (?:crail://)?(\\S+):([0-9]+)", PATIENCE);
    Path site = directory.resolve("crail-site.conf");
    Files.writeString(
        site, "crail.namenode.address crail://" + line.group(1) + ":" + line.group(2) + "\n");
    return new InetSocketAddress(line.group(1), Integer.parseInt(line.group(2)));
  }

  @Test
  void atTheLimitOfDescriptorsAServerSaysSoAndServesAgain() throws Exception {
    String limit = "ulimit -n " + DESCRIPTORS + "; exec \"$@\"";
    try (CrailProcess namenode = namenode("bash", "-c", limit, "bash")) {
      InetSocketAddress address = await(namenode);
      List<Socket> clients = new ArrayList<>();
      try {
        try {
          for (int i = 0; i < 2 * DESCRIPTORS; i++) {
            Socket client = new Socket();
            clients.add(client);
            client.connect(address, 1000);
          }
        } catch (SocketTimeoutException e) {
          // The queue of connections is full, so the server accepts no more.
        }
        Await.until(
            "it says so",
            PATIENCE,
            () -> (namenode.stdout() + namenode.stderr()).contains("cannot accept a connection: "));
      } finally {
        for (Socket client : clients) {
          client.close();
        }
      }
      Await.until(
          "it serves again",
          PATIENCE,
          () -> Ran.run(directory, "ping").stdout().contains("answer"));
      String said = namenode.stdout() + namenode.stderr();
      assertFalse(said.contains("tail of the pipeline"), said);
      assertFalse(said.contains("\tat "), said);
    }
  }

  /** Such a host has no hardware address, of which Netty warns if it may. */
  @Test
  void aHostWithItsLoopbackOnlyGetsNoWarning() throws Exception {
    List<String> alone =
        List.of("unshare", "-rn", "sh", "-c", "ip link set lo up; exec \"$@\"", "sh");
    Process permitted =
        new ProcessBuilder("unshare", "-rn", "ip", "link", "set", "lo", "up")
            .redirectErrorStream(true)
            .start();
    String why = new String(permitted.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Assumptions.assumeTrue(permitted.waitFor() == 0, why);
    try (CrailProcess namenode = namenode(alone.toArray(String[]::new))) {
      await(namenode);
      Files.copy(Path.of("..", "conf", "log4j2.xml"), directory.resolve("log4j2.xml"));
      // It is in a network of its own, so nothing listens there.
      try (CrailProcess ping = CrailProcess.crail(alone, directory, "ping")) {
        assertEquals(1, ping.awaitExit(PATIENCE), ping.stderr());
        assertEquals(1, ping.stderr().lines().count(), ping.stderr());
      }
      String said = namenode.stdout() + namenode.stderr();
      assertFalse(said.contains("WARN"), said);
    }
  }

  @Test
  void aServerHasNoChildrenThatHaveEnded() throws Exception {
    try (CrailProcess namenode = namenode()) {
      await(namenode);
      Path children = Path.of("/proc/" + namenode.pid() + "/task/" + namenode.pid() + "/children");
      assertEquals("", Files.readString(children).strip());
    }
  }
}
