/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/** What to do with the drain of a datanode. */
public enum DrainAction {
  /** Nothing. */
  LOOK(0),
  /** Give out no more of its space. */
  BEGIN(1),
  /** Give out its space again. */
  CANCEL(2);

  /** The codec; numbers are permanent. */
  public static final Codec<DrainAction> CODEC =
      new Codec<>(
          DrainAction.class,
          Layout.of("DrainAction").u8("number", "0: look, 1: begin, 2: cancel")) {
        @Override
        public void encode(DrainAction value, ByteBuffer out, int offset) {
          out.put(offset, (byte) value.number);
        }

        @Override
        public DrainAction read(ByteBuffer in, int offset) throws CrailException {
          int number = in.get(offset) & 0xff;
          for (DrainAction value : ALL) {
            if (value.number == number) {
              return value;
            }
          }
          throw ErrorCode.INVALID_ARGUMENT.exception("action of a drain " + number);
        }
      };

  private static final DrainAction[] ALL = values();

  private final int number;

  DrainAction(int number) {
    this.number = number;
  }
}
