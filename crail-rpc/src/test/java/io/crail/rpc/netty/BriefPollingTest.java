/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.SelectStrategy;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests when a loop polls before it sleeps, and when it does not. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BriefPollingTest {
  private static final long MOMENT = 1_000;
  private static final long LONG = 60_000_000_000L;

  private int asked;
  private int readyAfter;

  private int wait(BriefPolling polling, boolean hasTasks) throws Exception {
    int before = asked;
    return polling.calculateStrategy(() -> ++asked - before > readyAfter ? 3 : 0, hasTasks);
  }

  @Test
  void sleepsAtOnceUnlessItExpectsSomething() throws Exception {
    BriefPolling polling = new BriefPolling(LONG, false);
    assertEquals(SelectStrategy.SELECT, wait(polling, false));
    assertEquals(0, asked);
    polling.expect();
    readyAfter = 5;
    assertEquals(3, wait(polling, false));
    assertEquals(6, asked, "asks until something is ready");
    assertEquals(SelectStrategy.SELECT, wait(polling, false), "expects but once");
    assertEquals(6, asked);
  }

  @Test
  void mayExpectMoreAfterEverythingThatCame() throws Exception {
    BriefPolling polling = new BriefPolling(LONG, true);
    readyAfter = 5;
    assertEquals(3, wait(polling, false));
    assertEquals(3, wait(polling, false));
    assertEquals(12, asked);
    BriefPolling idle = new BriefPolling(MOMENT, true);
    readyAfter = Integer.MAX_VALUE;
    int sleeps = 0;
    for (int turn = 0; turn < 1000; turn++) {
      int before = asked;
      assertEquals(SelectStrategy.SELECT, wait(idle, false));
      sleeps += asked == before ? 1 : 0;
    }
    assertTrue(sleeps > 970, "asks though it does not pay: " + (1000 - sleeps) + " of 1,000");
    BriefPolling never = new BriefPolling(0, true);
    assertEquals(SelectStrategy.SELECT, wait(never, false));
  }

  @Test
  void neverAsksWhenItIsNotTo() throws Exception {
    BriefPolling polling = new BriefPolling(0, false);
    polling.expect();
    assertEquals(SelectStrategy.SELECT, wait(polling, false));
    assertEquals(0, asked);
  }

  @Test
  void asksOnceWhereTasksWait() throws Exception {
    BriefPolling polling = new BriefPolling(LONG, false);
    polling.expect();
    readyAfter = Integer.MAX_VALUE;
    assertEquals(0, wait(polling, true));
    assertEquals(1, asked);
  }

  @Test
  void asksMoreAndMoreRarelyWhereItDoesNotPay() throws Exception {
    BriefPolling polling = new BriefPolling(MOMENT, false);
    readyAfter = Integer.MAX_VALUE;
    assertTrue(turnsWithQuestions(polling, 1000) < 30, "of 1,000 turns");
    // Once it pays again, each turn begins with a question.
    readyAfter = 0;
    assertTrue(turnsWithQuestions(polling, 64) > 0);
    assertEquals(100, turnsWithQuestions(polling, 100));
  }

  /** So it looks where both ends share a processor: the answer comes when this end was put off. */
  @Test
  void doesNotTakeWhatCameLateForAGain() throws Exception {
    BriefPolling polling = new BriefPolling(MOMENT, false);
    int turnsWithQuestions = 0;
    for (int turn = 0; turn < 1000; turn++) {
      int before = asked;
      polling.expect();
      int strategy =
          polling.calculateStrategy(
              () -> {
                if (asked++ == before) {
                  return 0;
                }
                long begin = System.nanoTime();
                while (System.nanoTime() - begin < 10 * MOMENT) {
                  Thread.onSpinWait();
                }
                return 3;
              },
              false);
      assertEquals(asked > before ? 3 : SelectStrategy.SELECT, strategy);
      turnsWithQuestions += asked > before ? 1 : 0;
    }
    assertTrue(turnsWithQuestions < 30, turnsWithQuestions + " of 1,000 turns");
  }

  private int turnsWithQuestions(BriefPolling polling, int turns) throws Exception {
    int count = 0;
    for (int i = 0; i < turns; i++) {
      int before = asked;
      polling.expect();
      int strategy = wait(polling, false);
      assertEquals(readyAfter == 0 && asked > before ? 3 : SelectStrategy.SELECT, strategy);
      count += asked > before ? 1 : 0;
    }
    return count;
  }
}
