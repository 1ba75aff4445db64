/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.Refusals;
import io.crail.namenode.TestStore;
import io.crail.namenode.name.NameHash;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random operations on the tree, compared with a tree of plain maps. */
class TreeModelTest {
  private static final int STEPS = 40_000;

  /** A node of the model; children in the order of listings. */
  private static final class Model {
    private final NodeType type;
    private final boolean enumerable;
    private long id;
    private final Map<String, Model> children = new LinkedHashMap<>();

    Model(NodeType type, boolean enumerable) {
      this.type = type;
      this.enumerable = enumerable;
    }
  }

  private final Model root = new Model(NodeType.DIRECTORY, true);
  private final List<Long> gone = new ArrayList<>();
  private Random random;
  private TestStore store;

  @Test
  void randomOperationsMatchTheModel() throws Exception {
    random = new Random(TestStore.seed());
    store = new TestStore();
    for (int step = 0; step < STEPS; step++) {
      int dice = random.nextInt(100);
      if (dice < 45) {
        create();
      } else if (dice < 60) {
        remove();
      } else if (dice < 85) {
        rename();
      } else {
        look();
      }
      if (step % 1000 == 0) {
        store.namenode.tick();
        compare("", root, store.lookup("/").node());
        for (int i = 0; i < 10 && !gone.isEmpty(); i++) {
          long id = gone.get(random.nextInt(gone.size()));
          Refusals.refused(ErrorCode.STALE_NODE, () -> store.find(id, 0));
        }
      }
    }
    store.pass(100);
    compare("", root, store.lookup("/").node());
    assertEquals(count(root), store.namenode.tree().ids().size());
    assertEquals(count(root), store.namenode.tree().names().size() + 1);
  }

  private void create() throws CrailException {
    String path = randomPath();
    NodeType type = NodeType.values()[random.nextInt(5)];
    boolean enumerable = random.nextInt(4) > 0;
    boolean replace = random.nextBoolean();
    Model parent = parent(path);
    ErrorCode expected = parentFailure(path);
    String name = name(path);
    if (expected == null && !parent.type.mayHold(type)) {
      expected = ErrorCode.WRONG_TYPE;
    }
    Model present = expected == null ? parent.children.get(name) : null;
    boolean replaces = replace || parent != null && parent.type == NodeType.TABLE;
    if (present != null && !(replaces && !type.isContainer() && !present.type.isContainer())) {
      expected = ErrorCode.NODE_EXISTS;
    }
    NodeInfo[] info = new NodeInfo[1];
    assertEquals(
        expected,
        outcome(
            () ->
                info[0] =
                    store
                        .call(
                            NameNodeOperations.CREATE,
                            new Create.Request(
                                type,
                                enumerable,
                                false,
                                replace,
                                0644,
                                -1,
                                0,
                                Utf8.of(path),
                                Utf8.EMPTY))
                        .node()),
        "create " + path);
    if (expected == null) {
      Model node = new Model(type, enumerable);
      node.id = info[0].id();
      // A LinkedHashMap keeps the place of a key whose value is replaced, as a listing does.
      Model old = parent.children.put(name, node);
      if (old != null) {
        gone.add(old.id);
      }
    }
  }

  private void remove() {
    String path = randomPath();
    boolean recursive = random.nextInt(3) == 0;
    Model node = find(path);
    ErrorCode expected =
        node == null
            ? ErrorCode.NODE_NOT_FOUND
            : !recursive && !node.children.isEmpty() ? ErrorCode.NOT_EMPTY : null;
    assertEquals(expected, outcome(() -> store.remove(path, recursive)), "remove " + path);
    if (expected == null) {
      parent(path).children.remove(name(path));
      collect(node);
    }
  }

  private void rename() {
    String source = randomPath();
    String target = randomPath();
    boolean replace = random.nextBoolean();
    Model node = find(source);
    ErrorCode expected = node == null ? ErrorCode.NODE_NOT_FOUND : parentFailure(target);
    Model to = parent(target);
    if (expected == null) {
      if (target.startsWith(source + "/")) {
        expected = ErrorCode.CYCLE;
      } else if (!to.type.mayHold(node.type)) {
        expected = ErrorCode.WRONG_TYPE;
      } else if (to.children.containsKey(name(target))) {
        expected = replacementFailure(node, to.children.get(name(target)), replace);
      }
    }
    assertEquals(
        expected,
        outcome(
            replace ? () -> store.renameOver(source, target) : () -> store.rename(source, target)),
        source + " to " + target);
    if (expected == null) {
      Model from = parent(source);
      Model old = to.children.get(name(target));
      if (old != null) {
        gone.add(old.id);
        from.children.remove(name(source));
        to.children.put(name(target), node);
      } else if (from == to) {
        // Keeps its place in listings.
        Map<String, Model> renamed = new LinkedHashMap<>();
        from.children.forEach(
            (name, child) -> renamed.put(child == node ? name(target) : name, child));
        from.children.clear();
        from.children.putAll(renamed);
      } else {
        from.children.remove(name(source));
        to.children.put(name(target), node);
      }
    }
  }

