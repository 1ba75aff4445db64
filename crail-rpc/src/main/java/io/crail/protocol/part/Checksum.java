/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * The checksum of an extent's bytes. Extents have none yet. 64 bits are enough for the kinds that
 * storage uses, such as CRC32C and CRC-64/NVME. A reader that does not know a kind does not check
 * the bytes.
 *
 * @param kind how it is computed, from 0 to 255; 0 for no checksum
 * @param value the checksum, in the lower bits if the kind has fewer than 64; always 0 without one
 */
public record Checksum(int kind, long value) {
  /** No checksum. */
  public static final Checksum NONE = new Checksum(0, 0);

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("Checksum")
          .u8("kind", "how it is computed; 0 for no checksum")
          .i64("value", "the checksum; 0 without one");

  /** The codec. It is written by hand because lookups use it. */
  public static final Codec<Checksum> CODEC =
      new Codec<>(Checksum.class, LAYOUT) {
        @Override
        public void encode(Checksum message, ByteBuffer out, int offset) {
          out.put(offset + KIND, (byte) message.kind);
          out.putLong(offset + VALUE, message.value);
        }

        @Override
        public Checksum read(ByteBuffer in, int offset) throws CrailException {
          int kind = in.get(offset + KIND) & 0xff;
          long value = in.getLong(offset + VALUE);
          if (kind != 0) {
            return new Checksum(kind, value);
          }
          if (value != 0) {
            throw ErrorCode.PROTOCOL.exception("Checksum: a value without a kind");
          }
          return NONE;
        }
      };

  private static final int KIND = LAYOUT.offset("kind");
  private static final int VALUE = LAYOUT.offset("value");

  /** Drops the value of no checksum. */
  public Checksum {
    value = kind == 0 ? 0 : value;
  }
}
