/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests what the tree does with single requests, and what it refuses. */
class TreeTest {
  @Test
  void namesAreComparedWhole() throws Exception {
    TestStore store = new TestStore();
    List<String> names = new ArrayList<>(List.of("Aa", "BB", "a", "A", "\u00e4", "ab", "ab\u0001"));
    // Every length around the words and the border between inline and long names.
    for (int length = 1; length <= NodePath.MAX_COMPONENT_LENGTH; length++) {
      names.add("x".repeat(length - 1) + "y");
      names.add("x".repeat(length - 1) + "z");
    }
    List<Long> ids = new ArrayList<>();
    for (String name : names) {
      ids.add(store.file("/" + name).id());
    }
    for (int i = 0; i < names.size(); i++) {
      assertEquals(ids.get(i), store.lookup("/" + names.get(i)).node().id());
    }
    assertEquals(names, store.list(store.lookup("/").node().id(), 100));
    refused(ErrorCode.NODE_NOT_FOUND, "/x", () -> store.lookup("/" + "x".repeat(24)));
  }

  @Test
  void typesAreHeldByTheirParents() throws Exception {
    TestStore store = new TestStore();
    NodeType[] containers = {NodeType.DIRECTORY, NodeType.MULTIFILE, NodeType.TABLE};
    for (NodeType container : containers) {
      String path = "/" + container;
      store.create(container, path, 0);
      for (NodeType child : NodeType.values()) {
        String childPath = path + "/" + child;
        if (container.mayHold(child)) {
          assertEquals(child, store.create(child, childPath, 0).type());
        } else {
          refused(ErrorCode.WRONG_TYPE, childPath, () -> store.create(child, childPath, 0));
        }
      }
    }
    // A key-value leaves its table for another table only.
    store.create(NodeType.TABLE, "/other", 0);
    store.rename("/TABLE/KEYVALUE", "/other/key");
    refused(ErrorCode.WRONG_TYPE, "/key", () -> store.rename("/other/key", "/key"));
    refused(
        ErrorCode.WRONG_TYPE, "/other/f", () -> store.rename("/DIRECTORY/DATAFILE", "/other/f"));
    store.namenode.verify();
    assertEquals(
        Map.of(
            NodeType.DATAFILE, 2L,
            NodeType.DIRECTORY, 3L,
            NodeType.MULTIFILE, 2L,
            NodeType.TABLE, 3L,
            NodeType.KEYVALUE, 1L),
        store.namenode.tree().sizes());
  }

