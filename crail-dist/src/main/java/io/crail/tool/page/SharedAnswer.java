/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import io.crail.common.Clock;
import io.crail.tool.metrics.HttpPort;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An answer that is made at most once a second, however many browsers ask. While one request makes
 * it, the others get the one before. Making it takes at most a fifth of the time, unless it takes
 * longer than that for seconds. Thread-safe.
 */
final class SharedAnswer {
  private static final long SHORTEST_REST_NANOS = 1_000_000_000L;
  private static final long LONGEST_REST_NANOS = 10_000_000_000L;
  private static final int REST_FACTOR = 4;

  /** How long after that an answer may be given while the next one is made. */
  private static final long OLDEST_NANOS = 20_000_000_000L;

  private final Maker maker;
  private final Clock clock;
  private final ReentrantLock making = new ReentrantLock();
  private volatile Made last;

  /** Makes the answer anew. */
  @FunctionalInterface
  interface Maker {
    /** Called by one thread at a time. An error it answers, too: it is shared like any answer. */
    HttpPort.Answer make() throws IOException;
  }

  /** An answer, and until when it is given. */
  private record Made(HttpPort.Answer answer, long untilNanos) {
    boolean isFresh(long now) {
      return now - untilNanos < 0;
    }
  }

  SharedAnswer(Maker maker, Clock clock) {
    this.maker = maker;
    this.clock = clock;
  }

  /** The present answer. Waits only for the one that this thread makes. */
  HttpPort.Answer get() throws IOException {
    Made found = last;
    if (found != null && found.isFresh(clock.nanoTime())) {
      return found.answer;
    }
    if (!making.tryLock()) {
      return found != null && clock.nanoTime() - found.untilNanos < OLDEST_NANOS
          ? found.answer
          : HttpPort.Answer.text(503, "figures are being gathered; ask again");
    }
    try {
      // Another thread may have made it meanwhile.
      found = last;
      long began = clock.nanoTime();
      if (found == null || !found.isFresh(began)) {
        HttpPort.Answer answer = maker.make();
        long now = clock.nanoTime();
        long rest = Math.min((now - began) * REST_FACTOR, LONGEST_REST_NANOS);
        found = new Made(answer, now + Math.max(rest, SHORTEST_REST_NANOS));
        last = found;
      }
      return found.answer;
    } finally {
      making.unlock();
    }
  }
}
