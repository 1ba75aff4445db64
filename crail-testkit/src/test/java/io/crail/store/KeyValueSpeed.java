/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailBuffer;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.CrailTable;
import io.crail.Upcoming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures what it takes to put and get values, with small ones at the namenode and without, in
 * turns, over TCP within one process. Run it with lengths as arguments.
 */
final class KeyValueSpeed {
  private static final int ROUNDS = 7;
  private static final int KEYS = 1000;
  private static final int IN_FLIGHT = 128;
  private static final long WINDOW_NANOS = 400_000_000L;

  private KeyValueSpeed() {}

  private interface Action {
    void run(int index) throws Exception;
  }

  /** One cluster and what is done on it. */
  private static final class Side implements AutoCloseable {
    private final String name;
    private final TestCluster cluster;
    private final CrailStore store;
    private final CrailTable table;
    private final CrailBuffer buffer;
    private final List<Upcoming<?>> pending = new ArrayList<>();
    private final List<CrailBuffer> buffers = new ArrayList<>();

    Side(String name, int length, String... settings) throws Exception {
      this.name = name;
      this.cluster = TestCluster.start(settings);
      this.store = cluster.newStore();
      Bytes.create(store, "/t", CrailNodeType.TABLE);
      this.table = store.lookup("/t").get().asTable();
      this.buffer = Bytes.empty(length);
      for (int i = 0; i < IN_FLIGHT; i++) {
        buffers.add(Bytes.empty(length));
      }
    }

    private static String key(int index) {
      return "/t/k" + index % KEYS;
    }

    private void write(int index) throws Exception {
      CrailKeyValue made =
          store
              .create(
                  key(index),
                  CrailNodeType.KEYVALUE,
                  CrailStorageClass.PARENT,
                  CrailLocationClass.PARENT,
                  true)
              .get()
              .asKeyValue();
      CrailOutputStream output = made.getDirectOutputStream(0);
      buffer.clear();
      output.write(buffer).get();
      output.close();
    }

    private void read(int index) throws Exception {
      CrailInputStream input = store.lookup(key(index)).get().asKeyValue().getDirectInputStream(0);
      buffer.clear();
      input.read(buffer).get();
      input.close();
    }

    private void put(int index) throws Exception {
      buffer.clear();
      store.put(key(index), buffer).get();
    }

    private void get(int index) throws Exception {
      buffer.clear();
      store.get(key(index), buffer).get();
    }

    private void puts(int index) throws Exception {
      for (int i = 0; i < IN_FLIGHT; i++) {
        buffers.get(i).clear();
        pending.add(table.put("k" + (index * IN_FLIGHT + i) % KEYS, buffers.get(i)));
      }
      drain();
    }

    private void gets(int index) throws Exception {
      for (int i = 0; i < IN_FLIGHT; i++) {
        buffers.get(i).clear();
        pending.add(table.get("k" + (index * IN_FLIGHT + i) % KEYS, buffers.get(i)));
      }
      drain();
    }

    private void drain() throws Exception {
      for (Upcoming<?> each : pending) {
        each.get();
      }
      pending.clear();
    }

    @Override
    public void close() throws Exception {
      cluster.close();
    }
  }

  /** Microseconds for each run. */
  private static double window(Action action) throws Exception {
    long start = System.nanoTime();
    long now = start;
    int count = 0;
    while (now - start < WINDOW_NANOS) {
      action.run(count++);
      now = System.nanoTime();
    }
    return (now - start) / 1e3 / count;
  }

  private static void measure(String what, Side[] sides, Action[] actions, int operations)
      throws Exception {
    double[][] results = new double[sides.length][ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
      for (int i = 0; i < sides.length; i++) {
        double micros = window(actions[i]) / operations;
        if (round >= 0) {
          results[i][round] = micros;
        }
      }
    }
    StringBuilder line = new StringBuilder(String.format("%-24s", what));
    for (int i = 0; i < sides.length; i++) {
      Arrays.sort(results[i]);
      line.append(
          String.format(
              " %s %8.2f us [%.2f..%.2f]",
              sides[i].name, results[i][ROUNDS / 2], results[i][0], results[i][ROUNDS - 1]));
    }
    System.out.println(line);
  }

  public static void main(String[] arguments) throws Exception {
    for (String argument : arguments) {
      int length = Integer.parseInt(argument);
      try (Side with = new Side("small", length);
          Side without = new Side("datanode", length, "crail.namenode.smallvalue=0")) {
        Side[] sides = {with, without};
        measure("write " + length, sides, new Action[] {with::write, without::write}, 1);
        measure("read " + length, sides, new Action[] {with::read, without::read}, 1);
        measure("put " + length, sides, new Action[] {with::put, without::put}, 1);
        measure("get " + length, sides, new Action[] {with::get, without::get}, 1);
        measure("put x128 " + length, sides, new Action[] {with::puts, without::puts}, IN_FLIGHT);
        measure("get x128 " + length, sides, new Action[] {with::gets, without::gets}, IN_FLIGHT);
      }
    }
  }
}
