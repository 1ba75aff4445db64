/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.testkit.model.NameHistory.Kind;
import io.crail.testkit.model.NameHistory.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Histories that can have been, and others. */
class NameHistoryTest {
  private final NameHistory history = new NameHistory();

  private void done(Kind kind, long begun, long ended, long node) {
    history.done(history.begin(kind, "n", begun), node, ended);
  }

  private void refused(Kind kind, long begun, long ended) {
    history.refused(history.begin(kind, "n", begun), ended);
  }

  private void requireViolations(int count) {
    assertEquals(count, history.violations().size(), () -> history.violations().toString());
  }

  @Test
  void oneAfterTheOther() {
    refused(Kind.LOOKUP, 0, 1);
    done(Kind.CREATE, 2, 3, 7);
    done(Kind.LOOKUP, 4, 5, 7);
    refused(Kind.CREATE, 6, 7);
    done(Kind.REMOVE, 8, 9, 7);
    refused(Kind.REMOVE, 10, 11);
    done(Kind.CREATE, 12, 13, 8);
    requireViolations(0);
  }

  @Test
  void anOldAnswer() {
    done(Kind.CREATE, 0, 1, 7);
    refused(Kind.LOOKUP, 2, 3);
    requireViolations(1);
  }

  @Test
  void anAnswerOfANodeThatWasReplaced() {
    done(Kind.CREATE, 0, 1, 7);
    done(Kind.REMOVE, 2, 3, 7);
    done(Kind.CREATE, 4, 5, 8);
    done(Kind.LOOKUP, 6, 7, 7);
    requireViolations(1);
  }

  @Test
  void whatOverlapsMayBeInAnyOrder() {
    done(Kind.CREATE, 0, 10, 7);
    refused(Kind.LOOKUP, 1, 2);
    done(Kind.LOOKUP, 3, 4, 7);
    requireViolations(0);
    refused(Kind.LOOKUP, 5, 6);
    requireViolations(1);
  }

  @Test
  void twoThatMadeTheSame() {
    done(Kind.CREATE, 0, 10, 7);
    done(Kind.CREATE, 0, 10, 8);
    requireViolations(1);
  }

  @Test
  void aChangeThatWasLost() {
    done(Kind.CREATE, 0, 1, 7);
    done(Kind.CREATE, 2, 3, 8);
    requireViolations(1);
  }

  @Test
  void whatIsNotKnownMayBeDoneAtAnyTimeOrNever() {
    Step create = history.begin(Kind.CREATE, "n", 0);
    history.lost(create);
    refused(Kind.LOOKUP, 1, 2);
    done(Kind.LOOKUP, 3, 4, 7);
    done(Kind.LOOKUP, 5, 6, 7);
    requireViolations(0);
    done(Kind.LOOKUP, 7, 8, 9);
    requireViolations(1);
  }

  @Test
  void whatIsNotKnownHasNoNumberOfBefore() {
    done(Kind.CREATE, 0, 1, 7);
    done(Kind.REMOVE, 2, 3, 7);
    history.lost(history.begin(Kind.CREATE, "n", 4));
    done(Kind.LOOKUP, 5, 6, 7);
    requireViolations(1);
  }

  @Test
  void aRemovalThatIsNotKnown() {
    done(Kind.CREATE, 0, 1, 7);
    history.lost(history.begin(Kind.REMOVE, "n", 2));
    done(Kind.LOOKUP, 3, 4, 7);
    refused(Kind.LOOKUP, 5, 6);
    requireViolations(0);
    done(Kind.LOOKUP, 7, 8, 7);
    requireViolations(1);
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void manyAtOnceAreJudgedSoon() {
    for (int i = 0; i < 40; i++) {
      history.lost(history.begin(i % 2 == 0 ? Kind.CREATE : Kind.REMOVE, "n", i));
    }
    // Some are answered as before the change, the others as after it.
    for (int i = 0; i < 100; i++) {
      refused(Kind.LOOKUP, 100 + i, 900 + i);
      done(Kind.LOOKUP, 300 + i, 900 + i, 7);
    }
    done(Kind.CREATE, 350, 950, 7);
    done(Kind.REMOVE, 1000, 1001, 7);
    requireViolations(0);
    done(Kind.LOOKUP, 1002, 1003, 7);
    requireViolations(1);
  }
}
