/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.namenode.TestStore;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The moves that rest, apart from the nodes they belong to; see also MoveRuleTest. */
class RestingMovesTest {
  private final HeapBudget budget = new HeapBudget(Long.MAX_VALUE / 2, "");
  private final List<String> undone = new ArrayList<>();

  private DatanodeSpace datanode(int id, long nowNanos) throws Exception {
    DatanodeSpace datanode =
        new DatanodeSpace(
            id,
            0,
            TestStore.registration(id, "host", 1000 + id, 0, true).description(),
            TestStore.BLOCK,
            nowNanos,
            budget);
    datanode.wake(datanode.add(new Region(0, 4L * TestStore.BLOCK, 0, 0), 0));
    return datanode;
  }

  private static Allocation take(DatanodeSpace datanode) {
    FreePieces.Piece piece = datanode.take(Extent.MIN_LENGTH, false);
    return new Allocation(datanode, piece, 0);
  }

  @Test
  void aMoveThatCannotBeEndedKeepsNoOtherFromItsEnd() throws Exception {
    TestStore store = new TestStore();
    RestingMoves moves = store.namenode.moves();
    DatanodeSpace source = datanode(1, store.clock.nanoTime());
    DatanodeSpace target = datanode(2, store.clock.nanoTime());
    for (String name : List.of("broken", "other")) {
      moves.add(
          new RestingMoves.Move(take(source), take(target)) {
            @Override
            protected Undone undo() {
              undone.add(name);
              if (name.equals("broken")) {
                throw new AssertionError("a bug of the test");
              }
              return Undone.DONE;
            }
          });
    }
    // The target has fallen silent, and the source has not.
    store.pass(60_000);
    source.signs().seen(store.clock.nanoTime());
    moves.tick();
    assertEquals(List.of("broken", "other"), undone);
    assertEquals(0, moves.extents());
  }
}
