/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RequestCountersTest {
  private static final int PING = NameNodeOperations.PING.number();

  private final AtomicLong nanos = new AtomicLong(1L << 40);
  private final AtomicLong readings = new AtomicLong();
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          readings.incrementAndGet();
          return nanos.get();
        }

        @Override
        public long currentTimeMillis() {
          return 0;
        }
      };
  private final RequestCounters counters = new RequestCounters();
  private final RpcPeer.Listener loop = counters.onLoop(clock);

  private static RpcCall call() {
    return new OperationCall<>(NameNodeOperations.PING);
  }

  private void serve(long took) {
    RpcCall call = call();
    loop.begun(call);
    nanos.addAndGet(took);
    loop.ended(call, PING, null);
  }

  @Test
  void allAreCountedAndSomeOneOfSixteenIsTimed() {
    for (int i = 0; i < 3200; i++) {
      serve(1000);
    }
    assertEquals(3200, counters.count(NameNodeOperations.PING));
    assertEquals(0, counters.count(NameNodeOperations.LOOKUP));
    OperationCounters timed = counters.counters(NameNodeOperations.PING);
    assertTrue(timed.count() > 100 && timed.count() < 400, timed.count() + " times");
    assertEquals(1000 * timed.count(), timed.nanos());
    assertEquals(2 * timed.count(), readings.get());
    long median = timed.quantileNanos(0.5);
    assertTrue(median >= 512 && median <= 1024, median + " ns");
  }

  @Test
  void eachOfTheRequestsThatAProgramRepeatsIsTimed() {
    int[] cycle = {
      PING, NameNodeOperations.LOOKUP.number(), PING, NameNodeOperations.SET_SIZE.number()
    };
    for (int i = 0; i < 1600; i++) {
      RpcCall call = call();
      loop.begun(call);
      loop.ended(call, cycle[i % cycle.length], null);
    }
    assertTrue(counters.counters(NameNodeOperations.LOOKUP).count() > 5);
    assertTrue(counters.counters(NameNodeOperations.SET_SIZE).count() > 5);
  }

  @Test
  void aSlowRequestAmongOthersKeepsItsTime() {
    RpcCall slow = call();
    loop.begun(slow);
    for (int i = 0; i < 100; i++) {
      serve(10);
    }
    loop.ended(slow, PING, null);
    assertEquals(1, counters.counters(NameNodeOperations.PING).count());
    assertEquals(1000, counters.counters(NameNodeOperations.PING).nanos());
    for (int i = 0; i < 31; i++) {
      serve(10);
    }
    assertTrue(counters.counters(NameNodeOperations.PING).count() > 1);
  }

  @Test
  void errorsAndLoopsAddUp() {
    // A handshake ends without having begun.
    loop.ended(call(), PING, ErrorCode.UNAVAILABLE.exception(""));
    RpcPeer.Listener other = counters.onLoop(clock);
    RpcCall call = call();
    other.begun(call);
    other.ended(call, PING, ErrorCode.TIMED_OUT.exception(""));
    serve(10);
    assertEquals(3, counters.count(NameNodeOperations.PING));
    OperationCounters ping = counters.counters(NameNodeOperations.PING);
    assertEquals(1, ping.errors(ErrorCode.UNAVAILABLE));
    assertEquals(1, ping.errors(ErrorCode.TIMED_OUT));
    counters.reset();
    assertEquals(0, counters.count(NameNodeOperations.PING));
    assertEquals(0, ping.errors(ErrorCode.TIMED_OUT));
    assertEquals(0, ping.count());
    serve(10);
    assertEquals(1, counters.count(NameNodeOperations.PING));
  }
}
