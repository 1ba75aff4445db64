/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * An order to cut off clients. Their connections end, and clients on this host that map the regions
 * may not copy any more. A client in the middle of a copy is waited for until it has continued or
 * ended. Runs in the thread that accepts connections and beats, so a client that connects after
 * this checks its leases after this.
 */
public final class ClientCutOff implements Runnable {
  private final Set<Long> clients;
  private final HostedRegions regions;
  private final Predicate<Set<Long>> endConnections;
  private final Executor thread;
  private boolean connectionsEnded;
  private List<Long> revoked;
  private volatile boolean done;

  private ClientCutOff(
      Set<Long> clients,
      HostedRegions regions,
      Predicate<Set<Long>> endConnections,
      Executor thread) {
    this.clients = clients;
    this.regions = regions;
    this.endConnections = endConnections;
    this.thread = thread;
  }

  /**
   * Gives the order.
   *
   * @param endConnections ends all connections of some clients; false when that is not possible
   * @param thread runs tasks in the thread that accepts and beats
   * @return answers whether the order is done, as {@link io.crail.storage.Fencer#cutOff} requires
   */
  public static BooleanSupplier order(
      List<Long> clients,
      HostedRegions regions,
      Predicate<Set<Long>> endConnections,
      Executor thread) {
    ClientCutOff order = new ClientCutOff(Set.copyOf(clients), regions, endConnections, thread);
    thread.execute(order);
    return order::isDone;
  }

  private boolean isDone() {
    if (!done) {
      thread.execute(this);
    }
    return done;
  }

  @Override
  public void run() {
    connectionsEnded = connectionsEnded || endConnections.test(clients);
    if (connectionsEnded && revoked == null) {
      revoked = regions.revoke(clients);
    }
    done = revoked != null && regions.areIdle(revoked);
  }
}
