/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * The log of a namenode.
 *
 * @param records how many a start reads besides the snapshot
 * @param bytes bytes of the frames in which these are
 * @param snapshotMillis when the snapshot was made, by the namenode's clock, since 1970; 0 for none
 * @param refusal why no changes may be made now; empty if they may
 */
public record LogUsage(long records, long bytes, long snapshotMillis, Utf8 refusal) {
  private static final int MOST_TEXT = 1024;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("LogUsage")
          .i64("records", "how many a start reads besides the snapshot")
          .i64("bytes", "bytes of the frames in which these are")
          .i64("snapshotMillis", "when the snapshot was made, since 1970; 0 for none")
          .u16("refusalLength", "bytes of refusal")
          .bytes("refusal", "refusalLength", 0, MOST_TEXT, "why no changes may be made; or empty");

  /** The codec. */
  public static final Codec<LogUsage> CODEC = Codec.of(LogUsage.class, LAYOUT);

  /** As the other one, for a refusal of any length. */
  public static LogUsage of(long records, long bytes, long snapshotMillis, String refusal) {
    return new LogUsage(
        records,
        bytes,
        snapshotMillis,
        Utf8.of(refusal.substring(0, Math.min(refusal.length(), MOST_TEXT / 4))));
  }
}
