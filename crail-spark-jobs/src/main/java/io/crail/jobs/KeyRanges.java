/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.Partitioner;

/** Gives each partition a range of keys, by keys that were sampled. Immutable. */
final class KeyRanges extends Partitioner {
  private static final long serialVersionUID = 1L;

  /** The first key of each partition but the first. */
  private final byte[][] begins;

  /**
   * Cuts the keys where the sample says that there are equally many between two cuts.
   *
   * @param sample one or more keys
   */
  KeyRanges(List<byte[]> sample, int partitions) {
    byte[][] sorted = sample.toArray(new byte[0][]);
    Arrays.sort(sorted, new KeyOrder());
    begins = new byte[partitions - 1][];
    for (int i = 0; i < begins.length; i++) {
      begins[i] = sorted[(int) ((long) sorted.length * (i + 1) / partitions)];
    }
  }

  @Override
  public int numPartitions() {
    return begins.length + 1;
  }

  @Override
  public int getPartition(Object key) {
    int at = Arrays.binarySearch(begins, (byte[]) key, new KeyOrder());
    return at >= 0 ? at + 1 : -at - 1;
  }
}
