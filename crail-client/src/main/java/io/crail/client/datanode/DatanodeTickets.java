/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.secret.Ticket;
import io.crail.protocol.secret.TicketCredentials;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;
import io.crail.storage.DataCredentials;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The tickets of a client for datanodes, as the namenodes have given them. Thread-safe. */
final class DatanodeTickets implements DataCredentials {
  private static final long NANOS = 1_000_000_000L;
  private static final long FIRST_PAUSE_NANOS = NANOS;
  private static final long LONGEST_PAUSE_NANOS = 60 * NANOS;
  private static final long KEPT_NANOS = 86_400 * NANOS;

  /** As if there were one; refused before anything is sent. */
  private static final Credentials NONE =
      new Credentials() {
        @Override
        public int mechanism() {
          return Anybody.CREDENTIALS.mechanism();
        }

        @Override
        public Initiator begin(Claim claim) throws CrailException {
          throw ErrorCode.UNAVAILABLE.exception("there is no ticket for the datanode yet");
        }
      };

  private final long client;
  private final Clock clock;
  private final Map<UUID, Held> held = new ConcurrentHashMap<>();
  private volatile boolean isRequired;

  /** A ticket, when to ask for another one, and the pause after an attempt that brings none. */
  private record Held(Ticket ticket, long endNanos, long renewNanos, long pauseNanos) {}

  DatanodeTickets(long client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  /**
   * Takes what a namenode has sent.
   *
   * @param key that of the login at the namenode; null if there was none
   * @throws CrailException when it is no ticket
   */
  void take(UUID datanode, SmallValue sent, LoginKey key) throws CrailException {
    if (key == null) {
      return;
    }
    isRequired = true;
    if (sent.length() > 0) {
      Ticket ticket = Ticket.read(sent, datanode, key, client);
      long now = clock.nanoTime();
      long nanos = ticket.seconds() * NANOS;
      held.put(datanode, new Held(ticket, now + nanos, now + nanos / 2, FIRST_PAUSE_NANOS));
    }
  }

  /** Whether it is time to ask for another one. */
  boolean isDue(UUID datanode, long nowNanos) {
    Held here = held.get(datanode);
    return here != null && nowNanos - here.renewNanos >= 0;
  }

  /** It was asked for; the next time is after a pause, if none comes. */
  void asked(UUID datanode, long nowNanos) {
    held.computeIfPresent(
        datanode,
        (uuid, here) ->
            new Held(
                here.ticket,
                here.endNanos,
                nowNanos + here.pauseNanos,
                Math.min(2 * here.pauseNanos, LONGEST_PAUSE_NANOS)));
  }

  /** Forgets those that have ended long ago. Until then, their datanodes may be asked about. */
  void prune(long nowNanos) {
    held.values().removeIf(each -> nowNanos - each.endNanos >= KEPT_NANOS);
  }

  /** What it logs in with at one datanode, each time with the ticket that there is then. */
  Credentials lasting(UUID datanode, boolean once) {
    return new Credentials() {
      @Override
      public int mechanism() {
        return at(datanode, once).mechanism();
      }

      @Override
      public Initiator begin(Claim claim) throws CrailException {
        return at(datanode, once).begin(claim);
      }
    };
  }

  @Override
  public Credentials at(UUID datanode, boolean once) {
    Held here = held.get(datanode);
    if (here != null) {
      return new TicketCredentials(here.ticket, once);
    }
    return isRequired ? NONE : Anybody.CREDENTIALS;
  }
}
