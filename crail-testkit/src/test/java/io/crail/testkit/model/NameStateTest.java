/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/**
 * The contents that may be found after operations that took place, did not take place, or have an
 * unknown outcome.
 */
class NameStateTest {
  private static final Content FIRST = Content.of(Units.id(1, 1), 5000);
  private static final Content SECOND = Content.of(Units.id(1, 2), 5000);
  private static final Content APPENDED = FIRST.append(Units.id(1, 3), 777);

  private static ByteBuffer bytes(Content content) {
    ByteBuffer bytes = ByteBuffer.allocate((int) content.length());
    long from = 0;
    for (Content.Part part : content.parts()) {
      bytes.limit((int) part.end()).position((int) from);
      Units.fill(bytes, content.file(), part.operation(), from);
      from = part.end();
    }
    return bytes.position(0);
  }

  private static NameState known(Content content) {
    return NameState.NEW.done(content, 0, 0);
  }

  @Test
  void findsWhatIsThere() {
    assertEquals(0, known(FIRST).find(bytes(FIRST)));
    assertEquals(0, known(APPENDED).find(bytes(APPENDED)));
    assertEquals(0, NameState.NEW.findAbsent());
  }

  @Test
  void noticesWrongBytes() {
    ByteBuffer wrong = bytes(APPENDED);
    wrong.put(5100, (byte) ~wrong.get(5100));
    NameState state = known(APPENDED);
    assertEquals(NameState.NONE, state.find(wrong));
    assertTrue(state.explain(wrong).contains("byte 5100 of 5777"), state.explain(wrong));
  }

  @Test
  void noticesBytesOfAnotherFileAndOfAnOlderValue() {
    assertEquals(NameState.NONE, known(FIRST).find(bytes(SECOND)));
    assertTrue(known(FIRST).explain(bytes(SECOND)).contains("operation 1.2"));
    ByteBuffer mixed = bytes(SECOND);
    mixed.put(4096, bytes(FIRST), 4096, 100);
    assertEquals(NameState.NONE, known(SECOND).find(mixed));
  }

  @Test
  void noticesWrongLengths() {
    assertEquals(NameState.NONE, known(FIRST).find(bytes(FIRST.cut(4999))));
    assertEquals(NameState.NONE, known(FIRST).find(bytes(APPENDED)));
    assertEquals(NameState.NONE, known(FIRST).find(ByteBuffer.allocate(0)));
  }

  @Test
  void noticesLostFilesAndGhosts() {
    assertEquals(NameState.NONE, known(FIRST).findAbsent());
    NameState deleted = known(FIRST).attempt(Content.ABSENT).done(Content.ABSENT, 0, 0);
    assertEquals(NameState.NONE, deleted.find(bytes(FIRST)));
    assertEquals(0, deleted.findAbsent());
  }

  @Test
  void anOperationUnderWayHasTwoOutcomes() {
    NameState before = known(FIRST);
    NameState state = before.attempt(SECOND);
    assertEquals(0, state.find(bytes(FIRST)));
    assertEquals(1, state.find(bytes(SECOND)));
    assertEquals(NameState.NONE, state.findAbsent());
    assertFalse(state.isKnown());
    assertEquals(before, state.undone());
    assertEquals(NameState.NONE, state.undone().find(bytes(SECOND)));
    assertEquals(NameState.NONE, state.done(SECOND, 0, 0).find(bytes(FIRST)));
  }

  @Test
  void noticesThatAnOutcomeIsTakenBack() {
    NameState state = known(FIRST).attempt(SECOND).unknown(3, -1);
    assertTrue(state.isDoubtful());
    NameState seen = state.found(state.find(bytes(SECOND)));
    assertEquals(NameState.NONE, seen.find(bytes(FIRST)));
    NameState settled = state.settled(state.possible().get(state.find(bytes(FIRST))));
    assertTrue(settled.isKnown());
    assertEquals(NameState.NONE, settled.find(bytes(SECOND)));
  }

