/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.util.random.RandomGenerator;

/**
 * What stays the same over the starts of a namenode that lose nothing.
 *
 * @param incarnation a random number, by which clients and datanodes tell one from another
 * @param rootId the id of the root; those of other nodes are above it
 * @param rootMillis when the root was made, in milliseconds since 1970
 * @param blockSize the largest extent in bytes; all places are multiples of their length
 * @param count the number of namenodes, which distribute ids and paths
 * @param index which of them it is
 */
record Lineage(
    long incarnation, long rootId, long rootMillis, int blockSize, int count, int index) {
  /** The layout. */
  static final Layout LAYOUT =
      Layout.of("Lineage")
          .i64("incarnation", "a random number")
          .i64("rootId", "node id of the root")
          .i64("rootMillis", "when the root was made, in milliseconds since 1970")
          .i32("blockSize", "bytes of the largest extent")
          .u16("count", "the number of namenodes")
          .u16("index", "which of them it is");

  /** The codec. */
  static final Codec<Lineage> CODEC = Codec.of(Lineage.class, LAYOUT);

  /** That of a namenode which begins without nodes. */
  static Lineage begin(NameNodeOptions options, Clock clock, RandomGenerator random) {
    final long incarnation = random.nextLong();
    // Random, so that an id from before a restart names no node rather than a wrong one.
    long start = random.nextLong() >>> 2;
    long rootId = start - Long.remainderUnsigned(start, options.count()) + options.index();
    return new Lineage(
        incarnation,
        rootId,
        clock.currentTimeMillis(),
        options.blockSize(),
        options.count(),
        options.index());
  }

  /**
   * Refuses options with which the nodes of this lineage cannot be served.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT}
   */
  void require(NameNodeOptions options) throws CrailException {
    if (blockSize != options.blockSize() || count != options.count() || index != options.index()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "this is namenode "
              + options.index()
              + " of "
              + options.count()
              + " with blocks of "
              + options.blockSize()
              + " bytes, but its nodes are those of namenode "
              + index
              + " of "
              + count
              + " with blocks of "
              + blockSize);
    }
  }
}
