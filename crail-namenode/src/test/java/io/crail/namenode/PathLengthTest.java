/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that every name in a listing can be looked up, no matter what was renamed before. */
class PathLengthTest {
  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
  }

  /** Makes containers below {@code top} until a path has {@code length} bytes, of a file. */
  private String deep(String top, int length) throws CrailException {
    StringBuilder path = new StringBuilder(top);
    while (length - path.length() > NodePath.MAX_COMPONENT_LENGTH + 1) {
      int left = length - path.length();
      path.append('/').append("d".repeat(Math.min(200, left - 3)));
      store.mkdir(path.toString());
    }
    path.append('/').append("f".repeat(length - path.length()));
    assertEquals(length, path.length());
    store.file(path.toString());
    return path.toString();
  }

  /**
   * Fails unless each node is found by the path that listings lead to; gives how many there are.
   */
  private int walk(String path) throws CrailException {
    NodeInfo info = store.lookup(path.isEmpty() ? "/" : path).node();
    int found = 1;
    if (info.type().isContainer()) {
      for (String name : store.list(info.id(), 100)) {
        found += walk(path + "/" + name);
      }
    }
    return found;
  }

  @Test
  void aRenameThatMakesAPathBelowTooLongIsRefusedAndChangesNothing() throws Exception {
    store.mkdir("/a");
    String path = deep("/a", NodePath.MAX_LENGTH - 3);
    long file = store.lookup(path).node().id();
    int nodes = walk("");
    refused(ErrorCode.INVALID_PATH, "/a to /abcde", () -> store.rename("/a", "/abcde"));
    store.mkdir("/b");
    refused(ErrorCode.INVALID_PATH, "/a to /b/abc", () -> store.rename("/a", "/b/abc"));
    store.mkdir("/abcde");
    refused(ErrorCode.INVALID_PATH, "/a to /abcde", () -> store.renameOver("/a", "/abcde"));
    assertEquals(file, store.lookup(path).node().id());
    assertEquals(List.of("a", "b", "abcde"), store.list(store.lookup("/").node().id(), 9));
    assertEquals(nodes + 2, walk(""));
    // The longest that is right.
    store.rename("/a", "/abcd");
    assertEquals(file, store.lookup("/abcd" + path.substring(2)).node().id());
    assertEquals(nodes + 2, walk(""));
  }

  @Test
  void movedNodesCountInTheirNewPlace() throws Exception {
    store.mkdir("/x");
    store.mkdir("/x/y");
    store.mkdir("/a");
    deep("/a", 1000);
    store.rename("/a", "/x/y/a");
    refused(ErrorCode.INVALID_PATH, () -> store.rename("/x", "/" + "n".repeat(22)));
    store.rename("/x/y/a", "/a");
    // Both were left empty, so nothing of it is remembered.
    store.rename("/x/y", "/x/" + "y".repeat(200));
    assertTrue(walk("") > 5);
  }

  @Test
  void aNameThatMakesNoPathLongerIsNeverRefused() throws Exception {
    store.mkdir("/longer");
    deep("/longer", NodePath.MAX_LENGTH);
    store.rename("/longer", "/lOnger");
    store.rename("/lOnger", "/l");
    refused(ErrorCode.INVALID_PATH, () -> store.rename("/l", "/lONGERR"));
    store.rename("/l", "/lONGER");
    assertTrue(walk("") > 5);
  }

  @Test
  void valuesOfTablesCountToo() throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    String key = "/t/" + "k".repeat(250);
    store.call(NameNodeOperations.PUT, TestStore.put(key, 9, new byte[] {1, 2, 3}));
    StringBuilder parent = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      parent.append('/').append("p".repeat(192));
      store.mkdir(parent.toString());
    }
    // 772 and 2, and 251 more for the value's name, is one too many.
    refused(ErrorCode.INVALID_PATH, () -> store.rename("/t", parent + "/t"));
    store.remove(key, false);
    store.rename("/t", parent + "/t");
    walk("");
  }

  @Test
  void randomCreatesAndMovesLeaveNoPathThatCannotBeAskedFor() throws Exception {
    Random random = new Random(TestStore.seed());
    List<String> directories = new ArrayList<>(List.of(""));
    int refusals = 0;
    for (int i = 0; i < 3000; i++) {
      String parent = directories.get(random.nextInt(directories.size()));
      String path = parent + "/" + "n".repeat(1 + random.nextInt(250)) + random.nextInt(10);
      try {
        if (random.nextInt(3) == 0 || directories.size() < 8) {
          store.mkdir(path);
          directories.add(path);
        } else {
          String source = directories.get(1 + random.nextInt(directories.size() - 1));
          store.rename(source, path);
          String below = source + "/";
          directories.replaceAll(
              each ->
                  each.equals(source)
                      ? path
                      : each.startsWith(below) ? path + each.substring(source.length()) : each);
        }
      } catch (CrailException e) {
        refusals += e.code() == ErrorCode.INVALID_PATH ? 1 : 0;
      }
    }
    assertTrue(refusals > 0);
    assertEquals(directories.size(), walk(""));
    for (String directory : directories) {
      assertTrue(directory.length() <= NodePath.MAX_LENGTH);
    }
    store.namenode.verify();
  }
}
