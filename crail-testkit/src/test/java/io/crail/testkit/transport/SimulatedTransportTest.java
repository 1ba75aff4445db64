/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.Transport;
import io.crail.testkit.contract.TransportContract;
import io.crail.testkit.sim.SimulatedNetwork;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The contract over the simulated network. */
class SimulatedTransportTest extends TransportContract {
  private SimulatedNetwork network;

  @Override
  protected Transport newTransport() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    network = new SimulatedNetwork(seed);
    return network.transport("client");
  }

  @Override
  protected Transport serverTransport(Transport clients) {
    return network.transport("server");
  }

  @Override
  protected InetSocketAddress anyAddress() {
    return InetSocketAddress.createUnresolved("server", 0);
  }

  @Override
  public boolean isThreaded() {
    return false;
  }

  @Override
  public void pass() {
    network.runFor(Duration.ofMillis(1));
  }

  @Override
  public void holdAnswers() {
    network.partition("client", "server");
  }

  @Override
  public void releaseAnswers() {
    network.heal("client", "server");
  }
}
