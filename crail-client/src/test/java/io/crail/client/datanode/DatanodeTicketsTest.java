/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.secret.Ticket;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal;
import java.util.Arrays;
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

  private static SmallValue issued(int seconds) {
    return Ticket.issue(OF_DATANODE, DATANODE, OF_USER, CLIENT, NOW_SECONDS, seconds);
  }

  private int mechanism(boolean once) {
    return tickets.at(DATANODE, once).mechanism();
  }

  private boolean isToRenewAfter(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
    boolean isDue = tickets.isDue(DATANODE, nowNanos);
    if (isDue) {
      tickets.asked(DATANODE, nowNanos);
    }
    return isDue;
  }

  @Test
  void anotherTicketIsAskedForAfterHalfOfTheTime() throws Exception {
    assertFalse(tickets.isDue(DATANODE, nowNanos));
    tickets.take(DATANODE, issued(100), OF_USER);
    assertFalse(isToRenewAfter(49_900));
    assertTrue(isToRenewAfter(200));
    tickets.take(DATANODE, issued(100), OF_USER);
    assertFalse(isToRenewAfter(49_900));
    // The pauses grow while none comes, and what there is stays.
    assertTrue(isToRenewAfter(200));
    assertFalse(isToRenewAfter(900));
    assertTrue(isToRenewAfter(200));
    assertFalse(isToRenewAfter(1_900));
    assertTrue(isToRenewAfter(200));
    tickets.take(DATANODE, SmallValue.NONE, OF_USER);
    tickets.prune(nowNanos);
    assertEquals(2, mechanism(false));
  }

  @Test
  void whatMapsTheMemoryLogsInWithTheTicketOfTheTime() throws Exception {
    tickets.take(DATANODE, issued(100), OF_USER);
    Credentials lasting = tickets.lasting(DATANODE, true);
    byte[] first = lasting.begin(Claim.ofClient(CLIENT)).first();
    assertEquals(3, lasting.mechanism());
    tickets.take(DATANODE, issued(200), OF_USER);
    byte[] second = lasting.begin(Claim.ofClient(CLIENT)).first();
    assertFalse(Arrays.equals(first, second));
  }

  @Test
  void whoHasAKeyProvesItOrSendsNothing() throws Exception {
    assertEquals(Anybody.CREDENTIALS, tickets.at(DATANODE, false));
    tickets.take(DATANODE, SmallValue.NONE, null);
    assertEquals(Anybody.CREDENTIALS, tickets.at(DATANODE, false));
    tickets.take(DATANODE, issued(100), OF_USER);
    assertEquals(2, mechanism(false));
    assertEquals(3, mechanism(true));
    // One that has ended may still be asked about.
    tickets.prune(nowNanos + TimeUnit.SECONDS.toNanos(101));
    assertTrue(tickets.isDue(DATANODE, nowNanos + TimeUnit.SECONDS.toNanos(101)));
    tickets.prune(nowNanos + TimeUnit.DAYS.toNanos(2));
    for (UUID each : new UUID[] {DATANODE, new UUID(8, 8)}) {
      CrailException e =
          assertThrows(
              CrailException.class, () -> tickets.at(each, true).begin(Claim.ofClient(CLIENT)));
      assertEquals(ErrorCode.UNAVAILABLE, e.code());
    }
    assertThrows(
        CrailException.class,
        () -> tickets.take(DATANODE, SmallValue.of(new byte[Ticket.LENGTH - 1]), OF_USER));
  }
}
