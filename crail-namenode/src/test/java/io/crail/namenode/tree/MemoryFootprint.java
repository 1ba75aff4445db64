/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.TestStore;
import io.crail.namenode.memory.ValueMemory;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.part.NodeType;

/**
 * Measures what an empty file costs a namenode: node, name, slots of both tables, place in its
 * directory. Run it with the number of files as argument.
 */
final class MemoryFootprint {
  private MemoryFootprint() {}

  /** Bytes of heap for each of {@code files} files with names of 20 bytes in one directory. */
  static double bytesPerFile(int files) throws Exception {
    TestStore store = new TestStore();
    store.mkdir("/directory");
    long before = usedAfterCollection();
    for (int i = 0; i < files; i++) {
      String path = "/directory/part-" + (100_000_000_000_000L + i);
      store.create(NodeType.DATAFILE, path, 0);
    }
    double bytes = usedAfterCollection() - before;
    if (store.namenode.tree().ids().size() != files + 2) {
      throw new AssertionError("not all files are there");
    }
    return bytes / files;
  }

  /** Bytes of heap for each of {@code count} values of {@code length} bytes in one table. */
  static double bytesPerValue(int count, int length) throws Exception {
    TestStore store = new TestStore();
    store.create(NodeType.TABLE, "/table", 0);
    long before = usedAfterCollection();
    for (int i = 0; i < count; i++) {
      String path = "/table/key-" + (100_000_000L + i);
      store.call(NameNodeOperations.PUT, TestStore.put(path, 0, new byte[length]));
    }
    double bytes = usedAfterCollection() - before;
    if (store.namenode.smallValues().used() != count * (long) ValueMemory.footprint(length)) {
      throw new AssertionError("not all values are there");
    }
    return bytes / count;
  }

  private static long usedAfterCollection() {
    Runtime runtime = Runtime.getRuntime();
    long used = Long.MAX_VALUE;
    // Until another collection finds nothing more.
    for (int i = 0; i < 10; i++) {
      System.gc();
      long now = runtime.totalMemory() - runtime.freeMemory();
      if (now >= used - used / 1000) {
        return Math.min(now, used);
      }
      used = now;
    }
    return used;
  }

  public static void main(String[] arguments) throws Exception {
    int files = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000_000;
    long start = System.nanoTime();
    double bytes = bytesPerFile(files);
    System.out.printf(
        "%d files: %.1f bytes each, heap limit %d MiB, %.1f s%n",
        files, bytes, Runtime.getRuntime().maxMemory() >> 20, (System.nanoTime() - start) / 1e9);
  }
}