  private static ErrorCode replacementFailure(Model node, Model old, boolean replace) {
    boolean alike = node.type.isContainer() ? node.type == old.type : !old.type.isContainer();
    return !replace || !alike || node == old
        ? ErrorCode.NODE_EXISTS
        : old.children.isEmpty() ? null : ErrorCode.NOT_EMPTY;
  }

  /** Looks several paths up in one batch. */
  private void look() throws CrailException {
    List<Lookup.Request> requests = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    for (int i = random.nextInt(80); i >= 0; i--) {
      paths.add(randomPath());
      requests.add(new Lookup.Request(Utf8.of(paths.get(paths.size() - 1))));
    }
    List<Object> answers = store.wire.callAll(NameNodeOperations.LOOKUP, requests);
    for (int i = 0; i < paths.size(); i++) {
      Model expected = find(paths.get(i));
      if (expected == null) {
        assertEquals(ErrorCode.NODE_NOT_FOUND, ((CrailException) answers.get(i)).code());
      } else {
        assertEquals(expected.id, ((Lookup.Response) answers.get(i)).node().id(), paths.get(i));
      }
    }
  }

  private void compare(String path, Model model, NodeInfo info) throws CrailException {
    assertEquals(model.type, info.type(), path);
    assertEquals(model.children.size(), info.childCount(), path);
    if (!model.type.isContainer()) {
      return;
    }
    List<String> expected = new ArrayList<>();
    model.children.forEach(
        (name, child) -> {
          if (child.enumerable) {
            expected.add(name);
          }
        });
    List<String> actual = new ArrayList<>();
    long cursor = 0;
    while (cursor >= 0) {
      ListNodes.Response page =
          store.call(
              NameNodeOperations.LIST_NODES,
              new ListNodes.Request(info.id(), cursor, 1 + random.nextInt(10)));
      for (ListNodes.Entry entry : page.entries()) {
        actual.add(entry.name().toString());
        Model child = model.children.get(entry.name().toString());
        assertEquals(child.id, entry.node().id());
        compare(path + "/" + entry.name(), child, entry.node());
      }
      cursor = page.next();
    }
    assertEquals(expected, actual, path);
  }

  private interface Action {
    void run() throws CrailException;
  }

  private static ErrorCode outcome(Action action) {
    try {
      action.run();
      return null;
    } catch (CrailException e) {
      return e.code();
    }
  }

  private String randomPath() {
    StringBuilder path = new StringBuilder();
    for (int depth = random.nextInt(4); depth >= 0; depth--) {
      path.append("/n").append(random.nextInt(5));
      if (random.nextInt(8) == 0) {
        path.append("-with-a-name-that-is-not-inline");
      }
    }
    return path.toString();
  }

  private Model find(String path) {
    Model model = root;
    for (String name : path.substring(1).split("/")) {
      model = model == null ? null : model.children.get(name);
    }
    return model;
  }

  private Model parent(String path) {
    int end = path.lastIndexOf('/');
    return end == 0 ? root : find(path.substring(0, end));
  }

  private ErrorCode parentFailure(String path) {
    Model model = root;
    String[] names = path.substring(1).split("/");
    for (int i = 0; i < names.length - 1; i++) {
      model = model.children.get(names[i]);
      if (model == null) {
        return ErrorCode.PARENT_NOT_FOUND;
      }
      if (!model.type.isContainer()) {
        return ErrorCode.NOT_A_CONTAINER;
      }
    }
    return null;
  }

  private static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private void collect(Model node) {
    gone.add(node.id);
    node.children.values().forEach(this::collect);
  }

  private static long count(Model node) {
    return 1 + node.children.values().stream().mapToLong(TreeModelTest::count).sum();
  }

  @Test
  void namesCollideInHashOnlyByChance() {
    // The seeds differ from namenode to namenode, so no client can prepare names.
    NameHash a = new NameHash(new Random(1));
    NameHash b = new NameHash(new Random(2));
    assertNull(a.of(1, 2, 3, 4, 24) == b.of(1, 2, 3, 4, 24) ? "same hash" : null);
  }
}
