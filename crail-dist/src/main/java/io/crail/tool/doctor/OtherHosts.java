/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Threads;
import io.crail.protocol.ClusterKeys;
import io.crail.rpc.TransportProvider;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.report.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the doctor on other hosts through ssh, as start-crail starts servers there. */
final class OtherHosts {
  /** Connecting, and a JVM on a slow host. */
  private static final int SECONDS = 60;

  private static final int END_SECONDS = 5;

  private static final int HOSTS_AT_ONCE = 32;
  private static final int MOST_BYTES = 1 << 20;
  private static final long CLOCK_MILLIS = 2_000;

  /** A cluster whose hosts do not agree on these is none. */
  private static final Set<String> SAME =
      Set.of(
          ClusterKeys.NAMENODE_ADDRESS.name(),
          ClusterKeys.CLUSTER_NAME.name(),
          TransportProvider.RPC_TYPE.name());

  private final HostAnswer here;
  private final String home;
  private final String confDirectory;

  /**
   * Creates it.
   *
   * @param here what the others are compared with
   * @param home the directory of Crail, here and there
   * @param confDirectory the directory of the configuration, here and there
   */
  OtherHosts(HostAnswer here, String home, String confDirectory) {
    this.here = here;
    this.home = home;
    this.confDirectory = confDirectory;
  }

  /** Examines hosts, many at a time. */
  Map<String, List<Finding>> run(Set<String> hosts) throws InterruptedException {
    ExecutorService threads =
        Executors.newFixedThreadPool(
            Math.max(1, Math.min(hosts.size(), HOSTS_AT_ONCE)), Threads.factory("crail-doctor"));
    try (ShutdownGate gate = ShutdownGate.open()) {
      gate.onAsked(Thread.currentThread()::interrupt);
      try {
        return examine(hosts, threads);
      } finally {
        threads.shutdownNow();
        // Each ends its ssh first, so that none is left when this process ends.
        threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  private Map<String, List<Finding>> examine(Set<String> hosts, ExecutorService threads)
      throws InterruptedException {
    Map<String, Future<List<Finding>>> answers = new LinkedHashMap<>();
    hosts.forEach(host -> answers.put(host, threads.submit(() -> examine(host))));
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    for (Map.Entry<String, Future<List<Finding>>> answer : answers.entrySet()) {
      findings.put(answer.getKey(), ended(answer.getValue()));
    }
    return findings;
  }

  private static List<Finding> ended(Future<List<Finding>> answer) throws InterruptedException {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      return List.of(
          Finding.broken("could not be examined: " + e.getCause().getMessage(), "is ssh there?"));
    }
  }

  private List<Finding> examine(String host) throws IOException, InterruptedException {
    // A file, since what ssh leaves in the background may hold a pipe open.
    Path output = Files.createTempFile("crail-doctor", ".out");
    long before = System.currentTimeMillis();
    Process ssh = null;
    try {
      ssh =
          new ProcessBuilder(
                  "ssh", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", host, command())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      boolean ended = ssh.waitFor(SECONDS, TimeUnit.SECONDS);
      long after = System.currentTimeMillis();
      List<String> lines = lines(output);
      HostAnswer there = HostAnswer.read(lines);
      return ended && there.clockMillis() >= 0
          ? compare(there, before, after)
          : List.of(unanswered(lines));
    } finally {
      if (ssh != null) {
        ssh.destroyForcibly();
      }
      Files.delete(output);
    }
  }

  private String command() {
    return "CRAIL_HOME="
        + quoted(home)
        + " CRAIL_CONF_DIR="
        + quoted(confDirectory)
        + " timeout "
        + SECONDS
        + " "
        + quoted(home + "/bin/crail")
        + " doctor --here --plain";
  }

  private static List<String> lines(Path output) throws IOException {
    try (InputStream in = Files.newInputStream(output)) {
      return new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8).lines().toList();
    }
  }

  /** For the shell of the other host. */
  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  private static Finding unanswered(List<String> lines) {
    String last =
        lines.isEmpty() ? "no answer within " + SECONDS + " s" : lines.get(lines.size() - 1);
    return Finding.broken(
        "Crail cannot be run there through ssh: " + last,
        "ssh must work without a password, with Crail in the same directory as here");
  }

  private List<Finding> compare(HostAnswer there, long before, long after) {
    List<Finding> findings = new ArrayList<>(there.findings());
    if (!there.version().equals(here.version())) {
      findings.add(
          Finding.broken(
              "it has Crail " + there.version() + ", and this host " + here.version(),
              "install the same version everywhere"));
    }
    long ahead =
        there.clockMillis() > after ? there.clockMillis() - after : there.clockMillis() - before;
    boolean within = there.clockMillis() >= before && there.clockMillis() <= after;
    if (!within && Math.abs(ahead) > CLOCK_MILLIS) {
      findings.add(
          Finding.warning(
              "its clock is "
                  + Math.abs(ahead) / 1000
                  + " s "
                  + (ahead > 0 ? "ahead of" : "late against")
                  + " that of this host, which makes logs hard to read",
              "run an NTP client, such as chrony"));
    }
    findings.addAll(compareSettings(there.settings()));
    return findings;
  }

  private List<Finding> compareSettings(Map<String, String> there) {
    Set<String> differing = new TreeSet<>(there.keySet());
    differing.addAll(here.settings().keySet());
    differing.removeIf(
        key -> there.getOrDefault(key, "").equals(here.settings().getOrDefault(key, "")));
    Set<String> vital = new TreeSet<>(differing);
    vital.retainAll(SAME);
    if (!vital.isEmpty()) {
      return List.of(
          Finding.broken(
              "its configuration differs from that of this host in " + String.join(", ", vital),
              "copy " + confDirectory + "/crail-site.conf to all hosts"));
    }
    return differing.isEmpty()
        ? List.of(Finding.ok("the same configuration as this host"))
        : List.of(
            Finding.warning(
                "its configuration differs from that of this host in "
                    + String.join(", ", differing),
                "copy " + confDirectory + "/crail-site.conf to all hosts, unless it is meant so"));
  }
}
