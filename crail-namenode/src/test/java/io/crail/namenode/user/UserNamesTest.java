/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.TestStore;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Names;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.NodeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The numbers of owners and groups: who has one, and when another name gets it. */
class UserNamesTest {
  private static final int SLOTS = 1 << Names.SLOT_BITS;
  private static final int OF_REQUESTS = SLOTS / 4 * 3;

  private final HeapBudget budget = new HeapBudget(Long.MAX_VALUE / 2, "");
  private final UserNames users = new UserNames("own", budget, (name, number) -> {});

  private UserName hold(String name) throws CrailException {
    return users.hold(Utf8.of(name), null, true);
  }

  private UserName bring(String name) throws CrailException {
    return users.hold(Utf8.of(name), null, false);
  }

  private static CrailException refused(Executable call) {
    CrailException refusal = assertThrows(CrailException.class, call);
    assertEquals(ErrorCode.LIMIT_EXCEEDED, refusal.code());
    return refusal;
  }

  @Test
  void namesComeInPages() throws Exception {
    List<String> given = new ArrayList<>(List.of("own"));
    for (int i = 1; i < SLOTS; i++) {
      given.add("name-" + i);
      assertEquals(i, hold("name-" + i).number());
    }
    assertEquals(7, hold("name-7").number());
    List<String> found = new ArrayList<>();
    while (found.size() < given.size()) {
      for (Names.Name name : users.from(found.size()).names()) {
        assertEquals(found.size(), name.number());
        found.add(name.text().toString());
      }
    }
    assertEquals(given, found);
  }

  @Test
  void namesThatNodesHaveStay() throws Exception {
    for (int i = 1; i < OF_REQUESTS; i++) {
      bring("n" + i);
    }
    refused(() -> bring("one more"));
    // The rest is for users who create nodes.
    for (int i = OF_REQUESTS; i < SLOTS; i++) {
      hold("n" + i);
    }
    assertTrue(refused(() -> hold("too many")).detail().contains("65536"));
    users.release(hold("n77").number());
    refused(() -> hold("too many"));
    users.release(77);
    UserName late = hold("too many");
    assertEquals(77, late.number() & SLOTS - 1);
    assertNotEquals(77, late.number(), "a client that knows 77 would take one for the other");
    refused(() -> hold("n77"));
  }

  @Test
  void aNameThatNoNodeHasGivesItsPlaceToAnother() throws Exception {
    for (int i = 0; i < 3 * SLOTS; i++) {
      users.release(bring("n" + i).number());
    }
    // One slot by one.
    assertEquals(users.footprint(), budget.used());
    assertEquals(0, users.held());
    assertTrue(users.from(0).names().size() > 1);
  }

  /** A session keeps the name; it may be dropped between two nodes of the user. */
  @Test
  void aUserWhoseNameWasDroppedGetsAnotherNumber() throws Exception {
    SessionUser user = new SessionUser(users, TestStore.caller("late"));
    UserName first = user.hold();
    users.release(first.number());
    for (int i = 2; i < SLOTS; i++) {
      hold("n" + i);
    }
    assertEquals(first.number() & SLOTS - 1, hold("taker").number() & SLOTS - 1);
    refused(user::hold);
    users.release(5);
    assertEquals(5, user.hold().number() & SLOTS - 1);
    assertNotEquals(5, user.hold().number());
  }

  @Test
  void aConnectionBringsSoManyNewNamesOnly() throws Exception {
    SessionUser user = new SessionUser(users, TestStore.caller(""));
    for (int i = 0; i < 4096; i++) {
      user.hold(Utf8.of("n" + i));
    }
    assertTrue(
        refused(() -> user.hold(Utf8.of("new"))).detail().contains("this connection has brought"));
    assertEquals(7 + 1, user.hold(Utf8.of("n7")).number());
    assertEquals(UserNames.OWN, user.hold().number());
  }

  /** Names of nodes are counted, however the nodes come, change and go. */
  @Test
  void nodesHoldTheirNamesUntilTheyAreGone() throws Exception {
    TestStore store = new TestStore("crail.user", "own");
    long seed = TestStore.seed();
    Random random = new Random(seed);
    Map<String, NodeInfo> nodes = new TreeMap<>();
    for (int i = 0; i < 1000; i++) {
      String path =
          "/d" + random.nextInt(5) + (random.nextBoolean() ? "" : "/" + random.nextInt(9));
      try {
        switch (random.nextInt(5)) {
          case 0 -> store.mkdir(path);
          case 1 -> store.file(path);
          case 2 -> store.remove(path, true);
          case 3 -> store.rename(path, "/d" + random.nextInt(5));
          default ->
              store.call(
                  NameNodeOperations.SET_ATTRIBUTES,
                  new SetAttributes.Request(
                      SetAttributes.OWNER | SetAttributes.GROUP,
                      0,
                      0,
                      0,
                      Utf8.of(path),
                      Utf8.of("u" + random.nextInt(20)),
                      Utf8.of("g" + random.nextInt(20))));
        }
      } catch (CrailException e) {
        // Nothing is there, or something else.
      }
      store.namenode.verify();
    }
    for (int i = 0; i < 5; i++) {
      try {
        store.remove("/d" + i, true);
      } catch (CrailException e) {
        assertEquals(ErrorCode.NODE_NOT_FOUND, e.code());
      }
    }
    store.namenode.tick();
    store.namenode.verify();
  }

  /** Names are dropped while others hold them again; no node's name may go meanwhile. */
  @Test
  void droppingAndHoldingAtOnce() throws Exception {
    int threads = 4;
    CountDownLatch started = new CountDownLatch(threads);
    List<Thread> all = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      String own = "t" + t + "-";
      Thread thread =
          new Thread(
              () -> {
                try {
                  SessionUser user = new SessionUser(users, TestStore.caller("shared"));
                  started.countDown();
                  started.await();
                  for (int i = 0; i < SLOTS / 2; i++) {
                    UserName held = user.hold();
                    UserName other = bring(own + i);
                    if (!held.text().equals(Utf8.of("shared"))
                        || users.hold(held.text(), null, true) != held) {
                      throw new AssertionError("the name of another: " + held.text());
                    }
                    users.release(held.number());
                    users.release(held.number());
                    users.release(other.number());
                  }
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      all.add(thread);
      thread.start();
    }
    for (Thread thread : all) {
      thread.join(60_000);
    }
    assertEquals(List.of(), failures);
    assertEquals(0, users.held());
  }
}
