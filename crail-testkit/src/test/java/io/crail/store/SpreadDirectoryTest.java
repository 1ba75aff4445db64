/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailContainer;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.part.NodePath;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Directories and tables whose children are spread over several namenodes. */
class SpreadDirectoryTest {
  private static final int NAMENODES = 3;
  private static final int CHILDREN = 300;
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 1000 : 20;

  private TestCluster cluster;
  private CrailStore store;
  private CrailStore other;

  @BeforeEach
  void start() throws Exception {
    cluster = TestCluster.start(NAMENODES, 1);
    store = cluster.newStore();
    other = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private CrailNode spread(String path, CrailNodeType type) throws Exception {
    return store
        .createSpread(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS);
  }

  private static CrailNode directory(CrailStore in, String path) throws Exception {
    return in.create(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get(60, TimeUnit.SECONDS)
        .syncDir();
  }

  private static void put(CrailStore in, String path, int value) throws Exception {
    in.put(path, Bytes.buffer(new byte[] {(byte) value})).get(60, TimeUnit.SECONDS);
  }

  private static int get(CrailStore in, String path) throws Exception {
    ByteBuffer memory = ByteBuffer.allocateDirect(8);
    assertNotNull(in.get(path, OffHeapBuffer.wrap(memory)).get(60, TimeUnit.SECONDS), path);
    return memory.get(0);
  }

  private static CrailNode lookup(CrailStore in, String path) throws Exception {
    return in.lookup(path).get(60, TimeUnit.SECONDS);
  }

  private static Set<String> list(CrailStore in, String path) throws Exception {
    Set<String> names = new TreeSet<>();
    Iterator<String> entries = lookup(in, path).asContainer().listEntries();
    while (entries.hasNext()) {
      String entry = entries.next();
      assertTrue(names.add(entry), entry + " is listed twice");
    }
    return names;
  }

  private static ErrorCode codeOf(Callable<?> operation) {
    Exception failure = assertThrows(Exception.class, operation::call);
    Throwable cause = failure instanceof CrailException ? failure : failure.getCause();
    return ((CrailException) cause).code();
  }

  private static int namenodeOf(String name) {
    return NodePath.namenodeOf(Utf8.of("/" + name), NAMENODES);
  }

  /** A name that belongs to a namenode. */
  private static String nameAt(int namenode, String prefix) {
    int i = 0;
    while (namenodeOf(prefix + i) != namenode) {
      i++;
    }
    return prefix + i;
  }

  @Test
  void childrenAreAtAllNamenodesAndFoundByAll() throws Exception {
    spread("/table", CrailNodeType.TABLE);
    Set<String> expected = new TreeSet<>();
    int[] at = new int[NAMENODES];
    for (int i = 0; i < CHILDREN; i++) {
      put(store, "/table/key" + i, i);
      expected.add("/table/key" + i);
      at[namenodeOf("key" + i)]++;
    }
    for (int i = 0; i < CHILDREN; i++) {
      assertEquals((byte) i, get(other, "/table/key" + i));
    }
    assertEquals(expected, list(other, "/table"));
    assertEquals(CHILDREN, lookup(other, "/table").asContainer().files());
    assertTrue(lookup(other, "/table").asContainer().isSpread());
    for (int count : at) {
      assertTrue(count > CHILDREN / NAMENODES / 2, "one namenode has only " + count);
    }
    assertNull(lookup(other, "/table/none"));
    assertNull(lookup(other, "/table/key1/below"));
  }

  @Test
  void aKeyOfTheStoreSpreadsWhatItCreates() throws Exception {
    CrailStore keyed = cluster.newStore("crail.client.spread=/in/*");
    CrailContainer above = directory(keyed, "/in").asContainer();
    assertFalse(above.isSpread());
    CrailNode made =
        keyed
            .create(
                "/in/spread",
                CrailNodeType.DIRECTORY,
                CrailStorageClass.get(0),
                CrailLocationClass.DEFAULT,
                false,
                false,
                0750)
            .early()
            .syncDir();
    assertTrue(made.asContainer().isSpread());
    assertEquals(0750, made.getAttributes().permissions());
    assertEquals(Set.of(), list(other, "/in"));
    for (int i = 0; i < CHILDREN; i++) {
      directory(keyed, "/in/spread/" + i);
    }
    assertFalse(lookup(keyed, "/in/spread/0").asContainer().isSpread());
    assertEquals(CHILDREN, list(other, "/in/spread").size());
    keyed
        .create(
            "/in/table",
            CrailNodeType.TABLE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
    assertTrue(lookup(other, "/in/table").asContainer().isSpread());
    keyed
        .create(
            "/in/parts",
            CrailNodeType.MULTIFILE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
    assertFalse(lookup(other, "/in/parts").asContainer().isSpread());
    put(keyed, "/in/table/value", 7);
    assertEquals(7, get(other, "/in/table/value"));
    assertEquals(ErrorCode.NODE_EXISTS, codeOf(() -> directory(keyed, "/in/spread")));
    directory(store, "/in/plain");
    assertFalse(lookup(keyed, "/in/plain").asContainer().isSpread());
  }

  @Test
  void aKeyCannotSpreadWhatIsInASpreadDirectory() throws Exception {
    spread("/out", CrailNodeType.DIRECTORY);
    CrailStore keyed = cluster.newStore("crail.client.spread=/out/*");
    assertEquals(ErrorCode.INVALID_ARGUMENT, codeOf(() -> directory(keyed, "/out/a")));
    assertNull(lookup(other, "/out/a"));
  }

  @Test
  void whatIsBelowAChildIsWhereTheChildIs() throws Exception {
    spread("/spread", CrailNodeType.DIRECTORY);
    for (int i = 0; i < 12; i++) {
      directory(store, "/spread/d" + i);
      directory(other, "/spread/d" + i + "/deep");
      byte[] bytes = {1, 2, (byte) i};
      Bytes.write(store, "/spread/d" + i + "/deep/file", bytes);
      assertArrayEquals(bytes, Bytes.read(lookup(other, "/spread/d" + i + "/deep/file").asFile()));
      assertEquals(Set.of("/spread/d" + i + "/deep"), list(other, "/spread/d" + i));
      other.rename("/spread/d" + i + "/deep/file", "/spread/d" + i + "/moved").get();
      assertNull(lookup(store, "/spread/d" + i + "/deep/file"));
      assertArrayEquals(bytes, Bytes.read(lookup(store, "/spread/d" + i + "/moved").asFile()));
    }
  }

  @Test
  void aRenameStaysAtOneNamenode() throws Exception {
    directory(store, "/top");
    spread("/top/spread", CrailNodeType.DIRECTORY);
    String first = "/top/spread/" + nameAt(0, "a");
    directory(store, first);
    String sameNamenode = "/top/spread/" + nameAt(0, "b");
    String elsewhere = "/top/spread/" + nameAt(1, "c");
    assertEquals(ErrorCode.CROSS_NAMENODE, codeOf(() -> store.rename(first, elsewhere).get()));
    assertEquals(ErrorCode.CROSS_NAMENODE, codeOf(() -> other.rename(first, elsewhere).get()));
    assertNotNull(lookup(store, first));
    other.rename(first, sameNamenode).get();
    assertNotNull(lookup(store, sameNamenode));
    // Braces keep names together.
    directory(store, "/top/spread/x{7}");
    store.rename("/top/spread/x{7}", "/top/spread/y{7}z").get();
    assertNotNull(lookup(other, "/top/spread/y{7}z"));
    String neighbour = "/top/other";
    assertEquals(
        ErrorCode.CROSS_NAMENODE, codeOf(() -> store.rename("/top/spread", neighbour).get()));
    String newTop = "/" + nameAt(namenodeOf("top"), "new");
    assertEquals(ErrorCode.CROSS_NAMENODE, codeOf(() -> store.rename("/top", newTop).get()));
    directory(store, "/top/empty");
    spread("/top/spread2", CrailNodeType.DIRECTORY);
    assertEquals(
        ErrorCode.NODE_EXISTS,
        codeOf(() -> store.rename("/top/empty", "/top/spread2", true).get()));
  }

  @Test
  void whatCannotBeSpreadIsRefused() throws Exception {
    assertEquals(
        ErrorCode.INVALID_ARGUMENT, codeOf(() -> spread("/multi", CrailNodeType.MULTIFILE)));
    assertEquals(
        ErrorCode.PARENT_NOT_FOUND, codeOf(() -> spread("/no/such", CrailNodeType.DIRECTORY)));
    spread("/spread", CrailNodeType.DIRECTORY);
    assertEquals(ErrorCode.NODE_EXISTS, codeOf(() -> spread("/spread", CrailNodeType.TABLE)));
    for (int i = 0; i < NAMENODES; i++) {
      String below = "/spread/" + nameAt(i, "d");
      assertEquals(
          ErrorCode.INVALID_ARGUMENT, codeOf(() -> spread(below, CrailNodeType.DIRECTORY)));
      directory(store, below);
      assertEquals(
          ErrorCode.INVALID_ARGUMENT,
          codeOf(() -> spread(below + "/deeper", CrailNodeType.DIRECTORY)));
    }
  }

  @Test
  void onlyAnEmptyOneIsRemovedUnlessRecursively() throws Exception {
    directory(store, "/top");
    for (int round = 0; round < ROUNDS; round++) {
      spread("/top/spread", CrailNodeType.DIRECTORY);
      assertEquals(Set.of(), list(other, "/top/spread"), "round " + round);
      for (int i = 0; i < NAMENODES; i++) {
        String child = "/top/spread/" + nameAt(i, "d");
        directory(round % 2 == 0 ? store : other, child);
        assertEquals(
            ErrorCode.NOT_EMPTY,
            codeOf(() -> other.delete("/top/spread", false).get(60, TimeUnit.SECONDS)));
        if (round % 3 == 0) {
          store.delete(child, false).get(60, TimeUnit.SECONDS);
        }
      }
      String removed = round % 3 == 2 ? "/top" : "/top/spread";
      other.delete(removed, round % 3 != 0).get(60, TimeUnit.SECONDS);
      for (CrailStore each : List.of(store, other)) {
        assertNull(lookup(each, "/top/spread"), "round " + round);
        for (int i = 0; i < NAMENODES; i++) {
          String child = "/top/spread/" + nameAt(i, "d");
          assertNull(lookup(each, child), "round " + round);
          assertEquals(ErrorCode.PARENT_NOT_FOUND, codeOf(() -> directory(each, child)));
        }
      }
      if (round % 3 == 2) {
        directory(store, "/top");
      }
    }
    store.delete("/top", true).get(60, TimeUnit.SECONDS);
    awaitNodes(NAMENODES);
  }

  /** Waits until only so many nodes are left at all namenodes together. */
  private void awaitNodes(long count) throws Exception {
    TestCluster.await(count + " nodes", () -> cluster.nodes() == count);
  }

  @Test
  void removalAndCreateNeverBothSucceed() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(NAMENODES + 1);
    try {
      int removals = 0;
      for (int round = 0; round < 3 * ROUNDS; round++) {
        spread("/race", CrailNodeType.DIRECTORY);
        CyclicBarrier barrier = new CyclicBarrier(NAMENODES + 1);
        List<Future<Boolean>> creates = new ArrayList<>();
        for (int i = 0; i < NAMENODES; i++) {
          String child = "/race/" + nameAt(i, "d");
          CrailStore user = i % 2 == 0 ? store : other;
          creates.add(threads.submit(() -> together(barrier, () -> directory(user, child))));
        }
        boolean isRemoved =
            threads
                .submit(() -> together(barrier, () -> other.delete("/race", false).get()))
                .get(60, TimeUnit.SECONDS);
        for (Future<Boolean> create : creates) {
          assertFalse(
              create.get(60, TimeUnit.SECONDS) && isRemoved, "a create was lost, round " + round);
        }
        removals += isRemoved ? 1 : 0;
        if (!isRemoved) {
          store.delete("/race", true).get(60, TimeUnit.SECONDS);
        }
      }
      System.out.println(removals + " of " + 3 * ROUNDS + " removals came first");
      awaitNodes(NAMENODES);
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  private static boolean together(CyclicBarrier barrier, Callable<?> operation) throws Exception {
    barrier.await(60, TimeUnit.SECONDS);
    try {
      operation.call();
      return true;
    } catch (Exception e) {
      Throwable cause = e instanceof CrailException ? e : e.getCause();
      ErrorCode code = ((CrailException) cause).code();
      assertTrue(
          code == ErrorCode.PARENT_NOT_FOUND
              || code == ErrorCode.NODE_NOT_FOUND
              || code == ErrorCode.NOT_EMPTY,
          () -> "" + cause);
      return false;
    }
  }

  /**
   * Nothing of a directory comes back by its attributes, and no removal opens another one's seal.
   */
  @Test
  void attributesRemovalsAndCreatesBesideEachOtherLeaveNothing() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2 + 2 + NAMENODES);
    try {
      for (int round = 0; round < 2 * ROUNDS; round++) {
        String path = "/beside" + round;
        spread(path, CrailNodeType.DIRECTORY);
        CyclicBarrier barrier = new CyclicBarrier(2 + 2 + NAMENODES);
        List<Future<Boolean>> attributes = new ArrayList<>();
        List<Future<Boolean>> removals = new ArrayList<>();
        List<Future<Boolean>> creates = new ArrayList<>();
        for (CrailStore each : List.of(store, other)) {
          CrailAttributeChanges changes = CrailAttributeChanges.ofPermissions(0700 + round % 8);
          attributes.add(
              threads.submit(
                  () -> together(barrier, () -> each.setAttributes(path, changes).get())));
          removals.add(
              threads.submit(() -> together(barrier, () -> each.delete(path, false).get())));
        }
        for (int i = 0; i < NAMENODES; i++) {
          String child = path + "/" + nameAt(i, "d");
          CrailStore user = i % 2 == 0 ? store : other;
          creates.add(threads.submit(() -> together(barrier, () -> directory(user, child))));
        }
        int removed = successes(removals);
        int created = successes(creates);
        successes(attributes);
        assertTrue(removed <= 1, "removed twice, round " + round);
        assertTrue(removed == 0 || created == 0, "a create was lost, round " + round);
        if (removed == 0) {
          assertEquals(created, list(store, path).size(), "round " + round);
          store.delete(path, true).get(60, TimeUnit.SECONDS);
        }
      }
      awaitNodes(NAMENODES);
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  private static int successes(List<Future<Boolean>> operations) throws Exception {
    int successes = 0;
    for (Future<Boolean> each : operations) {
      successes += each.get(60, TimeUnit.SECONDS) ? 1 : 0;
    }
    return successes;
  }

  @Test
  void aClientLearnsThatADirectoryIsPlainNow() throws Exception {
    spread("/again", CrailNodeType.DIRECTORY);
    directory(store, "/again/" + nameAt(0, "x"));
    other.delete("/again", true).get(60, TimeUnit.SECONDS);
    directory(other, "/again");
    String first = "/again/" + nameAt(0, "a");
    String second = "/again/" + nameAt(1, "b");
    directory(other, first);
    store.rename(first, second).get(60, TimeUnit.SECONDS);
    assertNotNull(lookup(other, second));
  }

  @Test
  void aClientThatKnowsOneOfTwoDirectoriesLearnsTheOther() throws Exception {
    spread("/one", CrailNodeType.DIRECTORY);
    spread("/two", CrailNodeType.DIRECTORY);
    directory(store, "/one/{k}a");
    assertNotNull(lookup(other, "/two"));
    other.rename("/one/{k}a", "/two/{k}b").get(60, TimeUnit.SECONDS);
    assertNotNull(lookup(store, "/two/{k}b"));
  }

  /** Whether the directories are of one namenode or of two, and the names at it or elsewhere. */
  @Test
  void aClientThatKnowsNeitherOfTwoDirectoriesLearnsBoth() throws Exception {
    for (int owner = 0; owner < NAMENODES; owner++) {
      String one = "/" + nameAt(0, "one" + owner);
      String two = "/" + nameAt(owner, "two" + owner);
      spread(one, CrailNodeType.DIRECTORY);
      spread(two, CrailNodeType.DIRECTORY);
      for (int at = 0; at < NAMENODES; at++) {
        String name = nameAt(at, "c");
        directory(store, one + "/" + name);
        CrailStore fresh = cluster.newStore();
        fresh.rename(one + "/" + name, two + "/" + name).get(60, TimeUnit.SECONDS);
        assertNull(lookup(store, one + "/" + name));
        assertNotNull(lookup(store, two + "/" + name));
        CrailStore another = cluster.newStore();
        String elsewhere = one + "/" + nameAt((at + 1) % NAMENODES, "e");
        assertEquals(
            ErrorCode.CROSS_NAMENODE,
            codeOf(() -> another.rename(two + "/" + name, elsewhere).get(60, TimeUnit.SECONDS)));
        assertNotNull(lookup(store, two + "/" + name));
      }
    }
  }

  /** A callback must not wait, but it may rename. */
  @Test
  void aCallbackLearnsToo() throws Exception {
    String one = "/" + nameAt(0, "one");
    String two = "/" + nameAt(1, "two");
    spread(one, CrailNodeType.DIRECTORY);
    spread(two, CrailNodeType.DIRECTORY);
    directory(store, one + "/child");
    other
        .lookup("/")
        .toCompletableFuture(Runnable::run)
        .thenCompose(root -> renaming(other, one + "/child", two + "/child"))
        .get(60, TimeUnit.SECONDS);
    assertNotNull(lookup(store, two + "/child"));
  }

  private static CompletableFuture<CrailNode> renaming(CrailStore in, String from, String to) {
    try {
      return in.rename(from, to).toCompletableFuture();
    } catch (Exception e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Test
  void withOneNamenodeItIsAnOrdinaryOne() throws Exception {
    try (TestCluster one = TestCluster.start(1, 1)) {
      CrailStore own = one.newStore();
      for (String path : List.of("/top/a", "/top/b")) {
        directory(own, "/top");
        CrailNode made =
            own.createSpread(
                    path,
                    CrailNodeType.DIRECTORY,
                    CrailStorageClass.DEFAULT,
                    CrailLocationClass.DEFAULT,
                    true)
                .get();
        assertFalse(made.asContainer().isSpread());
        directory(own, path + "/child");
        own.rename(path, "/top/moved").get();
        own.delete("/top/moved/child", false).get();
        own.delete("/top/moved", false).get();
        own.delete("/top", true).get();
      }
      assertEquals(1, one.nodes());
    }
  }

  @Test
  void attributesAreThoseOfAllShares() throws Exception {
    spread("/spread", CrailNodeType.DIRECTORY);
    store
        .setAttributes("/spread", CrailAttributeChanges.ofOwner(null, "analysts"))
        .get(60, TimeUnit.SECONDS);
    for (int i = 0; i < NAMENODES; i++) {
      CrailNode child = directory(other, "/spread/" + nameAt(i, "d"));
      assertEquals("analysts", child.getAttributes().group());
    }
  }

  @Test
  void attributesAreThoseOfTheOwnerWhicheverNamenodeItIs() throws Exception {
    for (int i = 0; i < NAMENODES; i++) {
      String path = "/" + nameAt(i, "attributes");
      spread(path, CrailNodeType.DIRECTORY);
      store
          .setAttributes(path, CrailAttributeChanges.ofOwner("somebody" + i, "team" + i))
          .get(60, TimeUnit.SECONDS);
      directory(store, path + "/child");
      CrailContainer container = lookup(other, path).asContainer();
      container.refresh();
      assertEquals("somebody" + i, container.getAttributes().owner());
      assertEquals("team" + i, container.getAttributes().group());
      assertEquals(1, container.files());
    }
  }

  @Test
  void aNamenodeThatIsStartedAgainGetsAnEmptyShare() throws Exception {
    spread("/spread", CrailNodeType.DIRECTORY);
    int owner = namenodeOf("spread");
    int restarted = (owner + 1) % NAMENODES;
    Set<String> left = new TreeSet<>();
    for (int i = 0; i < NAMENODES; i++) {
      String child = "/spread/" + nameAt(i, "d");
      directory(store, child);
      if (i != restarted) {
        left.add(child);
      }
    }
    cluster.crail().restartNamenode(restarted);
    String lost = "/spread/" + nameAt(restarted, "d");
    assertNull(lookup(store, lost));
    assertNull(lookup(other, lost));
    assertEquals(left, list(other, "/spread"));
    directory(other, lost);
    left.add(lost);
    assertEquals(left, list(store, "/spread"));
    other.delete("/spread", true).get(60, TimeUnit.SECONDS);
    awaitNodes(NAMENODES);
  }

  @Test
  void sharesEndWithAnOwnerThatIsStartedAgain() throws Exception {
    spread("/spread", CrailNodeType.DIRECTORY);
    for (int i = 0; i < NAMENODES; i++) {
      directory(store, "/spread/" + nameAt(i, "d"));
    }
    cluster.crail().restartNamenode(namenodeOf("spread"));
    awaitNodes(NAMENODES);
    for (int i = 0; i < NAMENODES; i++) {
      assertNull(lookup(store, "/spread/" + nameAt(i, "d")));
    }
    spread("/spread", CrailNodeType.DIRECTORY);
    assertEquals(Set.of(), list(store, "/spread"));
  }

  @Test
  void noChildOfADirectoryOfBeforeTheOwnersStartIsInItsSuccessor() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      spread("/spread", CrailNodeType.DIRECTORY);
      for (int i = 0; i < NAMENODES; i++) {
        directory(other, "/spread/" + nameAt(i, "d"));
      }
      cluster.crail().restartNamenode(namenodeOf("spread"));
      spread("/spread", CrailNodeType.DIRECTORY);
      for (int i = 0; i < NAMENODES; i++) {
        // This one knew the way to the earlier directory.
        assertNull(lookup(other, "/spread/" + nameAt(i, "d")), "round " + round);
      }
      store.delete("/spread", true).get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void aContainerOnTheWayIsNoContainer() throws Exception {
    spread("/spread", CrailNodeType.DIRECTORY);
    String file = "/spread/" + nameAt((namenodeOf("spread") + 1) % NAMENODES, "f");
    Bytes.write(store, file, new byte[] {1});
    assertEquals(ErrorCode.NOT_A_CONTAINER, codeOf(() -> directory(other, file + "/below")));
    CrailContainer directory = lookup(other, "/spread").asContainer();
    assertEquals(1, directory.files());
  }
}
