/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AnswersTest {
  private final Answers.Spare spare = new Answers.Spare(64, 2);

  @AfterEach
  void release() {
    spare.release();
  }

  private Answers filled() {
    Answers answers = spare.take();
    answers.bytes().putLong(0, 42);
    answers.add(Long.BYTES);
    return answers;
  }

  @Test
  void whatWasSentIsUsedAgainAndTheLastOneFirst() {
    Answers first = filled();
    Answers second = filled();
    for (Answers each : new Answers[] {first, second}) {
      ByteBuf sent = each.toSend();
      assertEquals(Long.BYTES, sent.readableBytes());
      sent.release();
      spare.giveBack(each);
    }
    assertSame(second, spare.take());
    assertSame(first, spare.take());
    assertEquals(0, first.length());
    assertEquals(64, first.room());
    spare.giveBack(first);
    spare.giveBack(second);
  }

  @Test
  void whatIsNotSentYetIsLeftToTheChannel() {
    Answers answers = filled();
    ByteBuf sending = answers.toSend();
    spare.giveBack(answers);
    Answers next = filled();
    next.bytes().putLong(0, 43);
    assertNotSame(answers, next);
    assertEquals(42, sending.readLongLE());
    assertEquals(1, sending.refCnt());
    sending.release();
    spare.giveBack(next);
  }

  @Test
  void noMoreAreKeptThanAreOfUse() {
    Answers[] taken = {filled(), filled(), filled()};
    ByteBuf last = taken[2].toSend();
    last.release();
    for (Answers each : taken) {
      spare.giveBack(each);
    }
    assertEquals(0, last.refCnt());
    assertSame(taken[1], spare.take());
    assertSame(taken[0], spare.take());
    spare.giveBack(taken[0]);
    spare.giveBack(taken[1]);
  }
}
