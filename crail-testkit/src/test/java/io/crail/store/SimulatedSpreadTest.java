/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailContainer;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.client.CoreStore;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.IncompleteException;
import io.crail.protocol.part.NodePath;
import io.crail.storage.StorageTier;
import io.crail.testkit.sim.SimulatedNamenode;
import io.crail.testkit.sim.SimulatedNetwork;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Spread directories while connections break, namenodes cannot reach each other, and start again;
 * in virtual time, beside a model that knows which outcomes are certain. Two clients take turns.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class SimulatedSpreadTest {
  private static final int SEEDS = Boolean.getBoolean("crail.test.long") ? 400 : 12;
  private static final int STEPS = 400;
  private static final int DIRECTORIES = 3;
  private static final int CHILDREN = 8;

  /** Errors that say what is there. */
  private static final Set<ErrorCode> ANSWERS =
      Set.of(
          ErrorCode.OK,
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.PARENT_NOT_FOUND,
          ErrorCode.NODE_EXISTS,
          ErrorCode.NOT_EMPTY);

  /** Errors that a client deals with itself. */
  private static final Set<ErrorCode> NEVER =
      Set.of(
          ErrorCode.SPREAD,
          ErrorCode.NO_SHARE,
          ErrorCode.BEING_REMOVED,
          ErrorCode.WRONG_NAMENODE,
          ErrorCode.INTERNAL,
          ErrorCode.PROTOCOL);

  /** What the model knows of a name. */
  private enum Known {
    ABSENT,
    PRESENT,
    NOTHING
  }

  @Test
  void whatIsAnsweredIsTrue() throws Exception {
    long given = Long.getLong("crail.seed", 0);
    long first = given != 0 ? given : System.nanoTime();
    Map<ErrorCode, Integer> outcomes = new EnumMap<>(ErrorCode.class);
    for (long seed = first; seed < first + (given != 0 ? 1 : SEEDS); seed++) {
      try (Run run = new Run(seed, outcomes)) {
        try {
          run.steps();
          run.finish();
        } catch (Exception | AssertionError e) {
          throw new AssertionError(
              "-Dcrail.seed=" + seed + " " + e.getMessage() + " after\n" + run.trail(), e);
        }
      }
    }
    System.out.println("outcomes " + outcomes);
    assertTrue(given != 0 || outcomes.keySet().containsAll(ANSWERS), outcomes.toString());
  }

  /** One cluster. */
  private static final class Run implements AutoCloseable {
    private final Map<ErrorCode, Integer> outcomes;
    private final SimulatedNetwork network;
    private final Random random;
    private final int count;
    private final List<SimulatedNamenode> namenodes = new ArrayList<>();
    private final List<CrailStore> stores = new ArrayList<>();
    private final Map<String, Known> names = new HashMap<>();
    // An operation without an answer may still take place, until all is healed.
    private final Set<String> doubted = new HashSet<>();
    private final List<String> trail = new ArrayList<>();
    private boolean broken;

    Run(long seed, Map<ErrorCode, Integer> outcomes) throws Exception {
      this.outcomes = outcomes;
      network = new SimulatedNetwork(seed);
      network.driveIdleLoops(true);
      random = network.random();
      count = 2 + random.nextInt(3);
      StringBuilder addresses = new StringBuilder();
      for (int i = 0; i < count; i++) {
        addresses.append(i == 0 ? "crail://" : ",").append(host(i)).append(":9060");
      }
      Configuration configuration =
          Configuration.builder()
              .set("crail.namenode.address", addresses.toString(), "test")
              .set("crail.client.host", "client", "test")
              .set("crail.client.loops", "1", "test")
              .set("crail.rpctimeout", "4s", "test")
              .set("crail.directoryrandomize", "false", "test")
              .build();
      for (int i = 0; i < count; i++) {
        namenodes.add(
            new SimulatedNamenode(
                network,
                configuration,
                i,
                count,
                InetSocketAddress.createUnresolved(host(i), 9060)));
      }
      for (int i = 0; i < 2; i++) {
        stores.add(
            CoreStore.open(
                configuration,
                network.transport("client" + i),
                network.clock(),
                StorageTier::find,
                random));
      }
    }

    private static String host(int namenode) {
      return "namenode" + namenode;
    }

    private static String directory(int index) {
      return "/spread" + index;
    }

    private static String child(int directory, int index) {
      return directory(directory) + "/child" + index;
    }

    private Known known(String name) {
      return names.getOrDefault(name, Known.ABSENT);
    }

    private void set(int directory, String name, Known known) {
      boolean isDoubted = doubted.contains(name) || doubted.contains(directory(directory));
      names.put(name, isDoubted ? Known.NOTHING : known);
    }

    private void doubt(int directory, String name) {
      doubted.add(name);
      names.put(name, Known.NOTHING);
      if (name.equals(directory(directory))) {
        for (int j = 0; j < CHILDREN; j++) {
          set(directory, child(directory, j), Known.NOTHING);
        }
      }
    }

    private int owner(String name) {
      return NodePath.namenodeOf(Utf8.of("/" + name.substring(name.lastIndexOf('/') + 1)), count);
    }

    /** What was done last. */
    String trail() {
      return String.join("\n", trail.subList(Math.max(0, trail.size() - 40), trail.size()));
    }

    private void did(String what) {
      trail.add(network.clock().nanoTime() / 1_000_000 + " ms " + what);
    }

    void steps() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(12) == 0) {
          fault();
        }
        act();
      }
    }

    private void fault() throws Exception {
      int a = random.nextInt(count);
      int b = random.nextInt(count);
      switch (random.nextInt(6)) {
        case 0 -> {
          network.breakConnections(0.05);
          did("connections break");
          broken = true;
        }
        case 1 -> partition(host(a), host(b));
        case 2 -> partition("client" + random.nextInt(2), host(a));
        case 3 -> restart(a);
        default -> heal();
      }
    }

    private void partition(String a, String b) {
      if (!a.equals(b)) {
        network.partition(a, b);
        did("partition " + a + " " + b);
        broken = true;
      }
    }

    private void heal() {
      network.breakConnections(0);
      for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
          network.heal(host(a), host(b));
        }
        network.heal("client0", host(a));
        network.heal("client1", host(a));
      }
      // Until all namenodes have compared their shares.
      network.runFor(Duration.ofSeconds(10));
      broken = false;
      doubted.clear();
      did("healed");
    }

    private void restart(int namenode) throws Exception {
      heal();
      // Its connections are reset, so that no client waits for an answer from before.
      namenodes.get(namenode).kill(false);
      network.runFor(Duration.ofMillis(random.nextInt(100)));
      namenodes.get(namenode).restart();
      did("restarted " + namenode + " of " + count);
      network.runFor(Duration.ofSeconds(10));
      for (int i = 0; i < DIRECTORIES; i++) {
        boolean isGone = owner(directory(i)) == namenode;
        if (isGone) {
          set(i, directory(i), Known.ABSENT);
        }
        for (int j = 0; j < CHILDREN; j++) {
          if (isGone || owner(child(i, j)) == namenode) {
            set(i, child(i, j), Known.ABSENT);
          }
        }
      }
    }

    private static ErrorCode end(Upcoming<?> operation) throws Exception {
      try {
        return operation.get() == null ? ErrorCode.NODE_NOT_FOUND : ErrorCode.OK;
      } catch (ExecutionException e) {
        return ((CrailException) e.getCause()).code();
      }
    }

    private void act() throws Exception {
      CrailStore store = stores.get(random.nextInt(2));
      int directory = random.nextInt(DIRECTORIES);
      String child = child(directory, random.nextInt(CHILDREN));
      switch (random.nextInt(12)) {
        case 0, 1 -> createSpread(store, directory);
        case 2 -> delete(store, directory, random.nextInt(3) == 0);
        case 3 -> list(store, directory);
        case 4, 5, 6, 7 -> create(store, directory, child);
        case 8, 9 -> deleteChild(store, directory, child);
        default -> look(store, directory, child);
      }
    }

    private ErrorCode note(String what, ErrorCode code) {
      did(what + " " + code);
      outcomes.merge(code, 1, Integer::sum);
      assertTrue(!NEVER.contains(code), "a user sees " + code);
      assertTrue(broken || ANSWERS.contains(code), "calm, but " + code);
      return code;
    }

    private void createSpread(CrailStore store, int directory) throws Exception {
      ErrorCode code =
          note(
              "spread " + directory,
              end(
                  store.createSpread(
                      directory(directory),
                      CrailNodeType.DIRECTORY,
                      CrailStorageClass.DEFAULT,
                      CrailLocationClass.DEFAULT,
                      true)));
      if (code == ErrorCode.OK) {
        assertTrue(known(directory(directory)) != Known.PRESENT, "created twice");
        becamePresent(directory, true);
      } else if (code == ErrorCode.NODE_EXISTS) {
        becamePresent(directory, false);
      } else {
        doubt(directory, directory(directory));
      }
    }

    private void becamePresent(int directory, boolean isNew) {
      if (!isNew) {
        assertTrue(known(directory(directory)) != Known.ABSENT, "it is there, but was removed");
      }
      set(directory, directory(directory), Known.PRESENT);
      if (isNew) {
        forgetChildren(directory);
      }
    }

    private void forgetChildren(int directory) {
      for (int j = 0; j < CHILDREN; j++) {
        set(directory, child(directory, j), Known.ABSENT);
      }
    }

    private void create(CrailStore store, int directory, String child) throws Exception {
      ErrorCode code =
          note(
              "create " + child,
              end(
                  store.create(
                      child,
                      CrailNodeType.DIRECTORY,
                      CrailStorageClass.PARENT,
                      CrailLocationClass.PARENT,
                      true)));
      switch (code) {
        case OK -> {
          assertTrue(known(child) != Known.PRESENT, child + " was created twice");
          becamePresent(directory, false);
          set(directory, child, Known.PRESENT);
        }
        case NODE_EXISTS -> {
          assertTrue(known(child) != Known.ABSENT, child + " is there, but was removed");
          becamePresent(directory, false);
          set(directory, child, Known.PRESENT);
        }
        case PARENT_NOT_FOUND -> becameAbsent(directory, "a create");
        default -> doubt(directory, child);
      }
    }

    private void becameAbsent(int directory, String how) {
      assertTrue(
          known(directory(directory)) != Known.PRESENT,
          directory(directory) + " is lost, by " + how);
      set(directory, directory(directory), Known.ABSENT);
      forgetChildren(directory);
    }

    private void look(CrailStore store, int directory, String child) throws Exception {
      found(directory, child, note("look " + child, end(store.lookup(child))));
    }

    private void found(int directory, String child, ErrorCode code) {
      if (code == ErrorCode.OK) {
        assertTrue(known(child) != Known.ABSENT, child + " is there, but was removed");
        becamePresent(directory, false);
        set(directory, child, Known.PRESENT);
      } else if (code == ErrorCode.NODE_NOT_FOUND) {
        assertTrue(known(child) != Known.PRESENT, child + " is lost");
        set(directory, child, Known.ABSENT);
      }
    }

    private void deleteChild(CrailStore store, int directory, String child) throws Exception {
      ErrorCode code = note("delete " + child, end(store.delete(child, true)));
      if (code == ErrorCode.OK) {
        assertTrue(known(child) != Known.ABSENT, child + " was removed twice");
        becamePresent(directory, false);
        set(directory, child, Known.ABSENT);
      } else if (code == ErrorCode.NODE_NOT_FOUND) {
        found(directory, child, code);
      } else {
        doubt(directory, child);
      }
    }

    private void delete(CrailStore store, int directory, boolean recursive) throws Exception {
      ErrorCode code =
          note(
              "delete " + directory + " " + recursive,
              end(store.delete(directory(directory), recursive)));
      boolean full = false;
      for (int j = 0; j < CHILDREN; j++) {
        full |= known(child(directory, j)) == Known.PRESENT;
      }
      switch (code) {
        case OK -> {
          assertTrue(known(directory(directory)) != Known.ABSENT, "removed twice");
          assertTrue(recursive || !full, directory(directory) + " had children");
          set(directory, directory(directory), Known.ABSENT);
          forgetChildren(directory);
        }
        case NODE_NOT_FOUND -> becameAbsent(directory, "a removal");
        case NOT_EMPTY -> {
          assertTrue(!recursive, "not empty");
          becamePresent(directory, false);
        }
        default -> doubt(directory, directory(directory));
      }
    }

    private void list(CrailStore store, int directory) throws Exception {
      Set<String> names = new HashSet<>();
      try {
        var node = store.lookup(directory(directory)).get();
        if (node == null) {
          becameAbsent(directory, "a lookup");
          return;
        }
        becamePresent(directory, false);
        CrailContainer container = node.asContainer();
        Iterator<String> entries;
        try {
          entries = container.listEntries();
        } catch (CrailException e) {
          // The lookup of its path fails, but not for a share that is missing.
          assertTrue(!(e instanceof IncompleteException), "a listing fails at once");
          return;
        }
        while (entries.hasNext()) {
          String entry = entries.next();
          assertTrue(names.add(entry), entry + " is listed twice");
          assertTrue(known(entry) != Known.ABSENT, entry + " is listed, but was removed");
        }
      } catch (ExecutionException e) {
        return;
      } catch (UncheckedIOException e) {
        if (e.getCause() instanceof IncompleteException missing) {
          Set<Integer> silent = new HashSet<>();
          missing.missing().forEach(each -> silent.add(each.index()));
          requireListed(directory, names, silent);
        }
        return;
      }
      requireListed(directory, names, Set.of());
    }

    private void requireListed(int directory, Set<String> names, Set<Integer> silent) {
      for (int j = 0; j < CHILDREN; j++) {
        String child = child(directory, j);
        if (!silent.contains(owner(child))) {
          assertTrue(known(child) != Known.PRESENT || names.contains(child), child + " is missing");
        }
      }
    }

    /** After all faults, what is there is what the model knows, and can be removed. */
    void finish() throws Exception {
      heal();
      for (int i = 0; i < DIRECTORIES; i++) {
        for (int j = 0; j < CHILDREN; j++) {
          for (CrailStore store : stores) {
            found(i, child(i, j), end(store.lookup(child(i, j))));
          }
        }
        list(stores.get(0), i);
        ErrorCode code = end(stores.get(1).delete(directory(i), true));
        assertTrue(code == ErrorCode.OK || code == ErrorCode.NODE_NOT_FOUND, "at the end " + code);
      }
      network.runFor(Duration.ofSeconds(10));
      for (SimulatedNamenode namenode : namenodes) {
        namenode.server().verify();
        assertEquals(1, namenode.server().holdings().nodes(), namenode.host());
      }
    }

    @Override
    public void close() throws Exception {
      network.breakConnections(0);
      heal();
      for (CrailStore store : stores) {
        store.close();
      }
      for (SimulatedNamenode namenode : namenodes) {
        namenode.close();
      }
    }
  }
}