  @Test
  void createRefuses() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/d");
    store.file("/d/f");
    refused(ErrorCode.ROOT, "/", () -> store.mkdir("/"));
    refused(ErrorCode.NODE_EXISTS, "/d/f", () -> store.file("/d/f"));
    refused(ErrorCode.NODE_EXISTS, "/d", () -> store.mkdir("/d"));
    refused(ErrorCode.PARENT_NOT_FOUND, "/none/f", () -> store.file("/none/f"));
    refused(ErrorCode.PARENT_NOT_FOUND, "/d/none/f", () -> store.file("/d/none/f"));
    refused(ErrorCode.NOT_A_CONTAINER, "/d/f/g", () -> store.file("/d/f/g"));
    refused(ErrorCode.NOT_A_CONTAINER, "/d/f/g/h", () -> store.file("/d/f/g/h"));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        "9",
        () ->
            store.call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE, true, false, false, 0644, 9, 0, Utf8.of("/x"), Utf8.EMPTY)));
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/x"));
    assertEquals(3, nodes(store));
  }

  @Test
  void badPathsAreRefusedByEveryOperationThatTakesOne() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/d");
    String tooLong = "/" + "n".repeat(256);
    for (String bad : List.of("d", "//d", "/d/", "/d//f", "/.", "/..", "/d/../d", tooLong)) {
      refused(ErrorCode.INVALID_PATH, bad, () -> store.lookup(bad));
      refused(ErrorCode.INVALID_PATH, bad, () -> store.file(bad));
      refused(ErrorCode.INVALID_PATH, bad, () -> store.remove(bad, true));
      refused(ErrorCode.INVALID_PATH, bad, () -> store.rename(bad, "/x"));
      refused(ErrorCode.INVALID_PATH, bad, () -> store.rename("/d", bad));
    }
    assertEquals(2, nodes(store));
  }

  @Test
  void deepPathsAreFound() throws Exception {
    TestStore store = new TestStore();
    StringBuilder path = new StringBuilder();
    long id = 0;
    while (path.length() + 2 <= NodePath.MAX_LENGTH) {
      path.append("/d");
      id = store.mkdir(path.toString()).id();
    }
    assertEquals(id, store.lookup(path.toString()).node().id());
    assertEquals(512, path.length() / 2);
    store.remove("/d", true);
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/d/d"));
    store.pass(100);
    assertEquals(1, nodes(store));
  }

  @Test
  void aNodeThatTookThePlaceOfAnotherIsNotRemovedForIt() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/d");
    long first = store.file("/d/f").id();
    store.remove("/d/f", false);
    long second = store.file("/d/f").id();
    Utf8 path = Utf8.of("/d/f");
    refused(
        ErrorCode.STALE_NODE,
        "/d/f",
        () -> store.call(NameNodeOperations.REMOVE, new Remove.Request(false, first, path)));
    assertEquals(second, store.lookup("/d/f").node().id());
    assertEquals(
        second,
        store.call(NameNodeOperations.REMOVE, new Remove.Request(false, second, path)).node().id());
    refused(
        ErrorCode.NODE_NOT_FOUND,
        "/d/f",
        () -> store.call(NameNodeOperations.REMOVE, new Remove.Request(false, second, path)));
  }

  @Test
  void removeRefusesAndRemoves() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/d");
    long id = store.file("/d/f").id();
    refused(ErrorCode.ROOT, "/", () -> store.remove("/", true));
    refused(ErrorCode.NODE_NOT_FOUND, "/x", () -> store.remove("/x", true));
    refused(ErrorCode.NODE_NOT_FOUND, "/x/y", () -> store.remove("/x/y", true));
    refused(ErrorCode.NODE_NOT_FOUND, "/d/f/g", () -> store.remove("/d/f/g", true));
    refused(ErrorCode.NOT_EMPTY, "/d", () -> store.remove("/d", false));
    assertEquals(id, store.remove("/d/f", false).id());
    refused(ErrorCode.STALE_NODE, String.valueOf(id), () -> store.find(id, 0));
    refused(ErrorCode.NODE_NOT_FOUND, "/d/f", () -> store.lookup("/d/f"));
    store.remove("/d", false);
    assertEquals(1, nodes(store));
    assertEquals(0, store.lookup("/").node().childCount());
  }

  @Test
  void aRemovedSubtreeIsGoneAtOnceAndItsSpaceComesBack() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1L << 30);
    store.mkdir("/top");
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      store.mkdir("/top/d" + i);
      for (int j = 0; j < 40; j++) {
        ids.add(store.write("/top/d" + i + "/f" + j, 1 + 100 * j).id());
      }
    }
    store.create(NodeType.TABLE, "/top/t", 0);
    ids.add(store.create(NodeType.KEYVALUE, "/top/t/k", 0).id());
    store.namenode.verify();
    assertTrue(store.usage(0).usedBytes() > 0);
    NodeInfo removed = store.remove("/top", true);
    assertEquals(41, removed.childCount());
    for (long id : ids) {
      refused(ErrorCode.STALE_NODE, () -> store.find(id, 0));
    }
    refused(ErrorCode.STALE_NODE, () -> store.list(removed.id(), 10));
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/top/d1/f1"));
    store.mkdir("/top");
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/top/d1"));
    store.pass(100);
    assertEquals(2, nodes(store));
    store.namenode.verify();
    assertEquals(1L << 30, store.usage(0).freeBytes());
  }

  @Test
  void aLargeContainerIsGoneBeforeItIsTakenApart() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/d");
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      ids.add(store.file("/d/" + i).id());
    }
    long directory = store.remove("/d", true).id();
    assertTrue(nodes(store) > 2000, "the rest is left to the timer");
    for (long id : ids) {
      refused(ErrorCode.STALE_NODE, () -> store.find(id, 0));
    }
    refused(ErrorCode.STALE_NODE, () -> store.list(directory, 10));
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/d/7"));
    store.mkdir("/d");
    assertEquals(List.of(), store.list(store.lookup("/d").node().id(), 10));
    store.namenode.verify();
    store.namenode.tick();
    assertEquals(2, nodes(store));
    store.namenode.verify();
  }

  @Test
  void aTableTakesTheLastPut() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    store.create(NodeType.TABLE, "/t", 0);
    long first = store.write(store.create(NodeType.KEYVALUE, "/t/k", 9), 5000).id();
    store.create(NodeType.KEYVALUE, "/t/l", 0);
    long second = store.create(NodeType.KEYVALUE, "/t/k", 9).id();
    assertNotEquals(first, second);
    assertEquals(second, store.lookup("/t/k").node().id());
    refused(ErrorCode.STALE_NODE, () -> store.find(first, 0));
    refused(ErrorCode.STALE_NODE, () -> store.setSize(first, 9, 1, SetSize.END));
    // Listed once, in its old place.
    assertEquals(List.of("k", "l"), store.list(store.lookup("/t").node().id(), 1));
    assertEquals(2, store.lookup("/t").node().childCount());
    store.namenode.verify();
    assertEquals(0, store.usage(0).usedBytes());
    refused(ErrorCode.NODE_EXISTS, "/t/l", () -> store.rename("/t/k", "/t/l"));
  }

  @Test
  void aReplacedFileIsAnotherNodeInTheSamePlace() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    store.mkdir("/d");
    final long first = store.write("/d/a", 5000).id();
    store.file("/d/b");
    // It needs no more nodes than there are.
    long second = store.replace("/d/a", 9).id();
    assertNotEquals(first, second);
    assertEquals(second, store.lookup("/d/a").node().id());
    refused(ErrorCode.STALE_NODE, () -> store.find(first, 0));
    assertEquals(List.of("a", "b"), store.list(store.lookup("/d").node().id(), 1));
    assertEquals(2, store.lookup("/d").node().childCount());
    assertEquals(4, nodes(store));
    store.namenode.verify();
    assertEquals(0, store.usage(0).usedBytes());
    // Where nothing is, it is a create like any other.
    assertEquals(store.replace("/d/c", 0).id(), store.lookup("/d/c").node().id());
    assertEquals(5, nodes(store));
  }

  @Test
  void containersAreNeverReplacedByACreate() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/d");
    store.file("/f");
    refused(ErrorCode.NODE_EXISTS, "/d", () -> store.replace("/d", 0));
    for (NodeType type : List.of(NodeType.DIRECTORY, NodeType.MULTIFILE, NodeType.TABLE)) {
      for (String path : List.of("/d", "/f")) {
        refused(
            ErrorCode.NODE_EXISTS,
            path,
            () -> store.call(NameNodeOperations.CREATE, TestStore.replacement(type, path, 0)));
      }
    }
    refused(ErrorCode.ROOT, () -> store.replace("/", 0));
    assertEquals(3, nodes(store));
  }

  @Test
  void aRenameReplacesAFile() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    store.mkdir("/d");
    store.file("/d/first");
    long old = store.write("/d/target", 5000).id();
    store.file("/d/last");
    for (String source : List.of("/source", "/d/source")) {
      long replaced = store.lookup("/d/target").node().id();
      long id = store.write(source, 3000).id();
      assertEquals(id, store.renameOver(source, "/d/target").id());
      assertEquals(id, store.lookup("/d/target").node().id());
      refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup(source));
      refused(ErrorCode.STALE_NODE, () -> store.find(replaced, 0));
      assertEquals(
          List.of("first", "target", "last"), store.list(store.lookup("/d").node().id(), 1));
      assertEquals(3, store.lookup("/d").node().childCount());
      assertEquals(5, nodes(store));
      store.namenode.verify();
      assertEquals(4096, store.usage(0).usedBytes());
    }
    refused(ErrorCode.STALE_NODE, () -> store.find(old, 0));
    // A table's keys too, and what is not listed.
    store.create(NodeType.TABLE, "/t", 0);
    store.create(NodeType.KEYVALUE, "/t/k", 0);
    long value = store.create(NodeType.KEYVALUE, "/t/l", 0).id();
    store.renameOver("/t/l", "/t/k");
    assertEquals(value, store.lookup("/t/k").node().id());
    store.call(
        NameNodeOperations.CREATE,
        new Create.Request(
            NodeType.DATAFILE, false, false, false, 0644, -1, 0, Utf8.of("/hidden"), Utf8.EMPTY));
    store.renameOver("/hidden", "/d/target");
    assertEquals(List.of("first", "last"), store.list(store.lookup("/d").node().id(), 1));
    assertEquals(3, store.lookup("/d").node().childCount());
    store.namenode.verify();
  }

  @Test
  void aRenameReplacesAnEmptyContainerOfItsType() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/a");
    store.mkdir("/a/b");
    final long id = store.file("/a/b/f").id();
    store.mkdir("/c");
    store.create(NodeType.TABLE, "/t", 0);
    store.file("/f");
    refused(ErrorCode.NODE_EXISTS, "/t", () -> store.renameOver("/a", "/t"));
    refused(ErrorCode.NODE_EXISTS, "/f", () -> store.renameOver("/a", "/f"));
    refused(ErrorCode.NODE_EXISTS, "/c", () -> store.renameOver("/f", "/c"));
    refused(ErrorCode.NODE_EXISTS, "/c", () -> store.renameOver("/c", "/c"));
    refused(ErrorCode.NODE_EXISTS, "/f", () -> store.renameOver("/f", "/f"));
    refused(ErrorCode.NOT_EMPTY, "/a", () -> store.renameOver("/c", "/a"));
    refused(ErrorCode.NOT_EMPTY, "/a", () -> store.renameOver("/a/b", "/a"));
    refused(ErrorCode.CYCLE, () -> store.renameOver("/a", "/a/b"));
    refused(ErrorCode.ROOT, () -> store.renameOver("/a", "/"));
    refused(ErrorCode.NODE_EXISTS, "/c", () -> store.rename("/a/b", "/c"));
    long replaced = store.lookup("/c").node().id();
    store.renameOver("/a/b", "/c");
    assertEquals(id, store.lookup("/c/f").node().id());
    refused(ErrorCode.STALE_NODE, () -> store.list(replaced, 10));
    store.renameOver("/c", "/a");
    assertEquals(id, store.lookup("/a/f").node().id());
    assertEquals(List.of("a", "t", "f"), store.list(store.lookup("/").node().id(), 10));
    assertEquals(5, nodes(store));
    store.namenode.verify();
  }

  @Test
  void renameRefuses() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/a");
    store.mkdir("/a/b");
    store.file("/a/f");
    refused(ErrorCode.ROOT, () -> store.rename("/", "/x"));
    refused(ErrorCode.ROOT, () -> store.rename("/a", "/"));
    refused(ErrorCode.NODE_NOT_FOUND, "/x", () -> store.rename("/x", "/y"));
    refused(ErrorCode.PARENT_NOT_FOUND, "/x/y", () -> store.rename("/a", "/x/y"));
    refused(ErrorCode.NOT_A_CONTAINER, "/a/f/x", () -> store.rename("/a/b", "/a/f/x"));
    refused(ErrorCode.NODE_EXISTS, "/a/f", () -> store.rename("/a/b", "/a/f"));
    refused(ErrorCode.NODE_EXISTS, "/a/b", () -> store.rename("/a/f", "/a/b"));
    refused(ErrorCode.NODE_EXISTS, "/a/f", () -> store.rename("/a/f", "/a/f"));
    refused(ErrorCode.CYCLE, () -> store.rename("/a", "/a/b/c"));
    refused(ErrorCode.CYCLE, () -> store.rename("/a", "/a/c"));
    assertEquals(List.of("b", "f"), store.list(store.lookup("/a").node().id(), 10));
  }

  @Test
  void renameMovesWholeSubtrees() throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/a");
    store.mkdir("/a/b");
    store.mkdir("/c");
    long id = store.file("/a/b/f").id();
    NodeInfo hidden =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE,
                    false,
                    false,
                    false,
                    0644,
                    -1,
                    0,
                    Utf8.of("/a/h"),
                    Utf8.EMPTY))
            .node();
    store.rename("/a", "/c/d");
    assertEquals(id, store.lookup("/c/d/b/f").node().id());
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/a/b/f"));
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/a"));
    store.rename("/c/d/h", "/h");
    assertEquals(hidden.id(), store.lookup("/h").node().id());
    assertFalse(store.lookup("/h").node().enumerable());
    assertEquals(List.of("c"), store.list(store.lookup("/").node().id(), 10));
    assertEquals(2, store.lookup("/").node().childCount());
    store.rename("/c/d/b", "/c/d/e");
    assertEquals(id, store.lookup("/c/d/e/f").node().id());
  }

  @Test
  void attributesAreInherited() throws Exception {
    TestStore store = new TestStore("crail.storage.rootclass", "2");
    assertEquals(2, store.mkdir("/d").storageClass());
    NodeInfo node =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DIRECTORY, true, true, false, 0644, 3, 0, Utf8.of("/d/e"), Utf8.EMPTY))
            .node();
    assertEquals(3, node.storageClass());
    assertEquals(NodeInfo.ENUMERABLE | NodeInfo.STRICT, node.flags());
    assertEquals(3, store.file("/d/e/f").storageClass());
    assertEquals(NodeInfo.ENUMERABLE, store.file("/d/e/g").flags());
  }

  @Test
  void modificationTimesMove() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1 << 20);
    long created = store.mkdir("/d").modifiedMillis();
    assertEquals(store.clock.currentTimeMillis(), created);
    store.clock.advanceMillis(5);
    store.create(NodeType.DATAFILE, "/d/f", 9);
    assertEquals(created + 5, store.lookup("/d").node().modifiedMillis());
    store.clock.advanceMillis(5);
    store.write(store.lookup("/d/f").node(), 10);
    assertEquals(created + 10, store.lookup("/d/f").node().modifiedMillis());
    assertEquals(created + 5, store.lookup("/d").node().modifiedMillis());
  }

  @Test
  void listingRefuses() throws Exception {
    TestStore store = new TestStore();
    long file = store.file("/f").id();
    long root = store.lookup("/").node().id();
    refused(ErrorCode.NOT_A_CONTAINER, "/f", () -> store.list(file, 10));
    refused(ErrorCode.STALE_NODE, () -> store.list(file + 1000, 10));
    refused(ErrorCode.INVALID_ARGUMENT, () -> store.list(root, 0));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> store.call(NameNodeOperations.LIST_NODES, new ListNodes.Request(root, -5, 1)));
  }

  @Test
  void pagesAreBoundedInEntriesAndBytes() throws Exception {
    TestStore store = new TestStore();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      names.add(i + "-" + "n".repeat(200));
      store.file("/" + names.get(i));
    }
    long root = store.lookup("/").node().id();
    assertEquals(names, store.list(root, 7));
    assertEquals(names, store.list(root, 65_535));
    ListNodes.Response page =
        store.call(NameNodeOperations.LIST_NODES, new ListNodes.Request(root, 0, 65_535));
    assertTrue(page.next() > 0 && page.entries().size() < 600, "a page fits a frame");
  }

  @Test
  void severalNamenodesRefuseWhatIsNotTheirs() throws Exception {
    TestStore[] stores = new TestStore[3];
    for (int i = 0; i < stores.length; i++) {
      stores[i] = new TestStore(new ManualClock(), i, 3);
    }
    int crossed = 0;
    for (int i = 0; i < 30; i++) {
      String path = "/top-" + i;
      int owner = NodePath.namenodeOf(Utf8.of(path), 3);
      TestStore own = stores[owner];
      TestStore other = stores[(owner + 1) % 3];
      long id = own.mkdir(path).id();
      assertEquals(owner, Long.remainderUnsigned(id, 3));
      assertEquals(id, own.lookup(path).node().id());
      refused(ErrorCode.WRONG_NAMENODE, path, () -> other.lookup(path));
      refused(ErrorCode.WRONG_NAMENODE, path, () -> other.mkdir(path));
      refused(ErrorCode.WRONG_NAMENODE, path, () -> other.replace(path, 0));
      refused(ErrorCode.WRONG_NAMENODE, path, () -> other.remove(path, true));
      refused(ErrorCode.WRONG_NAMENODE, path, () -> other.rename(path, "/x"));
      refused(ErrorCode.WRONG_NAMENODE, String.valueOf(id), () -> other.find(id, 0));
      String target = "/elsewhere-" + i;
      if (NodePath.namenodeOf(Utf8.of(target), 3) != owner) {
        crossed++;
        refused(ErrorCode.CROSS_NAMENODE, target, () -> own.rename(path, target));
        refused(ErrorCode.CROSS_NAMENODE, target, () -> own.renameOver(path, target));
        stores[NodePath.namenodeOf(Utf8.of(target), 3)].mkdir(target);
        refused(ErrorCode.CROSS_NAMENODE, target, () -> own.renameOver(path, target));
        assertEquals(id, own.lookup(path).node().id());
        refused(ErrorCode.CROSS_NAMENODE, () -> own.rename(path, target + "/below"));
      }
    }
    assertTrue(crossed > 5);
    for (int i = 0; i < stores.length; i++) {
      assertEquals(i, Long.remainderUnsigned(stores[i].lookup("/").node().id(), 3));
    }
  }

  @Test
  void idsAreStaleAfterARestart() throws Exception {
    Random random = new Random(TestStore.seed());
    Set<Long> ids = new HashSet<>();
    // Each starts at the same time of day.
    TestStore before = new TestStore(random, new ManualClock(), 0, 1);
    for (int i = 0; i < 1000; i++) {
      ids.add(before.file("/f" + i).id());
    }
    TestStore after = new TestStore(random, new ManualClock(), 0, 1);
    for (int i = 0; i < 1000; i++) {
      assertTrue(ids.add(after.file("/f" + i).id()));
    }
    long id = before.lookup("/f7").node().id();
    refused(ErrorCode.STALE_NODE, String.valueOf(id), () -> after.find(id, 0));
  }

  private static long nodes(TestStore store) throws Exception {
    return store.call(NameNodeOperations.USAGE, new Usage.Request()).nodes();
  }
}
