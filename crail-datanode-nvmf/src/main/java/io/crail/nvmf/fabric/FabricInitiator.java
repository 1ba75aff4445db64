/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.common.Threads;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.DiscoveryListener;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.Subsystem;
import io.crail.rpc.ClientLoop;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Makes controllers whose queues a fabric carries. */
public final class FabricInitiator implements Initiator {
  private static final int IDLE_SECONDS = 1;

  /** Each queue that is being opened has one at most. */
  private static final int MOST_WAITING = 1024;

  private final FabricServices services;

  /**
   * Creates an initiator; its threads come and go with their work.
   *
   * @param fabric the network, for this loop
   */
  public FabricInitiator(ClientLoop loop, Fabric fabric) {
    this.services = new FabricServices(loop, fabric, workers());
  }

  private static Executor workers() {
    int most = Runtime.getRuntime().availableProcessors();
    ThreadPoolExecutor workers =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            Threads.factory("crail-nvmf-authentication"));
    workers.allowCoreThreadTimeOut(true);
    return workers;
  }

  @Override
  public Controller controller(
      Subsystem subsystem,
      List<Integer> namespaces,
      ControllerLimits limits,
      Controller.Listener listener) {
    return new FabricController(services, subsystem, namespaces, limits, listener);
  }

  @Override
  public void discover(Subsystem service, ControllerLimits limits, DiscoveryListener listener) {
    new FabricDiscovery(services, service, limits, listener).begin();
  }

  @Override
  public void close() {
    services.fabric().close();
  }
}
