/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.TestStore;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ChildListTest {
  private static final ByteBuffer NAME = ByteBuffer.wrap(new byte[] {'n'});

  private static Node child(long sequence) {
    Node node = new Node(sequence, NodeType.DATAFILE, 0, 0, 0, 0, 0);
    node.place(null, NAME, 0, 1, sequence);
    return node;
  }

  private static List<Node> all(ChildList list) {
    List<Node> nodes = new ArrayList<>();
    assertEquals(-1, list.visitFrom(0, nodes::add));
    return nodes;
  }

  @Test
  void keepsTheOrderThroughRandomChanges() {
    Random random = new Random(TestStore.seed());
    ChildList list = new ChildList();
    List<Node> model = new ArrayList<>();
    for (int phase = 0; phase < 40; phase++) {
      // Grows and shrinks over the borders between one array and many chunks.
      int target = random.nextInt(phase % 4 == 0 ? 20 : 3000);
      while (model.size() != target) {
        boolean grow = random.nextInt(10) < (model.size() < target ? 8 : 2);
        if (grow) {
          Node node = child(list.nextSequence());
          list.append(node);
          model.add(node);
        } else if (!model.isEmpty()) {
          int index = random.nextInt(model.size());
          if (random.nextInt(5) == 0) {
            Node replacement = child(model.get(index).sequence());
            list.replace(model.get(index), replacement);
            model.set(index, replacement);
          } else {
            list.remove(model.remove(index));
          }
        }
      }
      assertEquals(model, all(list));
      assertEquals(model.size(), list.size());
    }
    while (!model.isEmpty()) {
      assertEquals(model.remove(model.size() - 1), list.removeLast());
    }
    assertNull(list.removeLast());
    assertEquals(List.of(), all(list));
  }

  @Test
  void removingInOrderFromTheFrontIsCheap() {
    ChildList list = new ChildList();
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 300_000; i++) {
      nodes.add(child(list.nextSequence()));
      list.append(nodes.get(i));
    }
    for (Node node : nodes) {
      list.remove(node);
    }
    assertEquals(0, list.size());
  }

  @Test
  void pagesSeeEachUnchangedChildOnce() {
    Random random = new Random(TestStore.seed());
    ChildList list = new ChildList();
    List<Node> stable = new ArrayList<>();
    List<Node> others = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      Node node = child(list.nextSequence());
      list.append(node);
      (random.nextBoolean() ? stable : others).add(node);
    }
    Set<Node> seen = new HashSet<>();
    long cursor = 0;
    while (cursor >= 0) {
      int[] left = {1 + random.nextInt(50)};
      cursor =
          list.visitFrom(
              cursor,
              node -> {
                if (left[0]-- == 0) {
                  return false;
                }
                assertTrue(seen.add(node), "twice");
                return true;
              });
      for (int i = 0; i < 40 && !others.isEmpty(); i++) {
        list.remove(others.remove(random.nextInt(others.size())));
      }
      if (random.nextInt(4) == 0) {
        Node node = child(list.nextSequence());
        list.append(node);
        others.add(node);
      }
    }
    assertTrue(seen.containsAll(stable), "missed");
  }
}
