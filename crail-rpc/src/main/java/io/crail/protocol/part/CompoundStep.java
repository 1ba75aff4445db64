/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;

/**
 * A step of a compound operation.
 *
 * @param kind number of the {@link io.crail.compound.StepKind}
 * @param comparison number of the {@link io.crail.compound.Comparison} of a guard
 * @param goesOn whether the list goes on when this step fails
 * @param number the number to compare with, to add or to set; or a position in the bytes
 * @param length bytes to read
 * @param name name of an attribute; empty where there is none
 * @param data the bytes to compare with, or to write
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
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("CompoundStep")
          .u8("kind", "what it does, see StepKind")
          .u8("comparison", "0 equal, 1 not, 2 less, 3 at most, 4 greater, 5 at least")
          .u8("goesOn", "whether the list goes on when it fails; 0 or 1")
          .i64("number", "to compare with, to add or to set; or a position")
          .i32("length", "bytes to read")
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

  /** The codec. */
  public static final Codec<CompoundStep> CODEC = Codec.of(CompoundStep.class, LAYOUT);

  /** The same step, after whose failure the list goes on. */
  public CompoundStep going() {
    return new CompoundStep(kind, comparison, true, number, length, name, data, expected);
  }
}
