/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;
import java.net.InetSocketAddress;

/** A client loop. While it waits, virtual time passes. */
final class SimulatedClientLoop extends ClientLoop {
  private final SimulatedNetwork network;
  private final String host;

  SimulatedClientLoop(SimulatedNetwork network, String host, String name) {
    super(name, network.clock(), true, false, false);
    this.network = network;
    this.host = host;
    start();
    network.add(this);
    network.schedule(host, Sweepable.INTERVAL_NANOS, this::tick);
  }

  String host() {
    return host;
  }

  /** Runs a task in the loop, from an event. Then processes output and deadlines. */
  void deliver(LoopTask task) {
    submit(task);
    pollOnce();
  }

  /** The work of the helper thread of a real loop: drives operations that no thread waits for. */
  private void tick() {
    if (isClosed()) {
      return;
    }
    if (outstanding() > 0 || network.drivesIdleLoops()) {
      pollOnce();
    }
    network.schedule(host, Sweepable.INTERVAL_NANOS, this::tick);
  }

  @Override
  public void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler) {
    SimulatedLink link = new SimulatedLink(network, this, address, handler);
    link.connect(deadlineNanos);
  }

  @Override
  protected void poll(long waitNanos) {
    network.poll(host, waitNanos);
  }

  @Override
  protected void wakeup() {}

  @Override
  protected void destroy() {
    network.remove(this);
    for (SimulatedLink link : network.links()) {
      if (link.loop() == this) {
        link.abandon();
      }
    }
  }
}
