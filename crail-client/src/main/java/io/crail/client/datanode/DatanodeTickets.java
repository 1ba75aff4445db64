/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.secret.Ticket;
import io.crail.protocol.secret.TicketCredentials;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;
import io.crail.storage.DataCredentials;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The tickets of a client for datanodes, as the namenodes have given them. Thread-safe. */
final class DatanodeTickets implements DataCredentials {
  /** Not more often, so that a clock that goes wrong does not make a flood of requests. */
  private static final long LEAST_NANOS = 1_000_000_000L;

  private final long client;
  private final Clock clock;
  private final Map<UUID, Held> held = new ConcurrentHashMap<>();

  /** A ticket, and when half of its time is over. */
  private record Held(Ticket ticket, long renewNanos) {}

  DatanodeTickets(long client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  /**
   * Takes what a namenode has sent.
   *
   * @param key that of the login at the namenode
   * @throws CrailException when it is no ticket
   */
  void take(UUID datanode, SmallValue sent, LoginKey key) throws CrailException {
    if (sent.length() == 0 || key == null) {
      held.remove(datanode);
      return;
    }
    Ticket ticket = Ticket.read(sent, datanode, key, client);
    long half = ticket.secondsLeft(clock.currentTimeMillis() / 1000) * 1_000_000_000L / 2;
    held.put(datanode, new Held(ticket, clock.nanoTime() + Math.max(half, LEAST_NANOS)));
  }

  /** Whether it is time to ask for another one. */
  boolean isOld(UUID datanode, long nowNanos) {
    Held here = held.get(datanode);
    return here != null && nowNanos - here.renewNanos >= 0;
  }

  /** The datanode process is no longer known. */
  void forget(UUID datanode) {
    held.remove(datanode);
  }

  @Override
  public Credentials at(UUID datanode, boolean once) {
    Held here = held.get(datanode);
    return here == null ? Anybody.CREDENTIALS : new TicketCredentials(here.ticket, once);
  }
}
