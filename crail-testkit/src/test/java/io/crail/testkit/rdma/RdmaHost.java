/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The test machine as its root sees it: what the devices hold, and the cable between them. */
public final class RdmaHost {
  /** Set where this host's own device stands for both hosts: its name. */
  static final String OWN_DEVICE = "crail.test.rdma.device";

  /** The address of servers. */
  public static final String SERVER = System.getProperty("crail.test.rdma.server", "10.9.0.2");

  /** The address of clients, where there are two hosts. */
  public static final String CLIENT = "10.9.0.1";

  static final String SERVER_DEVICE = System.getProperty(OWN_DEVICE, "rxe1");
  public static final String CLIENT_DEVICE = System.getProperty(OWN_DEVICE, "rxe0");

  /** The devices of servers and clients. */
  public static final Set<String> DEVICES =
      Collections.unmodifiableSet(new TreeSet<>(List.of(SERVER_DEVICE, CLIENT_DEVICE)));

  private static final Pattern COUNT = Pattern.compile("\\b(pd|cq|qp|cm_id|mr) (\\d+)");
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private RdmaHost() {}

  /** False where one device stands for both hosts. */
  public static boolean hasTwoHosts() {
    return System.getProperty(OWN_DEVICE) == null;
  }

  /** What both devices hold for all processes and the kernel, by kind. */
  public static Map<String, Integer> resources() throws IOException {
    Map<String, Integer> counts = new TreeMap<>();
    Matcher found = COUNT.matcher(run("rdma", "resource", "show"));
    while (found.find()) {
      counts.merge(found.group(1), Integer.parseInt(found.group(2)), Integer::sum);
    }
    return counts;
  }

  /** The connections of a device that are established, as far as it knows; of all processes. */
  public static int connections(String device) throws IOException {
    return (int)
        run("rdma", "resource", "show", "qp")
            .lines()
            .filter(line -> line.startsWith("link " + device + "/"))
            .filter(line -> line.contains(" type RC state RTS "))
            .count();
  }

  /**
   * Lets the second host hear the first one, or nothing of it: what arrives there is dropped. Other
   * than with a link that is down, or a neighbour whose address has changed, no device knows.
   */
  public static void hear(boolean hearing) throws IOException {
    arrive("rv1", hearing);
  }

  /** Lets the first host hear the second one, or nothing of it. */
  public static void answersArrive(boolean arriving) throws IOException {
    arrive("rv0", arriving);
  }

  /**
   * Pulls the cable somewhere between the hosts, or puts it back: neither hears the other. The
   * links stay up: a device of soft-RoCE whose own link is set down fails to send what its
   * connection manager has to say of its connections then, and never again hears what others say to
   * it.
   */
  static void cable(boolean plugged) throws IOException {
    arrive("rv0", plugged);
    arrive("rv1", plugged);
  }

  private static void arrive(String link, boolean arriving) throws IOException {
    // Never two of them.
    run("ip", "rule", "del", "pref", "1", "iif", link, "blackhole");
    if (!arriving) {
      run("ip", "rule", "add", "pref", "1", "iif", link, "blackhole");
    }
  }

  /** What is known of the ways that begin at a host, by its number, 0 or 1. */
  static String routes(int host) throws IOException {
    return run("ip", "route", "show", "table", String.valueOf(101 + host))
        + run("ip", "-6", "route", "show", "table", String.valueOf(101 + host));
  }

  /** Waits for a condition, with a deadline. */
  public static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.call()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within its time: " + what);
      }
      Thread.sleep(20);
    }
  }

  /** Runs a command; gives its output and errors. */
  public static String run(String... command) throws IOException {
    List<String> limited = new ArrayList<>(List.of("timeout", "-s", "KILL", "60"));
    limited.addAll(List.of(command));
    Process process = new ProcessBuilder(limited).redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
