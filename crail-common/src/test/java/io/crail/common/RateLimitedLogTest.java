/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class RateLimitedLogTest {
  private static final long SECOND = 1_000_000_000L;

  private final List<String> lines = new ArrayList<>();
  private long nanos = Long.MAX_VALUE - SECOND;

  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return nanos;
        }

        @Override
        public long currentTimeMillis() {
          return 0;
        }
      };

  /** A logger that keeps all messages. */
  private Logger logger() {
    return (Logger)
        Proxy.newProxyInstance(
            RateLimitedLogTest.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              lines.add(String.valueOf(arguments[1]));
              return null;
            });
  }

  @Test
  void soManyAtOnceThenOneASecond() {
    RateLimitedLog log = new RateLimitedLog(logger(), clock, 3);
    for (int i = 0; i < 10; i++) {
      log.info("a" + i);
    }
    assertEquals(List.of("a0", "a1", "a2"), lines);
    nanos += SECOND;
    log.warn("b\u001b\n");
    log.warn("c");
    assertEquals("b\\u001b\\n (7 similar lines left out)", lines.get(3));
    assertEquals(4, lines.size());
    nanos += 100 * SECOND;
    for (int i = 0; i < 10; i++) {
      log.info("d");
    }
    assertEquals(List.of("d (1 similar lines left out)", "d", "d"), lines.subList(4, 7));
    assertEquals(7, lines.size());
  }

  @Test
  void oneASecondByDefault() {
    RateLimitedLog log = new RateLimitedLog(logger(), clock);
    for (int i = 0; i < 30; i++) {
      log.warn("a");
      nanos += SECOND / 10;
    }
    assertEquals(3, lines.size());
  }

  /** A thread that logs what it survives must survive that there is no memory to log. */
  @Test
  void aLogThatFailsIsNoFailureOfTheCaller() {
    Logger failing =
        (Logger)
            Proxy.newProxyInstance(
                RateLimitedLogTest.class.getClassLoader(),
                new Class<?>[] {Logger.class},
                (proxy, method, arguments) -> {
                  throw new OutOfMemoryError("of the test");
                });
    new RateLimitedLog(failing, clock).warn("a");
  }

  @Test
  void logsASurvivedErrorIfThereIsMemory() {
    RateLimitedLog log = new RateLimitedLog(logger(), clock, 2);
    log.warn("a", new IllegalStateException("b"));
    log.warn(
        "c",
        new IllegalStateException() {
          @Override
          public String toString() {
            throw new OutOfMemoryError("of the test");
          }
        });
    assertEquals(List.of("a: java.lang.IllegalStateException: b", "c"), lines);
  }
}
