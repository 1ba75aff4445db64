/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** How evenly the policies fill datanodes with blocks that come and go, as those of a cache do. */
class BlockSelectionTest {
  private static final int DATANODES = 4;
  private static final long DATANODE_BYTES = 256L << 20;
  private static final long BUDGET = DATANODES * DATANODE_BYTES / 2;
  private static final int BLOCKS = 6_000;
  private static final int WARM_UP = 2_000;
  private static final double SKEW = 0.99;
  private static final long SEED = Long.getLong("crail.test.seed", 3);

  /** A block, with the bytes that it takes. */
  private record Block(String path, int datanode, long bytes) {}

  /**
   * The datanode with most, as a multiple of the mean.
   *
   * @param usual the mean of all times
   * @param worst the greatest
   * @param reads of the reads, if few blocks have most of them
   */
  private record Imbalance(double usual, double worst, double reads) {}

  private static double ofMean(double[] each) {
    double sum = 0;
    double most = 0;
    for (double value : each) {
      sum += value;
      most = Math.max(most, value);
    }
    return most * each.length / sum;
  }

  private static Block write(TestStore store, int number, int length) throws Exception {
    String path = "/t/" + number;
    Put.Response put = store.call(NameNodeOperations.PUT, TestStore.put(path, 9, length));
    store.setSize(put.node().id(), 9, length, SetSize.END);
    assertEquals(1, put.extents().size());
    Extent extent = put.extents().get(0);
    return new Block(path, extent.place().datanode(), extent.length());
  }

  private static Imbalance measure(String policy) throws Exception {
    TestStore store = new TestStore("crail.namenode.blockselection", policy);
    int first = store.datanode(1, "host1", 0, true, DATANODE_BYTES);
    for (int i = 1; i < DATANODES; i++) {
      store.datanode(1 + i, "host" + (1 + i), 0, true, DATANODE_BYTES);
    }
    store.create(NodeType.TABLE, "/t", 0);
    Random random = new Random(SEED);
    ArrayDeque<Block> blocks = new ArrayDeque<>();
    double[] used = new double[DATANODES];
    long total = 0;
    double sum = 0;
    double worst = 0;
    for (int i = 0; i < BLOCKS; i++) {
      // Whole blocks, and the ends of files, in pieces of space as values get them.
      int length = random.nextBoolean() ? 1 << 20 : 128 << 10 << random.nextInt(4);
      Block block = write(store, i, length);
      blocks.add(block);
      used[block.datanode - first] += block.bytes;
      total += block.bytes;
      while (total > BUDGET) {
        Block oldest = blocks.remove();
        store.remove(oldest.path, false);
        used[oldest.datanode - first] -= oldest.bytes;
        total -= oldest.bytes;
      }
      if (i >= WARM_UP) {
        sum += ofMean(used);
        worst = Math.max(worst, ofMean(used));
      }
    }
    store.namenode.verify();
    List<Block> ranks = new ArrayList<>(blocks);
    Collections.shuffle(ranks, random);
    double[] reads = new double[DATANODES];
    for (int rank = 0; rank < ranks.size(); rank++) {
      reads[ranks.get(rank).datanode - first] += Math.pow(rank + 1, -SKEW);
    }
    return new Imbalance(sum / (BLOCKS - WARM_UP), worst, ofMean(reads));
  }

  @Test
  void theFreerOfTwoIsFarMoreEvenThanOneAtRandom() throws Exception {
    System.out.println("-Dcrail.test.seed=" + SEED);
    Map<String, Imbalance> found = new TreeMap<>();
    for (String policy : List.of("random", "roundrobin", "freeroftwo", "mostfree")) {
      Imbalance each = measure(policy);
      System.out.println(policy + ": " + each);
      found.put(policy, each);
      // None knows what will be read.
      assertTrue(each.reads > 1.05 && each.reads < 2.5, found::toString);
    }
    // A block's name is a hash, so a datanode by hash of the name would be one at random.
    Imbalance hashed = found.get("random");
    Imbalance two = found.get("freeroftwo");
    assertTrue(two.usual - 1 < (hashed.usual - 1) / 4, found::toString);
    assertTrue(two.worst - 1 < (hashed.worst - 1) / 4, found::toString);
    assertTrue(two.worst < 1.05, found::toString);
    assertTrue(found.get("mostfree").worst < 1.05, found::toString);
    assertTrue(found.get("roundrobin").worst < 1.3, found::toString);
    assertTrue(hashed.usual > 1.02 && hashed.worst < 1.6, found::toString);
  }
}
