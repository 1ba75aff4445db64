/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Locks;
import io.crail.namenode.log.FileLogDirectory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An error in the middle of a change, which may be in no record, ends the log. */
class BrokenChangeTest {
  private static final int SEGMENT_BYTES = 1 << 20;

  @TempDir private Path logs;

  /** Takes locks in one of the ways. */
  private interface Taking {
    void of(Locks locks, Locks.Decision<Void, RuntimeException> decision);
  }

  private static List<Taking> all(TestStore store) throws Exception {
    var root = store.namenode.tree().root();
    List<Taking> all = new ArrayList<>();
    all.add((locks, decision) -> locks.of(root, decision));
    all.add((locks, decision) -> locks.of(decision, root));
    all.add((locks, decision) -> locks.ofChild(root, root, () -> true, decision));
    all.add((locks, decision) -> locks.apply(root, node -> decision.make()));
    all.add(Locks::withoutRenames);
    all.add((locks, decision) -> locks.ofRename(true, decision));
    all.add((locks, decision) -> locks.ofRename(false, decision));
    all.add(Locks::ofShares);
    all.add(Locks::ofDatanodes);
    return all;
  }

  private static LogHome home(Path directory, ManualClock clock) throws Exception {
    return new LogHome(
        FileLogDirectory.open(directory),
        Runnable::run,
        Runnable::run,
        Runnable::run,
        () -> {},
        clock,
        SEGMENT_BYTES,
        Integer.MAX_VALUE);
  }

  @Test
  void nothingIsWrittenAfterIt() throws Exception {
    ManualClock clock = new ManualClock();
    int ways = all(new TestStore()).size();
    for (int i = 0; i < ways; i++) {
      Path directory = logs.resolve("log-" + i);
      try (LogHome home = home(directory, clock)) {
        TestStore store = TestStore.durable(home, clock, new Random(1));
        store.mkdir("/before");
        home.tick();
        Taking taking = all(store).get(i);
        assertThrows(
            OutOfMemoryError.class,
            () ->
                taking.of(
                    store.namenode.locks(),
                    () -> {
                      throw new OutOfMemoryError("as asked for");
                    }));
        store.mkdir("/after");
      }
      try (LogHome home = home(directory, clock)) {
        TestStore store = TestStore.durable(home, clock, new Random(2));
        store.lookup("/before");
        Refusals.refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/after"));
        store.namenode.verify();
      }
    }
  }
}
