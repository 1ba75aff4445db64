/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/** What keeps those from space who had it before, once others may get it. */
public enum FenceKind {
  /** Each request names its generation, and the datanode refuses an earlier one. */
  GENERATION,
  /** The datanode ends whatever a client has begun, when a namenode names that client. */
  CUT_OFF,
  /** Nothing but time: space rests until all leases on it have ended, and for a margin. */
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
