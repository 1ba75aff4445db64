/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.secret.Ticket;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A client has a ticket of each datanode, and asks for another one when half of its time is over.
 */
class DatanodeTicketsTest {
  private static final UUID DATANODE = new UUID(1, 2);
  private static final long CLIENT = 3;
  private static final long NOW_SECONDS = 1_000_000;

  private static final LoginKey OF_DATANODE = key(Principal.Role.DATANODE, 1);
  private static final LoginKey OF_USER = key(Principal.Role.CLIENT, 2);

  private long nowNanos = 5;
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return nowNanos;
        }

        @Override
        public long currentTimeMillis() {
          return TimeUnit.SECONDS.toMillis(NOW_SECONDS);
        }
      };
  private final DatanodeTickets tickets = new DatanodeTickets(CLIENT, clock);

  private static LoginKey key(Principal.Role role, int content) {
    byte[] bytes = new byte[LoginKey.LENGTH];
    bytes[0] = (byte) content;
    return new LoginKey(role, Utf8.of("name"), 1, Utf8.of("master"), bytes);
  }

  private static SmallValue issued(long seconds) {
    return Ticket.issue(OF_DATANODE, DATANODE, OF_USER, CLIENT, NOW_SECONDS + seconds);
  }

  private int mechanism(boolean once) {
    return tickets.at(DATANODE, once).mechanism();
  }

  @Test
  void aTicketIsOldAfterHalfOfItsTime() throws Exception {
    assertFalse(tickets.isOld(DATANODE, nowNanos));
    tickets.take(DATANODE, issued(100), OF_USER);
    assertFalse(tickets.isOld(DATANODE, nowNanos + TimeUnit.SECONDS.toNanos(49)));
    assertTrue(tickets.isOld(DATANODE, nowNanos + TimeUnit.SECONDS.toNanos(51)));
    nowNanos += TimeUnit.SECONDS.toNanos(51);
    tickets.take(DATANODE, issued(100), OF_USER);
    assertFalse(tickets.isOld(DATANODE, nowNanos));
  }

  @Test
  void aClockThatIsWrongMakesNoFlood() throws Exception {
    tickets.take(DATANODE, issued(-5000), OF_USER);
    assertFalse(tickets.isOld(DATANODE, nowNanos + TimeUnit.MILLISECONDS.toNanos(999)));
    assertTrue(tickets.isOld(DATANODE, nowNanos + TimeUnit.MILLISECONDS.toNanos(1001)));
  }

  @Test
  void withoutATicketNothingIsProved() throws Exception {
    assertEquals(Anybody.CREDENTIALS, tickets.at(DATANODE, false));
    tickets.take(DATANODE, issued(100), OF_USER);
    assertEquals(2, mechanism(false));
    assertEquals(3, mechanism(true));
    // The namenode wants no login any more.
    tickets.take(DATANODE, SmallValue.NONE, OF_USER);
    assertEquals(0, mechanism(true));
    tickets.take(DATANODE, issued(100), OF_USER);
    tickets.forget(DATANODE);
    assertEquals(0, mechanism(false));
    assertThrows(
        CrailException.class,
        () -> tickets.take(DATANODE, SmallValue.of(new byte[Ticket.LENGTH - 1]), OF_USER));
  }
}
