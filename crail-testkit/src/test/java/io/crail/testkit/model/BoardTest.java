/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.protocol.part.NodePath;
import io.crail.testkit.model.Board.Counter;
import io.crail.testkit.model.Life.Phase;
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
    return content.with(new Marks(id, id + 1, id + 2, Marks.NONE, id + 3, id + 4));
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
    ModelNames names = new ModelNames(3, 2, 1);
    Set<String> paths = new HashSet<>();
    for (int i = 0; i < names.count(); i++) {
      paths.add(names.path(i));
      assertFalse(names.isSpread(i));
      assertEquals(0, names.namenodeOf(i));
    }
    assertEquals(names.count(), paths.size());
    assertEquals("/t2-1", names.path(names.first(2, 1, Container.TABLE)));
    assertEquals("/t2-1/3", names.path(names.first(2, 1, Container.TABLE) + 3));
  }

  @Test
  void severalNamenodesHaveNamesInSpreadContainers() {
    ModelNames names = new ModelNames(3, 2, 4);
    Set<String> paths = new HashSet<>();
    Set<Integer> namenodes = new HashSet<>();
    for (int i = 0; i < names.count(); i++) {
      paths.add(names.path(i));
      namenodes.add(names.namenodeOf(i));
      String container = names.path(names.container(i));
      assertTrue(names.isContainer(i) || names.path(i).startsWith(container + "/"));
    }
    assertEquals(names.count(), paths.size());
    assertEquals(Set.of(0, 1, 2, 3), namenodes);
    int shared = names.first(2, 1, Container.SHARED_TABLE);
    assertEquals("/shared-table/2-1.3", names.path(shared + 3));
    assertEquals("/shared-table", names.path(names.container(shared + 3)));
    assertTrue(names.isWild(shared));
    assertTrue(ModelNames.isWild(names.wild(shared, 0)));
    assertFalse(ModelNames.isWild(names.path(shared + 3)));
    assertTrue(names.isContainer(names.first(0, 0, Container.SHARED_TABLE)));
    assertTrue(names.isSpread(names.first(0, 1, Container.DIRECTORY) + 1));
    assertFalse(names.isSpread(names.first(1, 1, Container.DIRECTORY) + 1));
    assertFalse(names.isSpread(names.first(0, 1, Container.MULTIFILE) + 1));
    assertEquals(NodePath.namenodeOf(Utf8.of("/2-1.3"), 4), names.namenodeOf(shared + 3));
  }

  @Test
  void aSharedContainerHasPhases() throws Exception {
    Board board = Board.create(directory.resolve("board"), 1);
    assertEquals(Phase.GONE, board.life(Container.SHARED_TABLE).phase());
    board.enter(Container.SHARED_TABLE, Phase.THERE);
    Life first = board.life(Container.SHARED_TABLE);
    assertEquals(Phase.THERE, first.phase());
    assertEquals(first, first.next(Phase.THERE));
    board.enter(Container.SHARED_TABLE, Phase.THERE);
    assertEquals(first, board.life(Container.SHARED_TABLE));
    board.enter(Container.SHARED_TABLE, Phase.BEING_MADE);
    Life second = board.life(Container.SHARED_TABLE).next(Phase.THERE);
    assertTrue(second.number() > first.number());
    assertEquals(Phase.THERE, second.phase());
    assertEquals(Phase.GONE, board.life(Container.SHARED_DIRECTORY).phase());
  }
}
