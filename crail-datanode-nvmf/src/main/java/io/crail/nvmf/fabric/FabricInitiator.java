/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.DiscoveryListener;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.Subsystem;
import io.crail.rpc.ClientLoop;
import java.util.List;

/**
 * Makes controllers whose queues a fabric carries.
 *
 * @param loop the loop
 * @param fabric the network, for this loop
 */
public record FabricInitiator(ClientLoop loop, Fabric fabric) implements Initiator {
  @Override
  public Controller controller(
      Subsystem subsystem,
      List<Integer> namespaces,
      ControllerLimits limits,
      Controller.Listener listener) {
    return new FabricController(loop, fabric, subsystem, namespaces, limits, listener);
  }

  @Override
  public void discover(Subsystem service, ControllerLimits limits, DiscoveryListener listener) {
    new FabricDiscovery(loop, fabric, service, limits, listener).begin();
  }

  @Override
  public void close() {
    fabric.close();
  }
}
