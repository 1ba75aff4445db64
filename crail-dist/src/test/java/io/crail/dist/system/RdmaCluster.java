/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Clusters of processes on the second device of the test machine; clients are on the first. */
final class RdmaCluster {
  /** The address of the servers. */
  static final String HOST = "10.9.0.2";

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
   * Pulls the cable somewhere between the two hosts, or puts it back: nothing arrives at either
   * end. The links stay up: a device of soft-RoCE whose own link is set down fails to send what its
   * connection manager has to say of its connections then, and never again hears what others say.
   */
  static void cable(boolean plugged) throws Exception {
    for (String end : new String[] {"rv0", "rv1"}) {
      // Never two of them.
      run("ip", "rule", "del", "pref", "1", "iif", end, "blackhole");
      if (!plugged) {
        assertEquals("", run("ip", "rule", "add", "pref", "1", "iif", end, "blackhole"));
      }
    }
  }

  /** The queue pairs of connections that both hosts have, of all processes. */
  static int queuePairs() throws Exception {
    return (int)
        run("rdma", "resource", "show", "qp").lines().filter(p -> p.contains(" type RC ")).count();
  }

  /** Runs a command and gives what it prints. */
  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }
}
