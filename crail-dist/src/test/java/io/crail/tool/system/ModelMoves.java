/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.common.Addresses;
import io.crail.testkit.nemesis.Fault;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands that move data while the nemesis harms processes. They are killed in the middle. A
 * datanode that was being drained is used again afterwards, or started again if it has ended.
 */
final class ModelMoves {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final ProcessCluster cluster;
  private final List<CrailProcess> running = new ArrayList<>();
  private final List<Integer> drained = new ArrayList<>();
  private String answer = "";

  ModelMoves(ProcessCluster cluster) {
    this.cluster = cluster;
  }

  private String address(int datanode) {
    InetSocketAddress address = cluster.datanodeAddress(datanode);
    return Addresses.text(address.getHostString(), address.getPort());
  }

  /** Starts a command. */
  void begin(Fault fault, int datanode) throws Exception {
    if (fault == Fault.DRAIN) {
      drained.add(datanode);
      running.add(cluster.crail("drain", address(datanode)));
    } else {
      running.add(cluster.crail("rebalance", "--threshold", "1"));
    }
  }

  /** Kills all commands. */
  void end() throws Exception {
    for (CrailProcess each : running) {
      each.kill();
    }
    running.clear();
  }

  /** Brings all datanodes back that were being drained. All namenodes have to answer by now. */
  void healed() throws Exception {
    end();
    for (int datanode : drained) {
      try {
        Await.until("datanode " + datanode + " is used again", PATIENCE, () -> isBack(datanode));
      } catch (AssertionError e) {
        throw new AssertionError(e.getMessage() + "; the last answer was: " + answer, e);
      }
    }
    drained.clear();
  }

  private boolean isBack(int datanode) throws Exception {
    if (!cluster.datanode(datanode).isAlive()) {
      cluster.startDatanodeAgain(datanode);
      return true;
    }
    CrailProcess cancel =
        cluster.run("drain", "--cancel", address(datanode), "--set", "crail.rpctimeout=60s");
    answer = cancel.stderr();
    return cancel.awaitExit(PATIENCE) == 0;
  }
}
