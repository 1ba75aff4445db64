/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.crail.testkit.model.Board.Counter;
import io.crail.testkit.model.ModelNames.Container;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoardTest {
  private static final int WRITES = 20_000;

  @TempDir private Path directory;

  private static Content large(long id) {
    Content content = Content.empty(id);
    for (int i = 0; i < Content.MAX_PARTS; i++) {
      content = content.append(id, id);
    }
    return content;
  }

  @Test
  void othersSeeWhatWasWritten() throws Exception {
    Board board = Board.create(directory.resolve("board"), 3);
    NameState state = NameState.NEW.attempt(large(5), large(6)).unknown(4, 2).lost(9, 8);
    board.write(1, state);
    board.increment(Counter.NAMENODE_LOSS, 3);
    board.stand(1, true);
    Board other = Board.open(directory.resolve("board"), 3);
    assertEquals(NameState.NEW, other.read(0));
    assertEquals(state, other.read(1));
    assertEquals(NameState.NEW, other.read(2));
    assertEquals(1, other.get(Counter.NAMENODE_LOSS, 3));
    assertEquals(0, other.get(Counter.NAMENODE_LOSS, 0));
    assertEquals(0, other.get(Counter.QUIET));
    assertEquals(List.of(false, true), List.of(other.stands(0), other.stands(1)));
    assertFalse(other.isWanted(1));
  }

  @Test
  void aStateIsReadWhollyWhileItChanges() throws Exception {
    Board board = Board.create(directory.resolve("board"), 1);
    Board reader = Board.open(directory.resolve("board"), 1);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Callable<Void> read =
          () -> {
            long last = 0;
            while (last < WRITES) {
              Content content = reader.read(0).last();
              long id = content.file();
              assertEquals(id == 0 ? Content.ABSENT : large(id), content);
              last = Math.max(last, id);
            }
            return null;
          };
      Future<Void> reading = executor.submit(read);
      for (long id = 1; id <= WRITES; id++) {
        board.write(0, NameState.NEW.done(large(id), 0, 0));
      }
      reading.get();
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void eachNameHasAPathOfItsOwn() {
    ModelNames names = new ModelNames(3, 2);
    Set<String> paths = new HashSet<>();
    for (int i = 0; i < names.count(); i++) {
      paths.add(names.path(i));
    }
    assertEquals(names.count(), paths.size());
    assertEquals("/t2-1", names.path(names.container(2, 1, Container.TABLE)));
    assertEquals("/t2-1/3", names.path(names.container(2, 1, Container.TABLE) + 3));
  }
}
