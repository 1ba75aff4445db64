/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.create;
import static io.crail.store.Bytes.createFile;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailAttributes;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailContainer;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.CrossNamenodeException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.InvalidArgumentException;
import io.crail.common.error.InvalidPathException;
import io.crail.common.error.StaleNodeException;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names and nodes: create, lookup, rename, delete, listing. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier
@Tag("repeat")
class NamespaceTest implements EachTier.Shared {
  private TestCluster cluster;
  private CrailStore store;

  @Override
  public void start(Tier tier) throws Exception {
    cluster = TestCluster.start(tier, 2, 1);
    store = cluster.newStore();
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  private Upcoming<CrailNode> issue(String path, CrailNodeType type) throws Exception {
    return store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  private static ErrorCode failure(Upcoming<?> upcoming) {
    ExecutionException failed = assertThrows(ExecutionException.class, upcoming::get);
    return assertInstanceOf(CrailException.class, failed.getCause()).code();
  }

  private CrailNode lookup(String path) throws Exception {
    return store.lookup(path).get();
  }

  @ParameterizedTest
  @EnumSource(
      value = CrailNodeType.class,
      names = {"DATAFILE", "DIRECTORY", "MULTIFILE", "TABLE"})
  void createsAndFindsEveryType(CrailNodeType type) throws Exception {
    String path = "/types-" + type;
    CrailNode created = issue(path, type).get().syncDir();
    CrailNode found = lookup(path);
    for (CrailNode node : List.of(created, found)) {
      assertEquals(type, node.getType());
      assertEquals(path, node.getPath());
      assertEquals(0, node.getCapacity());
      assertTrue(Math.abs(System.currentTimeMillis() - node.getModificationTime()) < 60_000);
      assertEquals(store, node.getFileSystem());
    }
    assertEquals(ErrorCode.NODE_EXISTS, failure(issue(path, type)));
  }

  @ParameterizedTest
  @EnumSource(
      value = CrailNodeType.class,
      names = {"DATAFILE", "DIRECTORY", "MULTIFILE", "TABLE", "KEYVALUE"})
  void givesAnEarlyHandleOfEveryType(CrailNodeType type) throws Exception {
    String parent = "/early-" + type;
    create(store, parent, type.isKeyValue() ? CrailNodeType.TABLE : CrailNodeType.DIRECTORY);
    Upcoming<CrailNode> upcoming = issue(parent + "/n", type);
    CrailNode early = upcoming.early();
    assertEquals(type, early.getType());
    assertEquals(parent + "/n", early.getPath());
    assertEquals(0, early.getCapacity());
    early.syncDir();
    assertEquals(early, upcoming.get());
    switch (type) {
      case DATAFILE:
        assertTrue(early.asFile().getFd() != 0);
        break;
      case KEYVALUE:
        assertTrue(early.asKeyValue().getToken() != 0);
        break;
      default:
        assertEquals(0, early.asContainer().files());
    }
  }

  @Test
  void anEarlyHandleThrowsTheErrorOfItsCreate() throws Exception {
    CrailNode orphan = issue("/no/such/parent", CrailNodeType.DATAFILE).early();
    CrailException typed = assertThrows(CrailException.class, orphan::syncDir);
    assertEquals(ErrorCode.PARENT_NOT_FOUND, typed.code());
    assertThrows(CrailException.class, () -> orphan.asFile().getDirectOutputStream(0));
    UncheckedIOException unchecked = assertThrows(UncheckedIOException.class, orphan::getCapacity);
    assertEquals(
        ErrorCode.PARENT_NOT_FOUND,
        assertInstanceOf(CrailException.class, unchecked.getCause()).code());
  }

  @Test
  void castsRefuseOtherTypes() throws Exception {
    CrailNode file = issue("/casts", CrailNodeType.DATAFILE).get();
    assertNotNull(file.asFile());
    for (ThrowingCast cast :
        List.<ThrowingCast>of(
            CrailNode::asContainer,
            CrailNode::asDirectory,
            CrailNode::asMultiFile,
            CrailNode::asTable,
            CrailNode::asKeyValue)) {
      CrailException refused = assertThrows(CrailException.class, () -> cast.apply(file));
      assertEquals(ErrorCode.WRONG_TYPE, refused.code());
    }
    CrailNode directory = issue("/casts-d", CrailNodeType.DIRECTORY).get();
    assertNotNull(directory.asContainer());
    assertNotNull(directory.asDirectory());
    assertThrows(CrailException.class, directory::asFile);
  }

  private interface ThrowingCast {
    Object apply(CrailNode node) throws Exception;
  }

  @Test
  void parentsHoldOnlyWhatTheyMay() throws Exception {
    create(store, "/table", CrailNodeType.TABLE);
    assertEquals(ErrorCode.WRONG_TYPE, failure(issue("/table/f", CrailNodeType.DATAFILE)));
    assertEquals(ErrorCode.WRONG_TYPE, failure(issue("/kv", CrailNodeType.KEYVALUE)));
    createFile(store, "/leaf");
    assertEquals(ErrorCode.NOT_A_CONTAINER, failure(issue("/leaf/f", CrailNodeType.DATAFILE)));
    assertThrows(CrailException.class, () -> issue("/s", CrailNodeType.STREAMFILE));
  }

  @Test
  void lookupOfNothingIsNull() throws Exception {
    assertNull(lookup("/nothing"));
    assertNull(lookup("/nothing/below"));
    createFile(store, "/plain");
    assertNull(lookup("/plain/below"));
    assertNull(store.lookup("/nothing").early());
    assertNull(store.lookup("/nothing").toCompletableFuture().get(60, TimeUnit.SECONDS));
  }

  @Test
  void badPathsAreRefusedAtOnce() {
    for (String path :
        List.of(
            "/a/../b", "/./a", "/" + "x".repeat(256), "/x".repeat(600), "/a\u0000b", "/\ud800")) {
      assertThrows(InvalidPathException.class, () -> store.lookup(path));
      assertThrows(InvalidPathException.class, () -> issue(path, CrailNodeType.DATAFILE));
      assertThrows(InvalidPathException.class, () -> store.delete(path, true));
      assertThrows(InvalidPathException.class, () -> store.rename(path, "/x"));
    }
  }

  @Test
  void pathsAreBroughtIntoOneForm() throws Exception {
    create(store, "form", CrailNodeType.DIRECTORY);
    CrailFile file = createFile(store, "form//größe?/".replace("//", "/").replace("?/", "?"));
    assertEquals("/form/größe?", file.getPath());
    assertEquals("/form/größe?", lookup("//form///größe?//").getPath());
    assertEquals(file.getFd(), lookup("form/größe?").asFile().getFd());
  }

  @Test
  void namesWithEqualHashesAreDifferent() throws Exception {
    create(store, "/hash", CrailNodeType.DIRECTORY);
    long first = createFile(store, "/hash/Aa").getFd();
    long second = createFile(store, "/hash/BB").getFd();
    assertTrue(first != second);
    assertEquals(first, lookup("/hash/Aa").asFile().getFd());
    assertEquals(second, lookup("/hash/BB").asFile().getFd());
  }

  @Test
  void renames() throws Exception {
    create(store, "/rename", CrailNodeType.DIRECTORY);
    long id = createFile(store, "/rename/a").getFd();
    CrailNode renamed = store.rename("/rename/a", "/rename/b").get().syncDir();
    assertEquals("/rename/b", renamed.getPath());
    assertNull(lookup("/rename/a"));
    assertEquals(id, lookup("/rename/b").asFile().getFd());
    createFile(store, "/rename/c");
    assertEquals(ErrorCode.NODE_EXISTS, failure(store.rename("/rename/b", "/rename/c")));
    assertEquals(ErrorCode.NODE_NOT_FOUND, failure(store.rename("/rename/x", "/rename/y")));
    create(store, "/rename/d", CrailNodeType.DIRECTORY);
    assertEquals(ErrorCode.CYCLE, failure(store.rename("/rename/d", "/rename/d/e")));
    assertNotNull(lookup("/rename/d"));
  }

  private Upcoming<CrailNode> replace(String path, CrailNodeType type) throws Exception {
    return store.create(
        path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true, true, 0640);
  }

  @Test
  void aReplacingCreateReplaces() throws Exception {
    create(store, "/over", CrailNodeType.DIRECTORY);
    Bytes.write(store, "/over/f", new byte[5]);
    CrailFile old = lookup("/over/f").asFile();
    CrailFile fresh = replace("/over/f", CrailNodeType.DATAFILE).get().asFile();
    assertTrue(old.getFd() != fresh.getFd());
    assertEquals(fresh.getFd(), lookup("/over/f").asFile().getFd());
    assertEquals(0, lookup("/over/f").getCapacity());
    assertThrows(StaleNodeException.class, old::refresh);
    // The handle of a replacement can be written at once, as that of any create.
    try (CrailBufferedOutputStream out = fresh.getBufferedOutputStream(0)) {
      out.write(new byte[7]);
    }
    assertEquals(7, lookup("/over/f").getCapacity());
    long moved = createFile(store, "/over/g").getFd();
    assertEquals("/over/f", store.rename("/over/g", "/over/f", true).get().getPath());
    assertEquals(moved, lookup("/over/f").asFile().getFd());
    assertNull(lookup("/over/g"));
    create(store, "/over/d", CrailNodeType.DIRECTORY);
    create(store, "/over/e", CrailNodeType.DIRECTORY);
    assertEquals(ErrorCode.NODE_EXISTS, failure(replace("/over/d", CrailNodeType.DATAFILE)));
    assertEquals(ErrorCode.NODE_EXISTS, failure(replace("/over/f", CrailNodeType.DIRECTORY)));
    assertEquals(ErrorCode.NODE_EXISTS, failure(store.rename("/over/f", "/over/d", true)));
    createFile(store, "/over/d/x");
    assertEquals(ErrorCode.NOT_EMPTY, failure(store.rename("/over/e", "/over/d", true)));
    store.rename("/over/d", "/over/e", true).get();
    assertNotNull(lookup("/over/e/x"));
    assertNull(lookup("/over/d"));
  }

  @Test
  void attributesAreKeptForOthers() throws Exception {
    long before = System.currentTimeMillis();
    create(store, "/attributes", CrailNodeType.DIRECTORY);
    CrailAttributes directory = lookup("/attributes").getAttributes();
    assertEquals(System.getProperty("user.name"), directory.owner());
    assertEquals(CrailAttributes.CONTAINER_PERMISSIONS, directory.permissions());
    CrailNode set =
        store.setAttributes("/attributes", CrailAttributeChanges.ofOwner("somebody", "team")).get();
    assertEquals("somebody", set.getAttributes().owner());
    CrailNode file = replace("/attributes/f", CrailNodeType.DATAFILE).early();
    CrailAttributes made = file.getAttributes();
    assertEquals("team", made.group());
    assertEquals(0640, made.permissions());
    assertTrue(made.accessTime() >= before && made.modificationTime() >= before, made.toString());
    store.setAttributes("/attributes/f", CrailAttributeChanges.ofPermissions(01777)).get();
    store.setAttributes("/attributes/f", CrailAttributeChanges.ofTimes(7L, null)).get();
    store.setAttributes("/attributes/f", CrailAttributeChanges.ofTimes(null, 8L)).get();
    CrailAttributes present = lookup("/attributes/f").getAttributes();
    assertEquals(new CrailAttributes(made.owner(), "team", 01777, 7, 8), present);
    assertEquals(made, file.getAttributes(), "what the handle knew");
    CrailAttributes listed =
        lookup("/attributes").asContainer().listStatus().next().getAttributes();
    assertEquals(present, listed);
    assertEquals(
        ErrorCode.NODE_NOT_FOUND,
        failure(store.setAttributes("/none", CrailAttributeChanges.ofPermissions(0))));
    assertThrows(
        InvalidArgumentException.class,
        () -> store.setAttributes("/attributes", CrailAttributeChanges.ofPermissions(010000)));
    assertThrows(
        InvalidArgumentException.class,
        () -> store.setAttributes("/attributes", CrailAttributeChanges.ofOwner("", null)));
    // The one who comes later learns the names that were given before.
    try (CrailStore other = cluster.newStore()) {
      assertEquals(present, other.lookup("/attributes/f").get().getAttributes());
    }
  }

  @Test
  void aHandleOfARenamedContainerGivesNoPathsThatLeadNowhere() throws Exception {
    for (CrailNodeType type : List.of(CrailNodeType.DIRECTORY, CrailNodeType.MULTIFILE)) {
      create(store, "/before", type);
      Bytes.write(store, "/before/f", new byte[5]);
      CrailContainer old = lookup("/before").asContainer();
      assertEquals("/before/f", old.listEntries().next());
      CrailContainer renamed = store.rename("/before", "/after").get().asContainer();
      for (boolean occupied : new boolean[] {false, true}) {
        assertThrows(StaleNodeException.class, old::listEntries);
        assertThrows(StaleNodeException.class, old::listStatus);
        if (!occupied) {
          create(store, "/before", type);
        }
      }
      assertEquals("/after/f", renamed.listEntries().next());
      assertEquals("/after/f", renamed.listStatus().next().getPath());
      if (type == CrailNodeType.MULTIFILE) {
        // Bytes are found by their node.
        assertEquals(5, old.asMultiFile().getMultiStream(1).readAllBytes().length);
      }
      store.delete("/before", true).get();
      store.delete("/after", true).get();
    }
  }

  @Test
  void missingArgumentsAreNamed() throws Exception {
    CrailNodeType file = CrailNodeType.DATAFILE;
    CrailStorageClass tier = CrailStorageClass.DEFAULT;
    CrailLocationClass host = CrailLocationClass.DEFAULT;
    assertNamed("path", () -> store.lookup(null));
    assertNamed("path", () -> store.delete(null, true));
    assertNamed("source", () -> store.rename(null, "/x"));
    assertNamed("target", () -> store.rename("/x", null));
    assertNamed("path", () -> store.create(null, file, tier, host, true));
    assertNamed("type", () -> store.create("/x", null, tier, host, true));
    assertNamed("storageClass", () -> store.create("/x", file, null, host, true));
    assertNamed("locationClass", () -> store.create("/x", file, tier, null, true));
    assertNamed("host", () -> CrailLocationClass.of(null));
    assertNamed("configuration", () -> CrailStore.newInstance(null));
    CrailFile named = createFile(store, "/named");
    assertNamed("buffer", () -> named.getDirectInputStream(0).read(null));
    CrailOutputStream output = named.getDirectOutputStream(0);
    assertNamed("buffer", () -> output.write(null));
    output.close();
    for (int value : new int[] {-7, -2, 256}) {
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> CrailStorageClass.get(value));
      assertEquals("storage class must be -1 to 255, not " + value, refused.getMessage());
    }
  }

  private static void assertNamed(String parameter, Executable call) {
    assertEquals(parameter, assertThrows(NullPointerException.class, call).getMessage());
  }

  @Test
  void renamesAcrossNamenodesAreRefusedBeforeAnythingChanges() throws Exception {
    // Names are spread over two namenodes, so one of these is on the other one.
    createFile(store, "/across");
    boolean refused = false;
    for (int i = 0; i < 64 && !refused; i++) {
      try {
        store.rename("/across", "/target" + i).get();
        store.rename("/target" + i, "/across").get();
      } catch (ExecutionException e) {
        assertInstanceOf(CrossNamenodeException.class, e.getCause());
        refused = true;
        assertNull(lookup("/target" + i));
      }
    }
    assertTrue(refused);
    assertNotNull(lookup("/across"));
  }

  @Test
  void deletes() throws Exception {
    create(store, "/delete", CrailNodeType.DIRECTORY);
    createFile(store, "/delete/f");
    assertEquals(ErrorCode.NOT_EMPTY, failure(store.delete("/delete", false)));
    assertNotNull(lookup("/delete/f"));
    CrailNode gone = store.delete("/delete/f", false).get().syncDir();
    assertEquals("/delete/f", gone.getPath());
    assertNull(lookup("/delete/f"));
    assertEquals(ErrorCode.NODE_NOT_FOUND, failure(store.delete("/delete/f", false)));
    createFile(store, "/delete/g");
    store.delete("/delete", true).get();
    assertNull(lookup("/delete/g"));
    assertNull(lookup("/delete"));
    assertEquals(ErrorCode.ROOT, failure(store.delete("/", true)));
  }

  @Test
  void nonEnumerableNodesAreFoundAndNotListed() throws Exception {
    create(store, "/hidden", CrailNodeType.DIRECTORY);
    createFile(store, "/hidden/seen");
    store
        .create(
            "/hidden/unseen",
            CrailNodeType.DATAFILE,
            CrailStorageClass.PARENT,
            CrailLocationClass.PARENT,
            false)
        .get();
    CrailContainer container = lookup("/hidden").asContainer();
    assertEquals(List.of("/hidden/seen"), entries(container));
    assertEquals(2, container.files());
    assertNotNull(lookup("/hidden/unseen"));
    store.rename("/hidden/unseen", "/hidden/still").get();
    store.delete("/hidden/still", false).get().syncDir();
    assertEquals(1, container.files());
  }

  private static List<String> entries(CrailContainer container) throws Exception {
    List<String> entries = new ArrayList<>();
    container.listEntries().forEachRemaining(entries::add);
    return entries;
  }

  @Test
  void listsManyPages() throws Exception {
    create(store, "/many", CrailNodeType.DIRECTORY);
    Set<String> expected = new TreeSet<>();
    List<Upcoming<CrailNode>> creates = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      String path = "/many/file-with-a-name-of-some-length-" + i;
      expected.add(path);
      creates.add(issue(path, CrailNodeType.DATAFILE));
    }
    for (Upcoming<CrailNode> create : creates) {
      create.get();
    }
    CrailContainer container = lookup("/many").asContainer();
    List<String> entries = entries(container);
    assertEquals(expected.size(), entries.size());
    assertEquals(expected, new TreeSet<>(entries));
    assertEquals(2_500, container.files());
    Iterator<CrailNode> nodes = container.listStatus();
    int count = 0;
    while (nodes.hasNext()) {
      CrailNode node = nodes.next();
      assertTrue(expected.remove(node.getPath()));
      assertEquals(CrailNodeType.DATAFILE, node.getType());
      count++;
    }
    assertEquals(2_500, count);
    assertThrows(NoSuchElementException.class, nodes::next);
    store.delete("/many", true).get();
    CrailException stale =
        assertInstanceOf(
            CrailException.class,
            assertThrows(UncheckedIOException.class, container::files).getCause());
    assertEquals(ErrorCode.STALE_NODE, stale.code());
  }

