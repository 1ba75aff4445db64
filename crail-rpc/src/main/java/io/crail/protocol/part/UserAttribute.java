/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;

/**
 * An attribute that a program has given a node.
 *
 * @param name its name
 * @param value its value
 */
public record UserAttribute(Utf8 name, SmallValue value) {
  /** Most bytes of a name. */
  public static final int MAX_NAME = 255;

  /** Most attributes of a node. */
  public static final int MAX_COUNT = 1024;

  /** Most bytes of all attributes of a node in this form. */
  public static final int MAX_BYTES = SmallValue.MAX_LENGTH;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("UserAttribute")
          .u16("nameLength", "bytes of name")
          .i32("valueLength", "bytes of value")
          .bytes("name", "nameLength", 1, MAX_NAME, "the name, UTF-8")
          .bytes("value", "valueLength", 0, SmallValue.MAX_LENGTH, "the value");

  /** The codec. */
  public static final Codec<UserAttribute> CODEC = Codec.of(UserAttribute.class, LAYOUT);
}
