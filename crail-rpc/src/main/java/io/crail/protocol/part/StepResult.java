/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;

/**
 * What a step of a compound operation gave.
 *
 * @param code number of the error code; 0 for success
 * @param number the number that it read or made; 0 for none
 * @param data the bytes that it read
 */
public record StepResult(int code, long number, SmallValue data) {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("StepResult")
          .u16("code", "error code, 0 for success")
          .i64("number", "what it read or made, if that is a number")
          .i32("dataLength", "bytes of data")
          .bytes("data", "dataLength", 0, SmallValue.MAX_LENGTH, "the bytes that it read");

  /** The codec. */
  public static final Codec<StepResult> CODEC = Codec.of(StepResult.class, LAYOUT);
}