  @Test
  void theOrderOfAListingIsRandomOnlyIfAskedFor() throws Exception {
    create(store, "/order", CrailNodeType.DIRECTORY);
    for (int i = 0; i < 50; i++) {
      createFile(store, "/order/" + i);
    }
    CrailStore ordered = cluster.newStore("crail.directoryrandomize=false");
    CrailContainer container = ordered.lookup("/order").get().asContainer();
    List<String> first = entries(container);
    assertEquals(first, entries(container));
    List<String> shuffled = entries(lookup("/order").asContainer());
    assertFalse(first.equals(shuffled));
    Collections.sort(first);
    Collections.sort(shuffled);
    assertEquals(first, shuffled);
  }

  @Test
  void theRootListsAllNamenodes() throws Exception {
    Set<String> expected = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      expected.add(createFile(store, "/root-" + i).getPath());
    }
    CrailContainer root = lookup("/").asContainer();
    List<String> entries = entries(root);
    assertTrue(new HashSet<>(entries).containsAll(expected));
    assertTrue(root.files() >= 20);
    assertEquals(new HashSet<>(entries).size(), entries.size());
  }

  @Test
  void anInterruptLosesNothingOfAListing() throws Exception {
    Set<String> expected = new TreeSet<>();
    for (int i = 0; i < 20; i++) {
      expected.add(createFile(store, "/interrupted-" + i).getPath());
    }
    Iterator<String> entries = lookup("/").asContainer().listEntries();
    Set<String> listed = new TreeSet<>();
    boolean more = true;
    while (more) {
      Thread.currentThread().interrupt();
      try {
        more = entries.hasNext();
      } catch (UncheckedIOException e) {
        assertInstanceOf(InterruptedIOException.class, e.getCause());
        Thread.interrupted();
        more = entries.hasNext();
      }
      Thread.interrupted();
      if (more) {
        listed.add(entries.next());
      }
    }
    assertTrue(listed.containsAll(expected), () -> expected + " in " + listed);
  }

  @Test
  void aHandleIsRefreshed() throws Exception {
    create(store, "/refresh", CrailNodeType.DIRECTORY);
    CrailNode directory = lookup("/refresh");
    createFile(store, "/refresh/f");
    assertEquals(directory, directory.refresh());
    assertEquals(1, directory.asContainer().files());
    CrailNode file = lookup("/refresh/f");
    store.delete("/refresh/f", false).get();
    createFile(store, "/refresh/f");
    assertEquals(ErrorCode.STALE_NODE, assertThrows(CrailException.class, file::refresh).code());
  }

  @Test
  void becomesACompletableFutureOutsideTheLoop() throws Exception {
    AtomicReference<Thread> stage = new AtomicReference<>();
    CountDownLatch ended = new CountDownLatch(1);
    issue("/future", CrailNodeType.DATAFILE)
        .toCompletableFuture()
        .thenApply(
            node -> {
              stage.set(Thread.currentThread());
              try {
                // A stage may block on the store.
                return store.lookup(node.getPath()).get();
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            })
        .thenAccept(
            node -> {
              assertEquals("/future", node.getPath());
              ended.countDown();
            });
    assertTrue(ended.await(60, TimeUnit.SECONDS));
    assertNotNull(stage.get());
    CompletableFuture<CrailNode> failed =
        issue("/future", CrailNodeType.DATAFILE).toCompletableFuture();
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> failed.get(60, TimeUnit.SECONDS));
    assertEquals(ErrorCode.NODE_EXISTS, ((CrailException) failure.getCause()).code());
  }

  private static void refuse(Throwable refusal) {
    if (refusal instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) refusal;
  }

  @Test
  void aFutureEndsWhateverItsExecutorThrows() throws Exception {
    for (Throwable refusal :
        List.of(
            new RejectedExecutionException("full"),
            new IllegalStateException("closed"),
            new OutOfMemoryError("unable to create native thread"))) {
      CompletableFuture<CrailNode> future =
          store.lookup("/").toCompletableFuture(task -> refuse(refusal));
      ExecutionException failure =
          assertThrows(ExecutionException.class, () -> future.get(60, TimeUnit.SECONDS));
      assertSame(refusal, failure.getCause());
      assertEquals("/", lookup("/").getPath(), "the loop continues");
    }
    assertThrows(NullPointerException.class, () -> store.lookup("/").toCompletableFuture(null));
  }

  @Test
  void manyThreadsShareAStore() throws Exception {
    create(store, "/threads", CrailNodeType.DIRECTORY);
    AtomicReference<Throwable> problem = new AtomicReference<>();
    Thread[] threads = new Thread[6];
    for (int t = 0; t < threads.length; t++) {
      int number = t;
      threads[t] =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 300; i++) {
                    String path = "/threads/" + number + "-" + i;
                    issue(path, CrailNodeType.DATAFILE).get();
                    assertEquals(path, lookup(path).getPath());
                  }
                } catch (Throwable e) {
                  problem.set(e);
                }
              });
    }
    Arrays.stream(threads).forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join(60_000);
    }
    assertNull(problem.get());
    assertEquals(1_800, lookup("/threads").asContainer().files());
  }
}
