/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import java.nio.ByteBuffer;

/**
 * A step of a compound operation.
 *
 * @param kind number of the {@link io.crail.compound.StepKind}
 * @param comparison number of the {@link io.crail.compound.Comparison} of a guard
 * @param goesOn whether the list goes on when this step fails
 * @param number the number to compare with, to add or to set; a position in the bytes; milliseconds
 *     of a lifetime, 0 for no limit; or the id of staged bytes
 * @param length bytes to read; 1 for a lifetime that begins again with each access; or how staged
 *     bytes are linked
 * @param name name of an attribute; empty where there is none
 * @param data the bytes to compare with, or to write; or token and length of staged bytes
 * @param expected the present value of an attribute that is replaced
 */
public record CompoundStep(
    int kind,
    int comparison,
    boolean goesOn,
    long number,
    int length,
    Utf8 name,
    SmallValue data,
    SmallValue expected) {
  /** Form of a link: the staged bytes replace all bytes. */
  public static final int LINK_WHOLE = 0;

  /** Form of a link: they are added at the end. */
  public static final int LINK_BEHIND = 1;

  /** Form of a link: they replace bytes that are the same, and the version stays. */
  public static final int LINK_SAME = 2;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("CompoundStep")
          .u8("kind", "what it does, see StepKind")
          .u8("comparison", "0 equal, 1 not, 2 less, 3 at most, 4 greater, 5 at least")
          .u8("goesOn", "whether the list goes on when it fails; 0 or 1")
          .i64("number", "to compare with, to add or to set; a position; a lifetime; or an id")
          .i32("length", "bytes to read; 1: a lifetime since the last access; or a form of a link")
          .u16("nameLength", "bytes of name")
          .i32("dataLength", "bytes of data")
          .i32("expectedLength", "bytes of expected")
          .bytes("name", "nameLength", 0, UserAttribute.MAX_NAME, "name of an attribute")
          .bytes("data", "dataLength", 0, SmallValue.MAX_LENGTH, "bytes to compare, or to write")
          .bytes(
              "expected",
              "expectedLength",
              0,
              SmallValue.MAX_LENGTH,
              "the present value of an attribute to replace");

  private static final int KIND = LAYOUT.offset("kind");
  private static final int COMPARISON = LAYOUT.offset("comparison");
  private static final int GOES_ON = LAYOUT.offset("goesOn");
  private static final int NUMBER = LAYOUT.offset("number");
  private static final int LENGTH = LAYOUT.offset("length");
  private static final int NAME_LENGTH = LAYOUT.offset("nameLength");
  private static final int DATA_LENGTH = LAYOUT.offset("dataLength");
  private static final int EXPECTED_LENGTH = LAYOUT.offset("expectedLength");
  private static final int FIXED_LENGTH = LAYOUT.fixedLength();

  /** The codec. Written by hand, since there are several steps in a request. */
  public static final Codec<CompoundStep> CODEC =
      new Codec<>(CompoundStep.class, LAYOUT) {
        @Override
        public int length(CompoundStep step) {
          return LAYOUT.fixedLength()
              + step.name.length()
              + step.data.length()
              + step.expected.length();
        }

        @Override
        public void encode(CompoundStep step, ByteBuffer out, int offset) {
          out.put(offset + KIND, (byte) step.kind);
          out.put(offset + COMPARISON, (byte) step.comparison);
          out.put(offset + GOES_ON, (byte) (step.goesOn ? 1 : 0));
          out.putLong(offset + NUMBER, step.number);
          out.putInt(offset + LENGTH, step.length);
          out.putShort(offset + NAME_LENGTH, (short) step.name.length());
          out.putInt(offset + DATA_LENGTH, step.data.length());
          out.putInt(offset + EXPECTED_LENGTH, step.expected.length());
          int at = offset + LAYOUT.fixedLength();
          step.name.copyTo(out, at);
          at += step.name.length();
          step.data.copyTo(out, at);
          step.expected.copyTo(out, at + step.data.length());
        }

        @Override
        protected int checkedLengthAt(ByteBuffer in, int offset, int left) throws CrailException {
          if (left >= FIXED_LENGTH
              && in.getShort(offset + NAME_LENGTH) == 0
              && in.getInt(offset + EXPECTED_LENGTH) == 0) {
            int data = in.getInt(offset + DATA_LENGTH);
            if (data >= 0 && data <= Math.min(SmallValue.MAX_LENGTH, left - FIXED_LENGTH)) {
              return FIXED_LENGTH + data;
            }
          }
          return super.checkedLengthAt(in, offset, left);
        }

        @Override
        public CompoundStep read(ByteBuffer in, int offset) {
          int nameLength = in.getShort(offset + NAME_LENGTH) & 0xffff;
          int dataLength = in.getInt(offset + DATA_LENGTH);
          int at = offset + LAYOUT.fixedLength();
          return new CompoundStep(
              in.get(offset + KIND) & 0xff,
              in.get(offset + COMPARISON) & 0xff,
              in.get(offset + GOES_ON) != 0,
              in.getLong(offset + NUMBER),
              in.getInt(offset + LENGTH),
              nameLength == 0 ? Utf8.EMPTY : Utf8.copyOf(in, at, nameLength),
              SmallValue.copyOf(in, at + nameLength, dataLength),
              SmallValue.copyOf(
                  in, at + nameLength + dataLength, in.getInt(offset + EXPECTED_LENGTH)));
        }
      };

  /** The same step, after whose failure the list goes on. */
  public CompoundStep going() {
    return new CompoundStep(kind, comparison, true, number, length, name, data, expected);
  }
}
