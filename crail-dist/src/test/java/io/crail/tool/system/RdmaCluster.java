/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Clusters of processes on the second device of the test machine. The clients use the first device.
 */
final class RdmaCluster {
  /** Set where this host's own device stands for both hosts: its name. */
  static final String OWN_DEVICE = "crail.test.rdma.device";

  /** Set to false where there is no switch between the hosts. */
  static final String SWITCHED = "crail.test.rdma.switched";

  /** The address of the servers. */
  static final String HOST = System.getProperty("crail.test.rdma.server", "10.9.0.2");

  /** The device of the clients. */
  static final String CLIENT_DEVICE = System.getProperty(OWN_DEVICE, "rxe0");

  /** Regions that a namenode keeps for its next answers. */
  static final int MOST_KEPT = 32;

  private static final Pattern RESOURCE = Pattern.compile("\\b(pd|cq|qp|cm_id|mr) (\\d+)");
  private static final int SETTLE_MILLIS = 2500;
  private static final int END_SECONDS = 60;

  private RdmaCluster() {}

  /** Starts namenodes, and no datanode yet. */
  static ProcessCluster start(int namenodes, String... more) throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.namenode.rpctype", "darpc");
    settings.put("crail.storage.types", "rdma,tcp");
    settings.put("crail.storage.rdma.interface", HOST);
    settings.put("crail.storage.tcp.interface", HOST);
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return ProcessCluster.start(HOST, namenodes, 0, settings);
  }

  /**
   * Pulls the cable between a host and the switch, or puts it back: the host's link goes down or
   * up, and its device knows. The host's own interface stays up: a device of soft-RoCE whose
   * interface is set down fails to send what its connection manager has to say then, and never
   * again hears what others say to that.
   */
  static void link(int host, boolean up) throws Exception {
    assertEquals("", run("ip", "link", "set", "sw" + host, up ? "up" : "down"));
    String expected = up ? "4: ACTIVE" : "1: DOWN";
    Path state = Path.of("/sys/class/infiniband/rxe" + host + "/ports/1/state");
    Await.until(
        "the port of rxe" + host + " is " + expected,
        Duration.ofSeconds(END_SECONDS),
        () -> Files.readString(state).strip().equals(expected));
  }

  /** Lets the servers hear the clients, or nothing of them; no device knows. */
  static void hear(boolean hearing) throws Exception {
    // Never two of them.
    run("ip", "rule", "del", "pref", "1", "iif", "rv1", "blackhole");
    if (!hearing) {
      assertEquals("", run("ip", "rule", "add", "pref", "1", "iif", "rv1", "blackhole"));
    }
  }

  /** The queue pairs of connections that both hosts have, of all processes. */
  static int queuePairs() throws Exception {
    return (int)
        run("rdma", "resource", "show", "qp").lines().filter(p -> p.contains(" type RC ")).count();
  }

  /** What both devices hold for all processes and the kernel. */
  static Map<String, Long> resources() throws Exception {
    Map<String, Long> counts = new TreeMap<>();
    Matcher found = RESOURCE.matcher(run("rdma", "resource", "show"));
    while (found.find()) {
      counts.merge(found.group(1), Long.parseLong(found.group(2)), Long::sum);
    }
    assertTrue(counts.containsKey("qp"), counts::toString);
    return counts;
  }

  /**
   * Waits until memory that the client has lost is registered no more: a loop looks now and then.
   */
  static Map<String, Long> settled() throws Exception {
    Map<String, Long> present = resources();
    Map<String, Long> last;
    do {
      last = present;
      Thread.sleep(SETTLE_MILLIS);
      present = resources();
    } while (!present.equals(last));
    return present;
  }

  /** Waits for the end of what was there for a client; so many regions more may be kept. */
  static void awaitResources(String what, Map<String, Long> expected, int kept) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    Map<String, Long> present = resources();
    while (!isAsExpected(present, expected, kept) && System.nanoTime() - deadline < 0) {
      Thread.sleep(SETTLE_MILLIS);
      present = resources();
    }
    String found = what + ": " + present + ", expected " + expected + " and mr up to " + kept;
    System.out.println(found);
    assertTrue(isAsExpected(present, expected, kept), found);
  }

  private static boolean isAsExpected(
      Map<String, Long> present, Map<String, Long> expected, int kept) {
    Map<String, Long> others = new TreeMap<>(present);
    long more = present.get("mr") - expected.get("mr");
    others.put("mr", expected.get("mr"));
    return others.equals(expected) && more >= 0 && more <= kept;
  }

  /** Runs a command, which is ended when it takes long, and gives what it prints. */
  static String run(String... command) throws IOException {
    List<String> limited = new ArrayList<>(List.of("timeout", "-s", "KILL", "60"));
    limited.addAll(List.of(command));
    Process process = new ProcessBuilder(limited).redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
