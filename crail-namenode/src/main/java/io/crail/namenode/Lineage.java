/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.namenode.conf.NameNodeOptions;
import java.util.random.RandomGenerator;

/**
 * What stays the same over the starts of a namenode that lose nothing.
 *
 * @param incarnation a random number, by which clients and datanodes tell one from another
 * @param rootId the id of the root; those of other nodes are above it
 * @param rootMillis when the root was made, in milliseconds since 1970
 */
record Lineage(long incarnation, long rootId, long rootMillis) {
  /** That of a namenode which begins without nodes. */
  static Lineage begin(NameNodeOptions options, Clock clock, RandomGenerator random) {
    final long incarnation = random.nextLong();
    // Random, so that an id from before a restart names no node rather than a wrong one.
    long start = random.nextLong() >>> 2;
    long rootId = start - Long.remainderUnsigned(start, options.count()) + options.index();
    return new Lineage(incarnation, rootId, clock.currentTimeMillis());
  }
}