  @Test
  void aFailedWriteLeavesAnyLengthInBetween() {
    NameState state = known(FIRST).attempt(APPENDED.fromLength(5000));
    for (int length : new int[] {5000, 5001, 5777}) {
      assertTrue(state.find(bytes(APPENDED.cut(length))) >= 0, "length " + length);
    }
    assertEquals(NameState.NONE, state.find(bytes(APPENDED.cut(4999))));
    ByteBuffer zeros = bytes(APPENDED);
    zeros.put(5500, new byte[100]);
    assertEquals(NameState.NONE, state.find(zeros));
  }

  @Test
  void lostNamesDoNotComeBack() {
    NameState state = known(FIRST).lost(1, 1);
    assertEquals(0, state.find(bytes(FIRST)));
    NameState gone = state.found(state.findAbsent());
    assertEquals(NameState.NONE, gone.find(bytes(FIRST)));
  }

  @Test
  void nothingOfAnEarlierLifeOfItsContainerIsThere() {
    NameState state = known(FIRST).anew(new Life(6), 3);
    assertEquals(6, state.life());
    assertTrue(state.isKnown());
    assertEquals(NameState.NONE, state.find(bytes(FIRST)));
    assertEquals(6, state.attempt(FIRST).done(FIRST, 3, 0).life());
  }

  @Test
  void anOperationThatTheEndOfItsContainerOvertookMayBeOfEitherLife() {
    NameState state = known(FIRST).attempt(SECOND).done(SECOND, 0, 0).overtaken(3, new Life(6), 0);
    assertEquals(NameState.NONE, state.find(bytes(FIRST)));
    assertEquals(0, state.findAbsent());
    NameState found = state.found(state.find(bytes(SECOND)));
    assertEquals(NameState.NONE, found.findAbsent());
    assertTrue(found.isDoubtful());
    assertEquals(6, found.life());
  }

  @Test
  void listsWriteBytesAtAnyPosition() {
    long id = Units.id(1, 4);
    Content written = FIRST.write(id, 100, 200).write(id + 1, 5010, 60).resize(5090);
    assertEquals(5090, written.length());
    assertEquals(0, known(written).find(bytes(written)));
    assertEquals(bytes(written), written.bytes(0, 9000));
    assertEquals(bytes(written).slice(50, 70), written.bytes(50, 70));
    assertEquals(
        NameState.NONE, known(written).find(bytes(FIRST.write(id, 100, 201).resize(5090))));
    assertEquals(ByteBuffer.allocate(10), written.bytes(5000, 10));
    assertEquals(bytes(FIRST).slice(0, 100), written.resize(100).bytes(0, 100));
    Content twice = FIRST.append(id, 64).append(id, 64);
    assertEquals(NameState.NONE, known(FIRST.append(id, 64)).find(bytes(twice)));
  }

  @Test
  void noticesOtherMarks() {
    Marks marks = Marks.NEW.withVersion(2).withEpoch(1).with("first", 7);
    NameState state = known(FIRST.with(marks.withEnd(5, 6)));
    assertEquals(0, state.find(bytes(FIRST), marks));
    assertEquals(0, state.find(bytes(FIRST), null));
    assertEquals(NameState.NONE, state.find(bytes(FIRST), marks.withVersion(3)));
    assertEquals(NameState.NONE, state.find(bytes(FIRST), marks.withEpoch(2)));
    assertEquals(NameState.NONE, state.find(bytes(FIRST), marks.with("first", 8)));
    assertEquals(NameState.NONE, state.find(bytes(FIRST), marks.with("second", 0)));
  }

  @Test
  void aLifetimeEndsInItsTime() {
    Marks marks = Marks.NEW.withEnd(10_000, 10_500);
    assertFalse(known(FIRST.with(marks)).mayHaveEnded(9_000));
    assertTrue(known(FIRST.with(marks)).mayHaveEnded(10_000));
    assertFalse(marks.mustHaveEnded(11_000));
    assertTrue(marks.mustHaveEnded(11_500));
    assertFalse(marks.withEnd(10_000, 0).mustHaveEnded(60_000));
    assertFalse(known(FIRST).mayHaveEnded(60_000));
  }
}
