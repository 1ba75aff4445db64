/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.common.config.Configuration;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * A namenode on a simulated host: the real code, with its timer in virtual time. It pauses and dies
 * with its host. Used by the network's thread.
 */
public final class SimulatedNamenode implements AutoCloseable {
  private final SimulatedNetwork network;
  private final Configuration configuration;
  private final int index;
  private final int count;
  private final InetSocketAddress address;
  private NameNodeServer server;

  /**
   * Starts a namenode. Its host is that of its address.
   *
   * @param index the index of this namenode, from 0
   * @param count the number of namenodes
   */
  public SimulatedNamenode(
      SimulatedNetwork network,
      Configuration configuration,
      int index,
      int count,
      InetSocketAddress address)
      throws IOException {
    this.network = network;
    this.configuration = configuration;
    this.index = index;
    this.count = count;
    this.address = address;
    start();
  }

  /** The name of its host. */
  public String host() {
    return address.getHostString();
  }

  /** The namenode, paused or not; null while it is dead. */
  public NameNodeServer server() {
    return server;
  }

  private void start() throws IOException {
    NameNodeServer started =
        NameNodeServer.open(
            configuration,
            index,
            count,
            address,
            network.transport(host()),
            network.clock(),
            network.random());
    server = started;
    List<InetSocketAddress> all = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    if (all.size() == count) {
      started.meet(all);
    }
    tickLater(started);
  }

  private void tickLater(NameNodeServer ticked) {
    network.schedule(
        host(),
        Duration.ofNanos(NameNodeServer.TICK_NANOS),
        () -> {
          if (server == ticked) {
            ticked.tick();
            tickLater(ticked);
          }
        });
  }

  /** Kills it together with its host. Its state is gone. */
  public void kill(boolean silently) {
    if (server != null) {
      network.kill(host(), silently);
      server.close();
      server = null;
    }
  }

  /** Starts an empty namenode at the address of a killed one. */
  public void restart() throws IOException {
    network.revive(host());
    start();
  }

  @Override
  public void close() {
    if (server != null) {
      server.close();
      server = null;
    }
  }
}
