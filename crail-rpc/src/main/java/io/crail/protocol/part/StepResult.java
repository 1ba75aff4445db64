/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import java.nio.ByteBuffer;

/**
 * What a step of a compound operation gave.
 *
 * @param code number of the error code; 0 for success
 * @param number the number that it read or made; 0 for none
 * @param data the bytes that it read
 */
public record StepResult(int code, long number, SmallValue data) {
  /** That of a step which succeeds and gives nothing. */
  public static final StepResult DONE = new StepResult(0, 0, SmallValue.NONE);

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("StepResult")
          .u16("code", "error code, 0 for success")
          .i64("number", "what it read or made, if that is a number")
          .i32("dataLength", "bytes of data")
          .bytes("data", "dataLength", 0, SmallValue.MAX_LENGTH, "the bytes that it read");

  private static final int CODE = LAYOUT.offset("code");
  private static final int NUMBER = LAYOUT.offset("number");
  private static final int DATA_LENGTH = LAYOUT.offset("dataLength");

  /** The codec. Written by hand, since there are several results in an answer. */
  public static final Codec<StepResult> CODEC =
      new Codec<>(StepResult.class, LAYOUT) {
        @Override
        public int length(StepResult result) {
          return LAYOUT.fixedLength() + result.data.length();
        }

        @Override
        public void encode(StepResult result, ByteBuffer out, int offset) {
          out.putShort(offset + CODE, (short) result.code);
          out.putLong(offset + NUMBER, result.number);
          out.putInt(offset + DATA_LENGTH, result.data.length());
          result.data.copyTo(out, offset + LAYOUT.fixedLength());
        }

        @Override
        public StepResult read(ByteBuffer in, int offset) {
          return new StepResult(
              in.getShort(offset + CODE) & 0xffff,
              in.getLong(offset + NUMBER),
              SmallValue.copyOf(
                  in, offset + LAYOUT.fixedLength(), in.getInt(offset + DATA_LENGTH)));
        }
      };
}
