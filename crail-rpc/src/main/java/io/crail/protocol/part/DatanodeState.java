/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.util.Locale;

/** How a datanode stands with a namenode, from good to bad. */
public enum DatanodeState {
  /** It gets new data. */
  ONLINE(0),
  /** It is being removed: it gets no new data, and ends when the last of its data is gone. */
  DRAINING(1),
  /** It is alive, but has lost a target. It gets new data only where no other datanode has room. */
  IMPAIRED(4),
  /** It has sent no sign of life lately. It may come back with its data. */
  OFFLINE(2),
  /** It is gone, and files have bytes there that are lost. */
  LOST(3);

  /** The codec; numbers are permanent. */
  public static final Codec<DatanodeState> CODEC =
      new Codec<>(
          DatanodeState.class,
          Layout.of("DatanodeState")
              .u8("number", "0: online, 1: draining, 2: offline, 3: lost, 4: impaired")) {
        @Override
        public void encode(DatanodeState state, ByteBuffer out, int offset) {
          out.put(offset, (byte) state.number);
        }

        @Override
        public DatanodeState read(ByteBuffer in, int offset) throws CrailException {
          int number = in.get(offset) & 0xff;
          for (DatanodeState state : ALL) {
            if (state.number == number) {
              return state;
            }
          }
          throw ErrorCode.INVALID_ARGUMENT.exception("state of a datanode " + number);
        }
      };

  private static final DatanodeState[] ALL = values();

  private final int number;

  DatanodeState(int number) {
    this.number = number;
  }

  /** The word that people and programs see. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
