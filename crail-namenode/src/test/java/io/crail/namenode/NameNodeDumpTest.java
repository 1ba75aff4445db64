/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.tree.Tree;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.part.NodeType;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The pages of a dump: bounded work each, and all nodes together. */
class NameNodeDumpTest {
  private static final int FILES = 1_000;

  /** Nodes that one request may describe while others wait. */
  private static final int MOST_NODES = 256;

  @Test
  void tellsAllNodesInPagesOfBoundedWork() throws Exception {
    TestStore store = new TestStore();
    for (int i = 0; i < FILES; i++) {
      store.create(NodeType.DATAFILE, "/file-é-" + i, 0);
    }
    Set<String> told = new HashSet<>();
    long cursor = 0;
    int pages = 0;
    while (cursor >= 0) {
      Dump.Response page = store.call(NameNodeOperations.DUMP, new Dump.Request(cursor));
      assertTrue(page.text().length() <= Dump.MAX_TEXT);
      int nodes = 0;
      for (String line : page.text().toString().split("\n")) {
        if (line.startsWith(NodeType.DATAFILE + " /file-")) {
          assertTrue(told.add(line.split(" ")[1]), line);
          nodes++;
        }
      }
      assertTrue(nodes <= MOST_NODES, nodes + " nodes in a page");
      cursor = page.next();
      pages++;
    }
    assertEquals(FILES, told.size());
    assertTrue(pages >= FILES / MOST_NODES, pages + " pages");
  }

  @Test
  void looksAtABoundedNumberOfEmptyPlaces() throws Exception {
    TestStore store = new TestStore();
    int looked = 0;
    Tree tree = store.namenode.tree();
    long cursor = tree.walk(0, 10, node -> true);
    while (cursor >= 0) {
      looked++;
      cursor = tree.walk(cursor, 10, node -> true);
    }
    assertTrue(looked > 1, "stops after ten places, and goes on there");
  }
}
