/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.part.NodeType;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class IdTableTest {
  private final IdTable table = new IdTable(new HeapBudget(1 << 30, ""));

  private static Node node(long id) {
    return new Node(id, NodeType.DATAFILE, 0, 0, 0, 0, 0);
  }

  /** A removed node leaves a mark, which is no node: not even that of id 0, which it looks like. */
  @Test
  void theFormerPlaceOfANodeIsEmpty() {
    long wanted = table.hash(node(0));
    // Both begin their search where that of id 0 begins, so that one is behind the other.
    long[] ids =
        LongStream.iterate(1, id -> id + 1)
            .filter(id -> (table.hash(node(id)) & 0xff000000000000ffL) == wanted)
            .limit(2)
            .toArray();
    Node first = node(ids[0]);
    Node second = node(ids[1]);
    table.add(first);
    table.add(second);
    table.remove(first);
    assertNull(table.find(0));
    assertNull(table.find(ids[0]));
    assertSame(second, table.find(ids[1]));
  }

  /** Nothing is copied while they come, and the table is as large as if it had grown. */
  @Test
  void nodesThatAreExpectedHavePlaces() {
    int count = 900_000;
    HeapBudget budget = new HeapBudget(1 << 30, "");
    IdTable grown = new IdTable(budget);
    table.expect(count);
    final long before = table.bytes();
    for (int i = 1; i <= count; i++) {
      Node node = node(i);
      table.add(node);
      grown.add(node);
    }
    assertEquals(before, table.bytes());
    assertEquals(grown.bytes(), table.bytes());
    assertEquals(grown.bytes(), budget.used());
    table.expect(0);
    assertEquals(before, table.bytes());
  }
}
