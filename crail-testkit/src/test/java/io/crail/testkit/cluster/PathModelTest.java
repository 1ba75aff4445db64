/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PathModelTest {
  private static final long NODE = 7;

  private final Set<Long> known = new HashSet<>();
  private final Lifetimes lifetimes = new Lifetimes();
  private final PathModel source = new PathModel("/d/0", known, lifetimes, 0);
  private final PathModel target = new PathModel("/d/1", known, lifetimes, 0);

  @Test
  void aMovedNodeMayStemFromAnUnansweredCreate() {
    source.unknown(source.begin(PathModel.Kind.CREATED, null, 10));
    PathModel.Change gone = source.begin(PathModel.Kind.REMOVED, null, 20);
    target.begin(PathModel.Kind.MOVED, null, 20);
    // A client sees the node there before the move is answered. The answer then reports it again.
    target.seen(NODE, null, null, 30, 40);
    source.seen(NODE, null, gone, 20, 50);
  }

  @Test
  void theAnswerOfACreateBelongsToNoOther() {
    source.unknown(source.begin(PathModel.Kind.CREATED, null, 10));
    target.done(target.begin(PathModel.Kind.CREATED, null, 10), NODE, 20, 10);
    known.add(NODE);
    assertThrows(AssertionError.class, () -> source.seen(NODE, null, null, 30, 40));
  }

  @Test
  void aPutThatFailedLeavesNoNodeWithoutAValueInThePlaceOfAValue() {
    source.unknown(source.begin(PathModel.Kind.PUT, new Value(1, 8), 10));
    source.seenNoValue(20, 30);
    source.done(source.begin(PathModel.Kind.PUT, new Value(2, 8), 40), NODE, 50, 10);
    source.unknown(source.begin(PathModel.Kind.PUT, new Value(3, 8), 60));
    assertThrows(AssertionError.class, () -> source.seenNoValue(70, 80));
    source.done(source.begin(PathModel.Kind.REMOVED, null, 90), 0, 100, 10);
    source.seenNoValue(110, 120);
  }

  @Test
  void aNodeFoundDuringACreateBelongsToNoOther() {
    source.unknown(source.begin(PathModel.Kind.CREATED, null, 10));
    target.unknown(target.begin(PathModel.Kind.CREATED, null, 10));
    target.seen(NODE, null, null, 30, 40);
    assertThrows(AssertionError.class, () -> source.seen(NODE, null, null, 50, 60));
  }
}
