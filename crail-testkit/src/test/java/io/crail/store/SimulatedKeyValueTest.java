/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Values that are put, appended to, renamed and deleted at random while connections break, against
 * a model that knows for each key what may be there.
 */
@Tag("once")
@Timeout(120)
class SimulatedKeyValueTest {
  private static final int STEPS = 1_500;
  private static final int KEYS = 5;
  private static final int MAX_LENGTH = 9_000;

  private final long seed = Bytes.seed("simulated key-values");
  private final Random random = new Random(seed);

  /** What may be under a key. */
  private final Map<String, List<Candidate>> model = new HashMap<>();

  private CrailStore[] stores;
  private int doubtful;
  private int checked;

  /**
   * One of the values that may be there: the first bytes of one, {@code least} and more; or none.
   */
  private record Candidate(byte[] all, int least) {
    static Candidate of(byte[] value) {
      return new Candidate(value, value == null ? 0 : value.length);
    }

    boolean matches(byte[] value) {
      if (value == null || all == null) {
        return value == all;
      }
      return value.length >= least
          && value.length <= all.length
          && Arrays.equals(value, 0, value.length, all, 0, value.length);
    }
  }

  /** An operation that may fail when a connection breaks. */
  private interface Action {
    void run() throws Exception;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "crail.namenode.smallvalue=1k",
        "crail.namenode.smallvalue=0",
        "crail.namenode.smallvalues=1200"
      })
  void readsReturnOnlyValuesThatWerePut(String setting) throws Exception {
    try (SimulatedCluster cluster =
        new SimulatedCluster(seed, setting, "crail.lease=60s", "crail.rpctimeout=20s")) {
      stores = new CrailStore[] {cluster.newStore("client0"), cluster.newStore("client1")};
      Bytes.create(stores[0], "/t", CrailNodeType.TABLE);
      for (int i = 0; i < KEYS; i++) {
        model.put(key(i), possible(null));
      }
      cluster.network().breakConnections(0.01);
      for (int i = 0; i < STEPS; i++) {
        try {
          step(stores[random.nextInt(stores.length)], key(random.nextInt(KEYS)));
        } catch (Exception | AssertionError e) {
          throw new AssertionError("seed " + seed + ", step " + i + ", " + setting, e);
        }
      }
      cluster.network().breakConnections(0);
      assertTrue(cluster.network().broken() > 0, "no connection broke");
      assertTrue(checked > STEPS / 10, checked + " values were read");
    }
  }

  private static String key(int index) {
    return "/t/" + index;
  }

  private static List<Candidate> possible(byte[] value) {
    return new ArrayList<>(List.of(Candidate.of(value)));
  }

  private byte[] newValue() {
    int most = random.nextBoolean() ? 1_100 : MAX_LENGTH;
    return Bytes.random(random, random.nextInt(most));
  }

  private void step(CrailStore store, String key) throws Exception {
    switch (random.nextInt(8)) {
      case 0, 1 -> {
        byte[] value = newValue();
        final List<Candidate> before = List.copyOf(model.get(key));
        int doubts = doubtful;
        attempt(key, value, () -> store.put(key, Bytes.buffer(value)).get());
        if (doubtful > doubts && before.stream().allMatch(each -> each.all != null)) {
          // What was there stays until the new value is whole.
          model.put(key, new ArrayList<>(before));
          model.get(key).add(Candidate.of(value));
        }
      }
      case 2 -> {
        byte[] value = newValue();
        attempt(key, value, () -> write(create(store, key), value));
      }
      case 3 -> append(store, key);
      case 4 -> {
        if (random.nextBoolean()) {
          attempt(key, null, () -> store.delete(key, false).get());
        }
      }
      case 5 -> read(store, key);
      default -> get(store, key);
    }
  }

  private static CrailKeyValue create(CrailStore store, String key) throws Exception {
    return store
        .create(
            key, CrailNodeType.KEYVALUE, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true)
        .get()
        .asKeyValue();
  }

  private void write(CrailKeyValue key, byte[] value) throws Exception {
    CrailOutputStream output = key.getDirectOutputStream(random.nextInt(2) * value.length);
    try {
      int cut = random.nextInt(value.length + 1);
      output.write(Bytes.buffer(Arrays.copyOf(value, cut))).get();
      if (random.nextInt(4) == 0) {
        output.sync().get();
      }
      output.write(Bytes.buffer(Arrays.copyOfRange(value, cut, value.length))).get();
    } finally {
      output.close();
    }
  }

  /** Gives a key a value, null for none; what cannot be known afterwards is both. */
  private void attempt(String key, byte[] value, Action action) throws Exception {
    ErrorCode failure = run(action);
    if (failure == null || (value == null && failure == ErrorCode.NODE_NOT_FOUND)) {
      model.put(key, possible(value));
      return;
    }
    doubtful++;
    // Of a value its create may have taken place alone, or with a part of what was synced.
    model.get(key).add(new Candidate(value, 0));
  }

  private static boolean hasNoValue(CrailNode found) throws Exception {
    return found.asKeyValue().isBeingPut() || found.asKeyValue().isAbandoned();
  }

  private void append(CrailStore store, String key) throws Exception {
    CrailNode[] found = new CrailNode[1];
    if (run(() -> found[0] = store.lookup(key).get()) != null
        || found[0] == null
        || hasNoValue(found[0])) {
      return;
    }
    byte[][] old = new byte[1][];
    if (run(() -> old[0] = Bytes.read(found[0].asKeyValue())) != null) {
      return;
    }
    narrow(key, old[0]);
    byte[] more = newValue();
    byte[] all = Arrays.copyOf(old[0], old[0].length + more.length);
    System.arraycopy(more, 0, all, old[0].length, more.length);
    ErrorCode failure = run(() -> write(found[0].asKeyValue(), more));
    if (failure == null) {
      model.put(key, possible(all));
    } else if (failure == ErrorCode.WRITE_LEASE_HELD) {
      // Whoever wrote it last has not learnt yet that its lease is back.
      return;
    } else {
      doubtful++;
      model.get(key).add(new Candidate(all, old[0].length));
    }
  }

  private void read(CrailStore store, String key) throws Exception {
    byte[][] value = new byte[1][];
    boolean[] hasNone = new boolean[1];
    ErrorCode failure =
        run(
            () -> {
              CrailNode found = store.lookup(key).get();
              hasNone[0] = found != null && hasNoValue(found);
              value[0] = found == null ? null : Bytes.read(found.asKeyValue());
            });
    if (failure == null && !hasNone[0]) {
      narrow(key, value[0]);
    }
  }

  private void get(CrailStore store, String key) throws Exception {
    CrailBuffer buffer = Bytes.empty(1 << 20);
    byte[][] value = new byte[1][];
    ErrorCode failure =
        run(
            () -> {
              CrailResult result = store.get(key, buffer).get();
              if (result != null) {
                buffer.position((int) result.getLen());
                value[0] = Bytes.bytesOf(buffer);
              }
            });
    if (failure == null) {
      narrow(key, value[0]);
    }
  }

  /** Checks what was read, which is what is there from now on. */
  private void narrow(String key, byte[] value) {
    checked++;
    List<Candidate> possible = model.get(key);
    if (possible.stream().noneMatch(each -> each.matches(value))) {
      assertArrayEquals(possible.get(0).all, value, key + " is none of " + possible.size());
    }
    model.put(key, possible(value));
  }

  /** The error that a broken connection may be the reason of; null after a success. */
  private static ErrorCode run(Action action) throws Exception {
    CrailException failure;
    try {
      action.run();
      return null;
    } catch (ExecutionException e) {
      failure = assertInstanceOf(CrailException.class, e.getCause());
    } catch (CrailException e) {
      failure = e;
    }
    switch (failure.code()) {
      case UNAVAILABLE, TIMED_OUT, NODE_NOT_FOUND, WRITE_LEASE_HELD -> {
        return failure.code();
      }
      default -> throw failure;
    }
  }
}
