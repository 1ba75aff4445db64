/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Files that take all space of a cluster, and so that of files that are gone. */
final class Fillers {
  /** The length of each. */
  static final int BYTES = 8 << 20;

  private Fillers() {}

  /** Gives all space out again, so that of files that are gone is among it; returns the paths. */
  static List<String> fill(TestCluster cluster, CrailStore by, byte value) throws Exception {
    awaitRest(cluster);
    List<String> fillers = new ArrayList<>();
    while (cluster.usage().freeBytes() >= BYTES) {
      String path = "/filler" + fillers.size();
      Bytes.append(Bytes.createFile(by, path), filler(value));
      fillers.add(path);
    }
    return fillers;
  }

  /** What {@link #fill} writes into each file. */
  static byte[] filler(byte value) {
    byte[] filler = new byte[BYTES];
    Arrays.fill(filler, value);
    return filler;
  }

  /** Takes the space back. */
  static void remove(TestCluster cluster, CrailStore by, List<String> fillers) throws Exception {
    for (String path : fillers) {
      by.delete(path, false).get();
    }
    assertEquals(0, cluster.usage().usedBytes());
    awaitRest(cluster);
  }

  private static void awaitRest(TestCluster cluster) throws Exception {
    TestCluster.await("no space rests", () -> cluster.usage().waitingBytes() == 0);
  }
}
