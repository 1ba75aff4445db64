/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.namenode.LogHome;
import io.crail.namenode.LogStanding;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.conf.Durability;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A namenode on a simulated host: the real code, with its timer in virtual time. It pauses and dies
 * with its host. Used by the network's thread.
 */
public final class SimulatedNamenode implements AutoCloseable {
  private static final int USUAL_NANOS = 3_000_000;
  private static final int MOST_NANOS = 500_000_000;
  private static final int SEGMENT_BYTES = 256 << 10;
  private static final int MOST_RECORDS = 500;

  private final SimulatedNetwork network;
  private final Configuration configuration;
  private final int index;
  private final int count;
  private final InetSocketAddress address;
  private final SimulatedDisk disk;
  private LogHome home;
  private NameNodeServer server;
  private long snapshots;

  /** How many of them the present start has made. */
  private long counted;

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
    this(network, configuration, index, count, address, null);
  }

  /**
   * Starts a namenode that keeps its metadata, and takes what it finds.
   *
   * @param disk where its log is, or is to be
   */
  public SimulatedNamenode(
      SimulatedNetwork network,
      Configuration configuration,
      int index,
      int count,
      InetSocketAddress address,
      SimulatedDisk disk)
      throws IOException {
    this.network = network;
    this.configuration = configuration;
    this.index = index;
    this.count = count;
    this.address = address;
    this.disk = disk;
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
            network.random(),
            home());
    if (disk != null) {
      disk.endCommitsBy(task -> network.schedule(host(), writeNanos(), task));
    }
    server = started;
    counted = 0;
    NamenodeAddresses all = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    if (all.size() == count) {
      started.meet(all);
    }
    tickLater(started);
  }

  /** A new use of the disk. What is written takes its time, once there is a server. */
  private LogHome home() {
    if (disk == null) {
      return null;
    }
    disk.endCommitsBy(Runnable::run);
    home =
        new LogHome(
            disk,
            task -> network.schedule(host(), 0, task),
            Runnable::run,
            task -> network.schedule(host(), network.random().nextInt(MOST_NANOS), task),
            () -> {},
            network.clock(),
            SEGMENT_BYTES,
            network.random().nextInt(MOST_RECORDS));
    if (configuration.get(NameNodeKeys.DURABILITY) == Durability.ASYNC) {
      home.ahead(configuration.get(NameNodeKeys.LOG_DELAY).toNanos());
    }
    return home;
  }

  /** A disk is slow now and then, and much may be lost that it has not confirmed. */
  private long writeNanos() {
    return network.random().nextInt(network.random().nextInt(4) > 0 ? USUAL_NANOS : MOST_NANOS);
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

  /** Kills it together with its host. All is gone but what the disk has. */
  public void kill(boolean silently) {
    if (server != null) {
      network.kill(host(), silently);
      if (disk != null) {
        home.abandon();
        disk.crash();
      }
      end();
    }
  }

  private void end() {
    countSnapshots();
    server.close();
    server = null;
  }

  /**
   * How many snapshots it has made so far.
   *
   * @throws IllegalStateException when it could not make one
   */
  public long snapshots() {
    if (server != null) {
      countSnapshots();
    }
    return snapshots;
  }

  private void countSnapshots() {
    LogStanding log = server.log().orElse(null);
    if (log != null) {
      if (log.failedSnapshots() > 0) {
        throw new IllegalStateException(host() + " could not make a snapshot");
      }
      snapshots += log.snapshots() - counted;
      counted = log.snapshots();
    }
  }

  /** Whether a killed one is as it was when it starts again. */
  public boolean isDurable() {
    return disk != null;
  }

  /** Starts a namenode at the address of a killed one; an empty one if there is no disk. */
  public void restart() throws IOException {
    network.revive(host());
    start();
  }

  @Override
  public void close() {
    if (server != null) {
      if (disk != null) {
        home.abandon();
      }
      end();
    }
  }
}
