/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.Principal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests what a server remembers of its answers, and for how long. */
class ReplyCacheTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private long nowNanos = 5;
  private long used;
  private long capacity = Long.MAX_VALUE >> 1;
  private long reserve = 1_000;

  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return nowNanos;
        }

        @Override
        public long currentTimeMillis() {
          return 0;
        }
      };

  private final ReplyMemory memory =
      new ReplyMemory() {
        @Override
        public boolean take(long bytes) {
          if (used + bytes > capacity) {
            return false;
          }
          used += bytes;
          return true;
        }

        @Override
        public boolean takeReserved(long bytes) {
          if (used + bytes > capacity + reserve) {
            return false;
          }
          used += bytes;
          return true;
        }

        @Override
        public void add(long bytes) {
          used += bytes;
        }

        @Override
        public void give(long bytes) {
          used -= bytes;
        }
      };

  private final ReplyCache cache = new ReplyCache(clock, memory);

  private Replies opened(long client, long peer, long patienceNanos) {
    return cache.opened(Principal.ANYBODY, client, peer, patienceNanos);
  }

  private static void answer(Reply reply, long number, byte[] bytes) {
    assertEquals(Reply.Claim.NEW, reply.claim(number));
    reply.answered(number, 0, ByteBuffer.wrap(bytes), 0, bytes.length);
  }

  private static byte[] bytes(Reply reply, long number) {
    assertEquals(Reply.Claim.ANSWERED, reply.claim(number));
    byte[] bytes = new byte[reply.length()];
    reply.copyTo(ByteBuffer.wrap(bytes), 0);
    reply.written(number);
    return bytes;
  }

  private static byte[] filled(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + length);
    }
    return bytes;
  }

  @Test
  void aRequestThatComesAgainGetsTheFirstAnswer() {
    Reply reply = opened(1, 1, SECOND).at(7);
    long number = 100;
    for (int length : new int[] {0, 1, 64, 65, 5_000, 70_000, 3}) {
      number++;
      answer(reply, number, filled(length));
      assertArrayEquals(filled(length), bytes(reply, number));
      assertArrayEquals(filled(length), bytes(reply, number), "and again");
    }
  }

  @Test
  void aLaterRequestAcknowledgesTheAnswersBefore() {
    Reply reply = opened(1, 1, SECOND).at(7);
    answer(reply, 3, filled(100));
    answer(reply, 9, filled(10));
    assertEquals(Reply.Claim.PASSED, reply.claim(3));
    assertEquals(Reply.Claim.PASSED, reply.claim(8));
    assertArrayEquals(filled(10), bytes(reply, 9));
  }

  @Test
  void whileARequestIsServedAllOthersInItsSlotComeBackLater() {
    Reply reply = opened(1, 1, SECOND).at(7);
    assertEquals(Reply.Claim.NEW, reply.claim(3));
    assertEquals(Reply.Claim.TAKEN, reply.claim(3));
    assertEquals(Reply.Claim.TAKEN, reply.claim(4));
    reply.waits(3);
    assertEquals(Reply.Claim.NEW, reply.claim(3), "it was not served");
    reply.answered(3, 0, ByteBuffer.allocate(0), 0, 0);
    assertEquals(Reply.Claim.ANSWERED, reply.claim(3));
    assertEquals(Reply.Claim.TAKEN, reply.claim(4));
    reply.written(3);
    assertEquals(Reply.Claim.NEW, reply.claim(4));
  }

  @Test
  void errorsAreRememberedLikeAnswers() {
    Reply reply = opened(1, 1, SECOND).at(0);
    assertEquals(Reply.Claim.NEW, reply.claim(1));
    int code = ErrorCode.NODE_EXISTS.number();
    reply.answered(1, code, ByteBuffer.wrap(new byte[] {'/', 'a'}), 0, 2);
    assertEquals(Reply.Claim.ANSWERED, reply.claim(1));
    assertEquals(code, reply.code());
    assertEquals(2, reply.length());
  }

  @Test
  void withoutMemoryOnlyTheFactIsRemembered() {
    Reply reply = opened(1, 1, SECOND).at(0);
    capacity = used;
    answer(reply, 1, filled(100));
    assertEquals(Reply.Claim.ANSWERED, reply.claim(1));
    assertTrue(reply.isLost());
    reply.written(1);
    capacity = Long.MAX_VALUE >> 1;
    answer(reply, 2, filled(100));
    assertArrayEquals(filled(100), bytes(reply, 2));
  }

  @Test
  void aRequestThatFailedWithoutAnAnswerIsNotServedAgain() {
    Reply reply = opened(1, 1, SECOND).at(0);
    answer(reply, 1, filled(100));
    assertEquals(Reply.Claim.NEW, reply.claim(2));
    reply.failed(2);
    assertEquals(Reply.Claim.ANSWERED, reply.claim(2));
    assertTrue(reply.isLost());
  }

  @Test
  void withoutMemoryNotEvenForTheFactARequestIsRefused() {
    Replies replies = opened(1, 1, SECOND);
    capacity = used - reserve;
    assertEquals(null, replies.at(0));
    capacity += 500;
    assertNotSame(null, replies.at(0), "from the reserve");
  }

  @Test
  void answersOfOnePrincipalAreNotThoseOfAnother() {
    answer(opened(1, 1, SECOND).at(0), 1, filled(100));
    Principal other = new Principal(Principal.Role.CLIENT, Utf8.of("other"));
    assertEquals(Reply.Claim.NEW, cache.opened(other, 1, 1, SECOND).at(0).claim(1));
  }

  @Test
  void aLongAnswerTakesNoMemoryOnceTheNextIsShort() {
    Reply reply = opened(1, 1, SECOND).at(0);
    final long before = used;
    answer(reply, 1, filled(60_000));
    assertTrue(used >= before + 60_000);
    answer(reply, 2, filled(10));
    assertEquals(before + 64, used);
  }

  @Test
  void aPeerIsRememberedWhileItMayComeBack() {
    Replies first = opened(1, 2, SECOND);
    answer(first.at(7), 3, filled(9));
    cache.closed(first);
    nowNanos += SECOND - 1;
    cache.tick();
    assertEquals(1, cache.size());
    Replies again = opened(1, 2, SECOND);
    assertSame(first, again);
    assertArrayEquals(filled(9), bytes(again.at(7), 3));
    nowNanos += 10 * SECOND;
    cache.tick();
    assertEquals(1, cache.size(), "it has a connection");
    cache.closed(again);
    nowNanos += SECOND;
    cache.tick();
    assertEquals(0, cache.size());
    assertEquals(0, used);
    assertEquals(0, cache.footprint());
    assertNotSame(first, opened(1, 2, SECOND));
  }

  @Test
  void theNewConnectionMayComeBeforeTheOldOneHasEnded() {
    Replies old = opened(1, 2, SECOND);
    answer(old.at(1), 3, filled(9));
    opened(1, 2, SECOND);
    cache.closed(old);
    nowNanos += 10 * SECOND;
    cache.tick();
    assertEquals(1, cache.size());
  }

  @Test
  void peersWithoutChangesAreForgottenAtOnce() {
    for (int i = 0; i < 1_000; i++) {
      cache.closed(opened(i, i, Long.MAX_VALUE));
    }
    assertEquals(0, cache.size());
    assertEquals(0, used);
  }

  @Test
  void peersAreForgottenInTheOrderOfTheirPatience() {
    for (long peer = 1; peer <= 5; peer++) {
      Replies replies = opened(1, peer, (6 - peer) * SECOND);
      answer(replies.at(0), 1, filled(9));
      cache.closed(replies);
    }
    for (int left = 4; left >= 0; left--) {
      nowNanos += SECOND - 1;
      cache.tick();
      assertEquals(left + 1, cache.size());
      nowNanos++;
      cache.tick();
      assertEquals(left, cache.size());
    }
    assertEquals(0, used);
  }

  @Test
  void onlySoManyPeersWithoutAConnectionAreRemembered() {
    ReplyCache small = new ReplyCache(clock, memory, ReplyLog.NONE, 3);
    Replies connected = small.opened(Principal.ANYBODY, 1, 0, 0);
    answer(connected.at(0), 1, filled(9));
    for (long peer = 1; peer <= 5; peer++) {
      Replies replies = small.opened(Principal.ANYBODY, 1, peer, peer * SECOND);
      answer(replies.at(0), 1, filled(9));
      small.closed(replies);
      // It is back, and leaves again.
      small.closed(small.opened(Principal.ANYBODY, 1, peer, peer * SECOND));
    }
    assertEquals(4, small.size());
    for (long peer = 1; peer <= 5; peer++) {
      Replies replies = small.opened(Principal.ANYBODY, 1, peer, 0);
      assertEquals(
          peer <= 2 ? Reply.Claim.NEW : Reply.Claim.ANSWERED, replies.at(0).claim(1), "" + peer);
    }
    assertEquals(Reply.Claim.ANSWERED, connected.at(0).claim(1));
  }

  @Test
  void aPeerWithAnAnswerToComeIsNotForgotten() {
    Replies replies = opened(1, 1, 0);
    assertEquals(Reply.Claim.NEW, replies.at(0).claim(1));
    replies.at(0).holds();
    assertTrue(replies.at(0).isHeld());
    cache.closed(replies);
    for (int i = 0; i < 3; i++) {
      nowNanos += 10 * SECOND;
      cache.tick();
      assertEquals(1, cache.size());
    }
    replies.at(0).answered(1, 0, ByteBuffer.wrap(filled(9)), 0, 9);
    nowNanos += 10 * SECOND;
    cache.tick();
    assertEquals(0, cache.size());
    assertEquals(0, used);
  }

  @Test
  void patienceHasALimit() {
    Replies replies = opened(1, 2, Long.MAX_VALUE);
    replies.at(1);
    cache.closed(replies);
    nowNanos += 3600 * SECOND;
    cache.tick();
    assertEquals(0, cache.size());
    assertEquals(0, used);
  }

  @Test
  void aHighSlotCostsLittle() {
    Replies replies = opened(1, 2, SECOND);
    final long before = used;
    replies.at(65_535);
    assertTrue(used - before < 10_000, "took " + (used - before));
    assertSame(replies.at(65_535), replies.at(65_535));
    assertNotSame(replies.at(65_534), replies.at(65_535));
  }

  /** Two connections of a peer bring the same requests. */
  @Test
  void twoThreadsServeEachRequestOnce() throws Exception {
    Replies replies = opened(1, 2, SECOND);
    AtomicInteger served = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    int requests = 20_000;
    for (int t = 0; t < 2; t++) {
      Thread thread =
          new Thread(
              () -> {
                byte[] bytes = new byte[4];
                for (int number = 1; number <= requests; number++) {
                  Reply reply = replies.at(number % 3);
                  Reply.Claim claim = reply.claim(number);
                  while (claim == Reply.Claim.TAKEN) {
                    Thread.onSpinWait();
                    claim = reply.claim(number);
                  }
                  if (claim == Reply.Claim.NEW) {
                    served.incrementAndGet();
                    reply.answered(number, 0, ByteBuffer.allocate(4).putInt(0, number), 0, 4);
                  } else if (claim == Reply.Claim.ANSWERED) {
                    reply.copyTo(ByteBuffer.wrap(bytes), 0);
                    assertEquals(number, ByteBuffer.wrap(bytes).getInt());
                    reply.written(number);
                  }
                }
              });
      thread.setUncaughtExceptionHandler(
          (which, failure) -> {
            synchronized (failures) {
              failures.add(failure);
            }
          });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    assertEquals(requests, served.get());
  }
}
