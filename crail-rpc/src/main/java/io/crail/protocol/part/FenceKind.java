/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * What keeps earlier holders of a piece of space from accessing it once other clients may get it.
 */
public enum FenceKind {
  /** Each request names its generation, and the datanode refuses an earlier one. */
  GENERATION,
  /** When a namenode names a client, the datanode ends whatever that client has begun. */
  CUT_OFF,
  /** Time alone: space rests until all leases on it have ended, plus a margin. */
  REST;

  /** The codec; the number is the position above, and permanent. */
  public static final Codec<FenceKind> CODEC =
      new Codec<>(
          FenceKind.class,
          Layout.of("FenceKind").u8("number", "0: generation, 1: cut off, 2: rest")) {
        @Override
        public void encode(FenceKind kind, ByteBuffer out, int offset) {
          out.put(offset, (byte) kind.ordinal());
        }

        @Override
        public FenceKind read(ByteBuffer in, int offset) throws CrailException {
          int number = in.get(offset) & 0xff;
          if (number >= BY_NUMBER.length) {
            throw ErrorCode.INVALID_ARGUMENT.exception("kind of fence " + number);
          }
          return BY_NUMBER[number];
        }
      };

  private static final FenceKind[] BY_NUMBER = values();
}
