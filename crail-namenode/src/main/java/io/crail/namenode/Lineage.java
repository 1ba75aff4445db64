/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/**
 * What stays the same over the starts of a namenode that lose nothing.
 *
 * @param format the version of the records and frames
 * @param incarnation a random number, by which clients and datanodes tell one from another
 * @param rootId the id of the root; those of other nodes are above it
 * @param rootMillis when the root was made, in milliseconds since 1970
 * @param blockSize the largest extent in bytes; all places are multiples of their length
 * @param count the number of namenodes, which distribute ids and paths
 * @param index which of them it is
 * @param cluster the name of the cluster
 * @param user the namenode's own user, whom its own nodes belong to
 */
record Lineage(
    int format,
    long incarnation,
    long rootId,
    long rootMillis,
    int blockSize,
    int count,
    int index,
    Utf8 cluster,
    Utf8 user) {
  /** The present version of records and frames. It grows with each change of a layout. */
  static final int FORMAT = 1;

  /** The layout. */
  static final Layout LAYOUT =
      Layout.of("Lineage")
          .i32("format", "version of the records and frames")
          .i64("incarnation", "a random number")
          .i64("rootId", "node id of the root")
          .i64("rootMillis", "when the root was made, in milliseconds since 1970")
          .i32("blockSize", "bytes of the largest extent")
          .u16("count", "the number of namenodes")
          .u16("index", "which of them it is")
          .u16("clusterLength", "bytes of cluster")
          .u16("userLength", "bytes of user")
          .bytes("cluster", "clusterLength", 0, 255, "name of the cluster")
          .bytes("user", "userLength", 0, 255, "the namenode's own user");

  /** The codec. */
  static final Codec<Lineage> CODEC = Codec.of(Lineage.class, LAYOUT);

  /**
   * A start whose answers do not wait for the log, or that follows on such a one.
   *
   * @param incarnation that of the lineage, or of this start if it is lossy
   * @param ahead whether answers leave before their changes are durable from here on
   * @param lossy whether the changes before this record may be missing that clients know
   */
  record Start(long incarnation, boolean ahead, boolean lossy) {
    /** The codec. */
    static final Codec<Start> CODEC =
        Codec.of(
            Start.class,
            Layout.of("Lineage.Start")
                .i64("incarnation", "by which clients tell this start from others")
                .u8("ahead", "1: from here on, answers may be known whose changes are not here")
                .u8("lossy", "1: that may be so before this record"));
  }

  /** That of a namenode which begins without nodes. */
  static Lineage begin(NameNodeOptions options, Clock clock, RandomGenerator random) {
    final long incarnation = random.nextLong();
    // Random, so that an id from before a restart names no node rather than a wrong one.
    long start = random.nextLong() >>> 2;
    long rootId = start - Long.remainderUnsigned(start, options.count()) + options.index();
    return new Lineage(
        FORMAT,
        incarnation,
        rootId,
        clock.currentTimeMillis(),
        options.blockSize(),
        options.count(),
        options.index(),
        Utf8.of(options.cluster()),
        Utf8.of(options.user()));
  }

  /**
   * Refuses a record of another version, whose other fields may have another layout.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT}
   */
  static void requireFormat(ByteBuffer bytes, int offset, int length) throws CrailException {
    int format = length < Integer.BYTES ? 0 : bytes.getInt(offset);
    if (format != FORMAT) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "the log has format " + format + "; this version reads " + FORMAT);
    }
  }

  /**
   * Refuses options with which the nodes of this lineage cannot be served.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT}
   */
  void require(NameNodeOptions options) throws CrailException {
    String here =
        text(
            options.index(),
            options.count(),
            options.blockSize(),
            options.cluster(),
            options.user());
    String there = text(index, count, blockSize, cluster.toString(), user.toString());
    if (!here.equals(there)) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "this is " + here + ", but its nodes are those of " + there);
    }
  }

  private static String text(int index, int count, int blockSize, String cluster, String user) {
    return "namenode "
        + index
        + " of "
        + count
        + " of cluster '"
        + cluster
        + "' with blocks of "
        + blockSize
        + " bytes and user '"
        + user
        + "'";
  }
}
