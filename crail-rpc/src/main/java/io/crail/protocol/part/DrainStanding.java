/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/** How far a namenode is with the drain of a datanode. */
public enum DrainStanding {
  /** The namenode does not know the process. */
  UNKNOWN(0),
  /** It gets data. */
  ACTIVE(1),
  /** It gets no new data, and something of it is in use. */
  DRAINING(2),
  /** Nothing of it is in use, and it may end or has ended. */
  LET_GO(3),
  /** It has sent no sign of life lately. */
  SILENT(4),
  /** It is gone, and files have bytes there that are lost. */
  LOST(5);

  /** The codec; numbers are permanent. */
  public static final Codec<DrainStanding> CODEC =
      new Codec<>(
          DrainStanding.class,
          Layout.of("DrainStanding")
              .u8("number", "0: unknown, 1: active, 2: draining, 3: let go, 4: silent, 5: lost")) {
        @Override
        public void encode(DrainStanding value, ByteBuffer out, int offset) {
          out.put(offset, (byte) value.number);
        }

        @Override
        public DrainStanding read(ByteBuffer in, int offset) throws CrailException {
          int number = in.get(offset) & 0xff;
          for (DrainStanding value : ALL) {
            if (value.number == number) {
              return value;
            }
          }
          throw ErrorCode.INVALID_ARGUMENT.exception("standing of a drain " + number);
        }
      };

  private static final DrainStanding[] ALL = values();

  private final int number;

  DrainStanding(int number) {
    this.number = number;
  }
}
