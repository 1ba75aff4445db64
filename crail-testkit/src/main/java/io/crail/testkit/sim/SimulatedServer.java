/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.rpc.CommitQueue;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A listening server on the simulated network. */
final class SimulatedServer implements Transport.ServerEndpoint {
  private static final long SWEEP_NANOS = 1_000_000_000;
  private static final long MOST_HELD_BYTES = 16 << 20;

  private final SimulatedNetwork network;
  private final String host;
  private final Service service;
  private final HeldAnswers answers;
  private final CommitQueue commits;
  private InetSocketAddress address;
  private boolean isSweepQueued;

  SimulatedServer(SimulatedNetwork network, String host, Service service) {
    this.network = network;
    this.host = host;
    this.service = service;
    this.answers =
        new HeldAnswers(
            network.clock(),
            task -> network.schedule(host, 0, task),
            // Not of the heap of this JVM, which must not change what a seed does.
            MOST_HELD_BYTES);
    this.commits = new CommitQueue(service.gate(), task -> network.schedule(host, 0, task));
  }

  void bound(InetSocketAddress newAddress) {
    address = newAddress;
  }

  String host() {
    return host;
  }

  Service service() {
    return service;
  }

  /** The answers that its connections hold back. */
  HeldAnswers answers() {
    return answers;
  }

  /** Its connections whose answers wait for a commit. */
  CommitQueue commits() {
    return commits;
  }

  /** Has held answers end at their deadlines, as long as there are some. */
  void sweepLater() {
    if (!isSweepQueued && answers.count() > 0) {
      isSweepQueued = true;
      network.schedule(host, SWEEP_NANOS, this::sweep);
    }
  }

  private void sweep() {
    isSweepQueued = false;
    answers.sweep(network.clock().nanoTime());
    sweepLater();
  }

  @Override
  public Map<String, Long> statistics() {
    Map<String, Long> statistics = new HashMap<>();
    HeldAnswers.addStatistics(statistics, List.of(answers));
    return statistics;
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close() {
    network.unbind(this);
    for (SimulatedLink link : network.links()) {
      if (link.server() == this) {
        link.closeServerEnd("the server was closed");
      }
    }
  }
}
