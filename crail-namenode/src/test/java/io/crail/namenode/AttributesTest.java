/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.tree.Node;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Names;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Owner, group, permission bits and times of nodes. */
class AttributesTest {
  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.user", "namenode");
    store.datanode(1 << 20);
  }

  private List<String> names() throws CrailException {
    return store.call(NameNodeOperations.NAMES, new Names.Request(0)).names().stream()
        .map(name -> name.text().toString())
        .toList();
  }

  private NodeInfo set(String path, int which, int permissions, String owner, String group)
      throws CrailException {
    return store
        .call(
            NameNodeOperations.SET_ATTRIBUTES,
            new SetAttributes.Request(
                which, permissions, 11, 22, Utf8.of(path), Utf8.of(owner), Utf8.of(group)))
        .node();
  }

  @Test
  void aNodeBelongsToItsCreatorAndToItsParentsGroup() throws Exception {
    NodeInfo root = store.lookup("/").node();
    assertEquals(UserNames.OWN, root.owner());
    assertEquals(UserNames.OWN, root.group());
    assertEquals(01777, root.permissions());
    store.mkdir("/d");
    set("/d", SetAttributes.GROUP, 0, "", "team");
    NodeInfo file =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE,
                    true,
                    false,
                    false,
                    07654,
                    -1,
                    0,
                    Utf8.of("/d/f"),
                    Utf8.EMPTY))
            .node();
    assertEquals(07654, file.permissions());
    assertEquals("tester", names().get(file.owner()));
    assertEquals("team", names().get(file.group()));
    assertEquals(store.clock.currentTimeMillis(), file.accessedMillis());
    assertEquals(file, store.lookup("/d/f").node());
  }

  @Test
  void onlyWhatIsAskedForIsSet() throws Exception {
    NodeInfo made = store.file("/f");
    store.clock.advanceMillis(5);
    assertEquals(made, set("/f", 0, 0777, "x", "y"));
    NodeInfo bits = set("/f", SetAttributes.PERMISSIONS, 0751, "", "");
    assertEquals(0751, bits.permissions());
    assertEquals(made.owner(), bits.owner());
    assertEquals(made.modifiedMillis(), bits.modifiedMillis());
    NodeInfo owner = set("/f", SetAttributes.OWNER, 0, "new owner", "");
    assertEquals("new owner", names().get(owner.owner()));
    assertEquals(0751, owner.permissions());
    assertEquals(made.group(), owner.group());
    NodeInfo all = set("/f", SetAttributes.ALL, 0, "o", "g");
    assertEquals("o", names().get(all.owner()));
    assertEquals("g", names().get(all.group()));
    assertEquals(0, all.permissions());
    assertEquals(11, all.modifiedMillis());
    assertEquals(22, all.accessedMillis());
    assertEquals(all, store.lookup("/f").node());
    // Bytes change the one time, reads neither.
    store.acquire(all.id(), 9);
    store.extend(all.id(), 9, 0, 10);
    NodeInfo written = store.setSize(all.id(), 9, 10, SetSize.END);
    assertEquals(store.clock.currentTimeMillis(), written.modifiedMillis());
    assertEquals(22, store.lookup("/f").node().accessedMillis());
  }

  @Test
  void aRenamedNodeKeepsThemAnOverwrittenOneIsNew() throws Exception {
    store.file("/f");
    NodeInfo set = set("/f", SetAttributes.ALL, 0123, "o", "g");
    NodeInfo renamed = store.rename("/f", "/g");
    assertEquals(set, renamed);
    store.file("/h");
    assertEquals(set, store.renameOver("/g", "/h"));
    NodeInfo fresh = store.replace("/h", 0);
    assertEquals(0644, fresh.permissions());
    assertEquals("tester", names().get(fresh.owner()));
    assertEquals(store.clock.currentTimeMillis(), fresh.accessedMillis());
  }

  @Test
  void invalidAttributesAreRefused() throws Exception {
    store.file("/f");
    int names = names().size();
    refused(ErrorCode.NODE_NOT_FOUND, "/x", () -> set("/x", SetAttributes.OWNER, 0, "o", ""));
    refused(ErrorCode.NODE_NOT_FOUND, "/f/x", () -> set("/f/x", SetAttributes.GROUP, 0, "", "g"));
    refused(ErrorCode.INVALID_ARGUMENT, "/f", () -> set("/f", 32, 0, "", ""));
    refused(ErrorCode.INVALID_ARGUMENT, "/f", () -> set("/f", 1, 010000, "", ""));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set("/f", SetAttributes.OWNER, 0, "", ""));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set("/f", SetAttributes.GROUP, 0, "", "a\nb"));
    refused(ErrorCode.INVALID_PATH, () -> set("f", SetAttributes.PERMISSIONS, 0, "", ""));
    assertEquals(names, names().size(), "mistakes use up no numbers");
    assertEquals(0644, store.lookup("/f").node().permissions());
  }

  /** Numbers are few, and hello is free. */
  @Test
  void aUserTakesANumberWithTheFirstNodeThatIsItsOwn() throws Exception {
    assertEquals(List.of("namenode"), names(), "the tester has said hello");
    store.file("/f");
    assertEquals(List.of("namenode", "tester"), names());
    for (String wrong : List.of("a\nb", "a".repeat(256), "\u0085")) {
      refused(
          ErrorCode.INVALID_ARGUMENT,
          () -> new SessionUser(store.namenode.users(), TestStore.caller(wrong)));
    }
    store.file("/g");
    assertEquals(2, names().size());
  }

  /** What is at the path when the change is made gets it, or nothing does. */
  @Test
  void aNodeThatIsRenamedMeanwhileKeepsWhatItHad() throws Exception {
    store.mkdir("/d");
    NodeInfo made = store.file("/d/f");
    Node node = store.namenode.tree().find(made.id());
    AtomicReference<CrailException> failure = new AtomicReference<>();
    Thread setter =
        new Thread(
            () -> {
              try {
                store
                    .namenode
                    .rules()
                    .attributes()
                    .setAttributes(
                        new SetAttributes.Request(
                            SetAttributes.PERMISSIONS,
                            0123,
                            0,
                            0,
                            Utf8.of("/d/f"),
                            Utf8.EMPTY,
                            Utf8.EMPTY),
                        new SessionUser(store.namenode.users(), TestStore.caller("")));
              } catch (CrailException e) {
                failure.set(e);
              }
            });
    synchronized (node.parent()) {
      synchronized (node) {
        setter.start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (setter.getState() != Thread.State.BLOCKED) {
          assertTrue(System.nanoTime() - deadline < 0, "it never waits for a lock");
          Thread.onSpinWait();
        }
        store.rename("/d/f", "/d/g");
      }
    }
    setter.join(60_000);
    assertEquals(0644, store.lookup("/d/g").node().permissions());
    assertEquals(ErrorCode.NODE_NOT_FOUND, failure.get().code());
  }
}
