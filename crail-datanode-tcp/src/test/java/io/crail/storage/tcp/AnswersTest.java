/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.rpc.netty.HeldMemory;
import io.crail.storage.region.HazardTable;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AnswersTest {
  private final DataAnswers.Spare spare = new DataAnswers.Spare(64, 2);

  @AfterEach
  void release() {
    spare.release();
  }

  private DataAnswers filled() {
    DataAnswers answers = spare.take();
    answers.bytes().putLong(0, 42);
    answers.add(Long.BYTES);
    return answers;
  }

  @Test
  void sentBuffersAreUsedAgainLastOneFirst() {
    DataAnswers first = filled();
    DataAnswers second = filled();
    for (DataAnswers each : new DataAnswers[] {first, second}) {
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
  void unsentAnswersAreLeftToTheChannel() {
    DataAnswers answers = filled();
    ByteBuf sending = answers.toSend();
    spare.giveBack(answers);
    DataAnswers next = filled();
    next.bytes().putLong(0, 43);
    assertNotSame(answers, next);
    assertEquals(42, sending.readLongLE());
    assertEquals(1, sending.refCnt());
    sending.release();
    spare.giveBack(next);
  }

  @Test
  void noMoreAreKeptThanAreOfUse() {
    DataAnswers[] taken = {filled(), filled(), filled()};
    ByteBuf last = taken[2].toSend();
    last.release();
    for (DataAnswers each : taken) {
      spare.giveBack(each);
    }
    assertEquals(0, last.refCnt());
    assertSame(taken[1], spare.take());
    assertSame(taken[0], spare.take());
    spare.giveBack(taken[0]);
    spare.giveBack(taken[1]);
  }

  @Test
  void asManyAsAConnectionFillsBeforeItSendsAreUsedAgain() {
    for (int frameLength : new int[] {100, 1100, 2000, 5000, 30_000, 40_000, 60_000}) {
      DatanodeLoop loop =
          new DatanodeLoop(HazardTable.anonymous().claim(1), new HeldMemory(1 << 30));
      List<DataAnswers> first = fill(loop, frameLength);
      first.forEach(loop::giveBack);
      List<DataAnswers> second = fill(loop, frameLength);
      assertTrue(Set.copyOf(first).equals(Set.copyOf(second)), "frames of " + frameLength);
      second.forEach(loop::giveBack);
      loop.release();
    }
  }

  /** What is handed to the channel until it takes no more. */
  private static List<DataAnswers> fill(DatanodeLoop loop, int frameLength) {
    List<DataAnswers> filled = new ArrayList<>();
    for (int bytes = 0; bytes < DatanodeLoop.MOST_PENDING; ) {
      DataAnswers answers = loop.take(frameLength);
      filled.add(answers);
      while (answers.room() >= frameLength) {
        answers.add(frameLength);
      }
      bytes += answers.length();
    }
    return filled;
  }
}
