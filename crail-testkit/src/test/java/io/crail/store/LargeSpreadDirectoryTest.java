/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodePath;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Spread directories with more children than a page holds at each namenode, with open files, and at
 * namenodes that have no heap left.
 */
@Timeout(180)
class LargeSpreadDirectoryTest {
  private static final int NAMENODES = 3;
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 1000 : 15;

  /** Requests in flight. */
  private static final int DEPTH = 64;

  private TestCluster cluster;
  private CrailStore store;
  private CrailStore other;

  private void start(String... settings) throws Exception {
    cluster = TestCluster.start(NAMENODES, 1, settings);
    store = cluster.newStore();
    other = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private void spread(String path) throws Exception {
    store
        .createSpread(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get(60, TimeUnit.SECONDS);
  }

  private Upcoming<CrailNode> create(String path, CrailNodeType type) throws Exception {
    return store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  /** What is asked for with several requests in flight. */
  private interface Request {
    Upcoming<?> send(String path) throws Exception;
  }

  private static void each(List<String> paths, Request request) throws Exception {
    Deque<Upcoming<?>> pending = new ArrayDeque<>();
    for (String path : paths) {
      if (pending.size() == DEPTH) {
        pending.remove().get(60, TimeUnit.SECONDS);
      }
      pending.add(request.send(path));
    }
    while (!pending.isEmpty()) {
      pending.remove().get(60, TimeUnit.SECONDS);
    }
  }

  private long id(String directory) throws Exception {
    int owner = NodePath.namenodeOf(Utf8.of(directory), NAMENODES);
    Lookup.Request request = new Lookup.Request(Utf8.of(directory));
    return cluster.ask(owner, NameNodeOperations.LOOKUP, request).node().id();
  }

  /** Makes so many children, and returns them in the order of the shares. Clients shuffle pages. */
  private List<String> fill(String directory, int count) throws Exception {
    List<String> made = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      made.add(directory + "/child-" + i);
    }
    each(made, path -> create(path, CrailNodeType.DIRECTORY));
    long id = id(directory);
    List<String> order = new ArrayList<>();
    for (int share = 0; share < NAMENODES; share++) {
      for (long cursor = 0; cursor != -1; ) {
        ListNodes.Response page =
            cluster.ask(
                share,
                NameNodeOperations.LIST_NODES,
                new ListNodes.Request(id, cursor, ListNodes.MAX_ENTRIES));
        page.entries().forEach(entry -> order.add(directory + "/" + entry.name()));
        cursor = page.next();
      }
    }
    assertEquals(count, order.size());
    assertEquals(new HashSet<>(made), new HashSet<>(order));
    return order;
  }

  private static Map<String, Integer> positions(List<String> order) {
    Map<String, Integer> positions = new HashMap<>();
    for (String path : order) {
      positions.put(path, positions.size());
    }
    return positions;
  }

  /** Several pages of each share, while names before and behind the cursor go. */
  @Test
  void whatStaysIsListedOnceWhileOthersGo() throws Exception {
    start();
    spread("/large");
    List<String> order = fill("/large", NAMENODES * 2500);
    Map<String, Integer> positions = positions(order);
    Set<String> staying = new HashSet<>();
    List<String> early = new ArrayList<>();
    List<String> going = new ArrayList<>();
    for (int i = 0; i < order.size(); i++) {
      if (i % 2 == 0) {
        staying.add(order.get(i));
      } else {
        (i % 20 == 1 ? early : going).add(order.get(i));
      }
    }
    each(early, path -> other.delete(path, false));
    AtomicInteger listed = new AtomicInteger();
    AtomicInteger removed = new AtomicInteger();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      // The next page is asked for when one begins, so removals go on in front of it.
      Future<?> removals =
          thread.submit(
              () -> {
                for (String path : going) {
                  int position = positions.get(path);
                  TestCluster.poll("the listing", () -> position < listed.get() + 3 * 1024);
                  other.delete(path, false).get(60, TimeUnit.SECONDS);
                  removed.incrementAndGet();
                }
                return null;
              });
      Set<String> found = new HashSet<>();
      Iterator<String> entries = store.lookup("/large").get().asContainer().listEntries();
      for (int i = 0; entries.hasNext(); i++) {
        String entry = entries.next();
        assertTrue(found.add(entry), entry + " is listed twice");
        // Pages are shuffled.
        listed.set(Math.max(listed.get(), positions.get(entry)));
        if (i % 256 == 0) {
          // Those that were listed long ago are gone, and those after them are going.
          TestCluster.await(
              "removals", () -> 2 * removed.get() > listed.get() - 1024 || removals.isDone());
        }
      }
      listed.set(order.size());
      removals.get(60, TimeUnit.SECONDS);
      assertEquals(going.size(), removed.get());
      early.forEach(path -> assertFalse(found.contains(path), path + " was gone before"));
      Set<String> missing = new HashSet<>(staying);
      missing.removeAll(found);
      assertEquals(Set.of(), missing, "not listed");
    } finally {
      thread.shutdownNow();
      assertTrue(thread.awaitTermination(60, TimeUnit.SECONDS));
    }
    assertEquals(staying, new HashSet<>(listed("/large")));
  }

  private List<String> listed(String path) throws Exception {
    List<String> names = new ArrayList<>();
    other.lookup(path).get().asContainer().listEntries().forEachRemaining(names::add);
    return names;
  }

  /** Between the pages of each share go the last one listed, and those at the cursor. */
  @Test
  void theChildAtTheCursorMayGoAtEachPage() throws Exception {
    start();
    spread("/large");
    final int most = 64;
    List<String> order = fill("/large", NAMENODES * 400);
    Map<String, Integer> positions = positions(order);
    long id = id("/large");
    int pages = 0;
    Set<String> removed = new HashSet<>();
    List<String> found = new ArrayList<>();
    for (int share = 0; share < NAMENODES; share++) {
      long cursor = 0;
      while (cursor != -1) {
        ListNodes.Response page =
            cluster.ask(
                share, NameNodeOperations.LIST_NODES, new ListNodes.Request(id, cursor, most));
        page.entries().forEach(entry -> found.add("/large/" + entry.name()));
        cursor = page.next();
        pages++;
        int last = positions.get(found.get(found.size() - 1));
        for (int i = last; i < Math.min(last + 3, order.size()) && cursor != -1; i++) {
          other.delete(order.get(i), false).get(60, TimeUnit.SECONDS);
          removed.add(order.get(i));
        }
      }
    }
    assertTrue(pages > 15, pages + " pages");
    assertEquals(found.size(), new HashSet<>(found).size(), "listed twice");
    List<String> expected = new ArrayList<>(order);
    expected.removeAll(removed);
    found.removeAll(removed);
    assertEquals(expected, found);
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

  private static ErrorCode codeOf(Callable<?> operation) {
    Exception failure = assertThrows(Exception.class, operation::call);
    Throwable cause = failure instanceof CrailException ? failure : failure.getCause();
    return ((CrailException) cause).code();
  }

  /** Again and again the same name, with files below it that clients are writing. */
  @Test
  void writersBelowARemovedOneLeaveNothing() throws Exception {
    start();
    for (int round = 0; round < ROUNDS; round++) {
      spread("/open");
      List<CrailOutputStream> writers = new ArrayList<>();
      for (int i = 0; i < NAMENODES; i++) {
        String child = "/open/" + nameAt(i, "d");
        create(child, CrailNodeType.DIRECTORY).get(60, TimeUnit.SECONDS);
        for (String path : List.of(child + "/f", "/open/" + nameAt(i, "f"))) {
          assertNull(other.lookup(path).get(60, TimeUnit.SECONDS), "round " + round);
          CrailNode file = create(path, CrailNodeType.DATAFILE).get(60, TimeUnit.SECONDS);
          CrailOutputStream out = file.asFile().getDirectOutputStream(10_000);
          out.write(Bytes.buffer(new byte[5_000])).get(60, TimeUnit.SECONDS);
          writers.add(out);
        }
      }
      assertEquals(writers.size(), cluster.leases());
      other.delete("/open", true).get(60, TimeUnit.SECONDS);
      if (round % 2 == 0) {
        TestCluster.await("that the files are gone", () -> cluster.nodes() == NAMENODES);
      }
      for (CrailOutputStream out : writers) {
        // The removal is over with its answer, whenever the files are taken apart.
        assertEquals(ErrorCode.STALE_NODE, codeOf(() -> out.sync().get(60, TimeUnit.SECONDS)));
        closeRefused(out);
      }
    }
    TestCluster.await("no lease", () -> cluster.leases() == 0);
    TestCluster.await("no node", () -> cluster.nodes() == NAMENODES);
    TestCluster.await("no bytes", () -> cluster.usage().usedBytes() == 0);
  }

  private static void closeRefused(CrailOutputStream out) {
    assertEquals(
        ErrorCode.STALE_NODE,
        codeOf(
            () -> {
              out.close();
              return null;
            }));
  }

  /** Where even the root takes no child, it is removed, and what it had is free again. */
  @Test
  void theRemovalNeedsNoHeap() throws Exception {
    start("crail.namenode.memory=512k");
    for (boolean isEmptied : new boolean[] {false, true}) {
      spread("/full");
      for (int i = 0; i < NAMENODES; i++) {
        fillHeap(i);
      }
      if (isEmptied) {
        each(listed("/full"), path -> other.delete(path, true));
      }
      other.delete("/full", !isEmptied).get(60, TimeUnit.SECONDS);
      assertNull(store.lookup("/full").get(60, TimeUnit.SECONDS));
      TestCluster.await("no node", () -> cluster.nodes() == NAMENODES);
    }
    spread("/full");
    store.delete("/full", false).get(60, TimeUnit.SECONDS);
  }

  /** Fills a share until the namenode has no heap left for a child, however short its name. */
  private void fillHeap(int namenode) throws Exception {
    for (String prefix : List.of("n".repeat(230), "n")) {
      for (int i = 0; ; i++) {
        String name = prefix + i;
        if (namenodeOf(name) != namenode) {
          continue;
        }
        try {
          create("/full/" + name, CrailNodeType.DATAFILE).get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
          assertEquals(
              ErrorCode.LIMIT_EXCEEDED,
              codeOf(
                  () -> {
                    throw e;
                  }));
          break;
        }
      }
    }
  }
}
