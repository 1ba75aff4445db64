/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which connection is served when, with a clock that the test controls. */
class ConnectionSchedulerTest {
  private static final long MICRO = 1_000;
  private static final long SLICE_MICROS = ConnectionScheduler.SLICE_NANOS / MICRO;

  private final List<String> order = new ArrayList<>();
  private long nowNanos = 1;
  private final ConnectionScheduler turns =
      new ConnectionScheduler(
          new Clock() {
            @Override
            public long nanoTime() {
              return nowNanos;
            }

            @Override
            public long currentTimeMillis() {
              return nowNanos / 1_000_000;
            }
          });

  /** A connection whose requests take a given time each. */
  private final class Peer extends ConnectionScheduler.Member {
    private final String name;
    private final long micros;
    private int requests;
    private long servedMicros;

    Peer(String name, long micros, int requests) {
      this.name = name;
      this.micros = micros;
      turns.join(this);
      ask(requests);
    }

    void ask(int more) {
      requests += more;
      if (more > 0) {
        turns.await(this);
      }
    }

    @Override
    protected void serve() {
      order.add(name);
      while (requests > 0 && turns.allowLong()) {
        requests--;
        servedMicros += micros;
        nowNanos += micros * MICRO;
      }
      if (requests > 0) {
        turns.await(this);
      }
    }
  }

  @Test
  void sharesTimeAndNotTurns() {
    Peer slow = new Peer("slow", 4 * SLICE_MICROS, 10_000);
    Peer quick = new Peer("quick", SLICE_MICROS / 10, 10_000);
    for (int i = 0; i < 200; i++) {
      turns.serveSlice();
    }
    long all = slow.servedMicros + quick.servedMicros;
    assertTrue(Math.abs(slow.servedMicros - quick.servedMicros) < all / 20, order::toString);
  }

  @Test
  void countsHowLongConnectionsWait() {
    new Peer("alone", SLICE_MICROS, 1);
    turns.serveSlice();
    assertEquals(0, turns.waitedNanos());
    new Peer("first", SLICE_MICROS, 1);
    new Peer("second", SLICE_MICROS, 1);
    turns.serveSlice();
    assertEquals(0, turns.waitedNanos());
    nowNanos += 7;
    turns.serveSlice();
    assertEquals(ConnectionScheduler.SLICE_NANOS + 7, turns.waitedNanos());
  }

  @Test
  void countsHowLongAConnectionIsBlocked() {
    Peer blocked = new Peer("blocked", SLICE_MICROS, 1);
    turns.serveSlice();
    turns.block(blocked);
    nowNanos += 5;
    blocked.requests = 2;
    turns.await(blocked);
    nowNanos += 7;
    turns.serveSlice();
    assertEquals(12, turns.waitedNanos());
    // Nothing blocks it afterwards.
    turns.serveSlice();
    assertEquals(12, turns.waitedNanos());
  }

  @Test
  void servesFirstWhoHasHadLittle() {
    Peer little = new Peer("little", 100, 0);
    for (int i = 0; i < 100; i++) {
      new Peer("much", SLICE_MICROS, 1_000);
    }
    for (int i = 0; i < 1_000; i++) {
      turns.serveSlice();
    }
    for (int i = 0; i < 10; i++) {
      // It asks for much less than a hundredth part.
      for (int j = 0; j < 100; j++) {
        turns.serveSlice();
      }
      little.ask(1);
      order.clear();
      turns.serveSlice();
      assertEquals("little", order.get(0));
    }
  }

  @Test
  void waitingConnectionsGoBeforeNewOnes() {
    new Peer("waits", SLICE_MICROS, 1_000);
    for (int i = 0; i < 100; i++) {
      for (int j = 0; j < 10; j++) {
        new Peer("new", SLICE_MICROS, 1);
      }
      order.clear();
      while (!order.contains("waits")) {
        turns.serveSlice();
      }
      // Those that were there before it had its last slice.
      assertTrue(order.size() <= 11, order::toString);
    }
  }

  @Test
  void restsAfterRequestsThatTakeLong() {
    new Peer("long", SLICE_MICROS, 1);
    assertEquals(ConnectionScheduler.SLICE_NANOS, turns.serveSlice());
    // The machine was stopped meanwhile.
    new Peer("stopped", 1_000 * SLICE_MICROS, 1);
    assertEquals(ConnectionScheduler.TURN_NANOS, turns.serveSlice());
    ConnectionScheduler.Member brief =
        new ConnectionScheduler.Member() {
          @Override
          protected void serve() {
            nowNanos += 10 * MICRO;
          }
        };
    turns.join(brief);
    turns.await(brief);
    assertEquals(0, turns.serveSlice());
  }

  @Test
  void allowsNothingLongInATurnThatHasLasted() {
    turns.begin();
    assertTrue(turns.allowLong());
    nowNanos += ConnectionScheduler.SLICE_NANOS;
    assertFalse(turns.allowLong());
    assertFalse(turns.isOver());
    nowNanos += ConnectionScheduler.TURN_NANOS;
    assertTrue(turns.isOver());
    turns.begin();
    assertTrue(turns.allowLong());
    new Peer("waits", SLICE_MICROS, 1);
    assertFalse(turns.allowLong(), "others wait");
  }
}
