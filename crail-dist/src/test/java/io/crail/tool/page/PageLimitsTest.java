/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.tool.metrics.HttpPort.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What keeps browsers from burdening a namenode, and strangers' sites from reading its page. */
class PageLimitsTest {
  private static final long SECOND = 1_000_000_000L;

  private final AtomicLong now = new AtomicLong(-5 * SECOND);
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return now.get();
        }

        @Override
        public long currentTimeMillis() {
          return 0;
        }
      };
  private final AtomicInteger made = new AtomicInteger();

  private static String text(Answer answer) {
    return new String(answer.body(), StandardCharsets.UTF_8).strip();
  }

  @Test
  void anAnswerIsMadeOnceASecond() throws Exception {
    SharedAnswer shared =
        new SharedAnswer(() -> Answer.text(200, String.valueOf(made.incrementAndGet())), clock);
    for (int i = 0; i < 1000; i++) {
      assertEquals("1", text(shared.get()));
    }
    now.addAndGet(SECOND - 1);
    assertEquals("1", text(shared.get()));
    now.addAndGet(1);
    assertEquals("2", text(shared.get()));
  }

  @Test
  void anAnswerThatTakesLongIsMadeLessOften() throws Exception {
    SharedAnswer shared =
        new SharedAnswer(
            () -> {
              now.addAndGet(SECOND);
              return Answer.text(502, String.valueOf(made.incrementAndGet()));
            },
            clock);
    assertEquals("1", text(shared.get()));
    now.addAndGet(4 * SECOND - 1);
    assertEquals("1", text(shared.get()));
    now.addAndGet(1);
    assertEquals("2", text(shared.get()));
  }

  /** No request waits for what another one gathers, and nothing is gathered twice. */
  @Test
  void requestsDoNotWaitForEachOther() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    SharedAnswer shared =
        new SharedAnswer(
            () -> {
              begun.countDown();
              try {
                assertTrue(released.await(60, TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              return Answer.text(200, String.valueOf(made.incrementAndGet()));
            },
            clock);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<Answer> first = thread.submit(shared::get);
      assertTrue(begun.await(60, TimeUnit.SECONDS));
      assertEquals(503, shared.get().status());
      released.countDown();
      assertEquals("1", text(first.get(60, TimeUnit.SECONDS)));
    } finally {
      thread.shutdownNow();
    }
    assertEquals("1", text(shared.get()));
    assertEquals(1, made.get());
  }

  @Test
  void anErrorLeavesTheNextRequestTry() throws Exception {
    SharedAnswer shared =
        new SharedAnswer(
            () -> {
              if (made.incrementAndGet() == 1) {
                throw new IOException("the first one fails");
              }
              return Answer.text(200, "there");
            },
            clock);
    assertThrows(IOException.class, shared::get);
    assertEquals("there", text(shared.get()));
  }

  @Test
  void readsAreFewAtATimeAndInASecond() {
    RequestLimit limit = new RequestLimit(2, 5, clock);
    assertTrue(limit.enter());
    assertTrue(limit.enter());
    assertFalse(limit.enter());
    limit.leave();
    for (int i = 0; i < 3; i++) {
      assertTrue(limit.enter());
      limit.leave();
    }
    assertFalse(limit.enter());
    now.addAndGet(SECOND);
    assertTrue(limit.enter());
    assertFalse(limit.enter(), "the one of the second before is still inside");
  }

  @Test
  void onlyTheHostsOwnNamesAreAnswered() {
    HostGuard guard = new HostGuard(List.of("Node1", "node1.example.org.", "", "10.0.0.1"));
    for (String right :
        List.of(
            "node1:9070",
            "NODE1",
            "node1.example.org:9070",
            "node1.example.org.",
            "localhost:1",
            "127.0.0.1:9070",
            "192.0.2.7",
            "[::1]:9070",
            "[fe80::1]")) {
      assertTrue(guard.accepts(right), right);
    }
    for (String wrong :
        List.of(
            "",
            ":9070",
            "evil.example:9070",
            "node1.evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:9070",
            "1.2.3.4.5",
            "[evil.example]",
            "node1:9070:9070",
            "node1 evil")) {
      assertFalse(guard.accepts(wrong), wrong);
    }
  }
}
