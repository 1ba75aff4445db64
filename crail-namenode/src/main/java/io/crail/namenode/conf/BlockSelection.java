/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.conf;

import java.util.random.RandomGenerator;

/**
 * Decides which datanode of a storage class is asked first for space. If that datanode has none,
 * the others are asked in circular order. One instance serves one storage class and is called by
 * many threads at once; it must not block.
 */
public interface BlockSelection {
  /** The datanodes of a class, in the order in which they registered; never empty. */
  interface Candidates {
    /** The number of datanodes. */
    int count();

    /** Free bytes at a datanode, even if it is offline; none at one that is to be asked last. */
    long freeBytes(int index);
  }

  /** The index of the datanode that is asked first, from 0 to {@code candidates.count() - 1}. */
  int first(Candidates candidates);

  /** Makes a policy; found through {@link java.util.ServiceLoader} by its name. */
  interface Provider {
    /** The value of {@code crail.namenode.blockselection}. */
    String name();

    /**
     * Creates the policy of one storage class. Only this policy uses {@code random}, which is
     * thread-safe.
     */
    BlockSelection create(RandomGenerator random);
  }
}
