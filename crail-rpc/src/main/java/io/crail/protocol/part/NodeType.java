/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * The types of nodes with their permanent numbers, and the rules for which type may contain which.
 */
public enum NodeType {
  /** Bytes; lives in a directory or multi-file. */
  DATAFILE(0, false),
  /** Holds nodes of every type but key-values. */
  DIRECTORY(1, true),
  /** Holds data files that a reader can read as one stream. */
  MULTIFILE(2, true),
  /** Holds key-values. */
  TABLE(4, true),
  /** Bytes under a key of a table. */
  KEYVALUE(5, false);

  /** The codec of the number. */
  public static final Codec<NodeType> CODEC =
      new Codec<>(NodeType.class, Layout.of("NodeType").u8("number", "the type's number")) {
        @Override
        public void encode(NodeType message, ByteBuffer out, int offset) {
          out.put(offset, (byte) message.number);
        }

        @Override
        public NodeType read(ByteBuffer in, int offset) throws CrailException {
          return NodeType.of(in.get(offset) & 0xff);
        }
      };

  private static final NodeType[] BY_NUMBER = {
    DATAFILE, DIRECTORY, MULTIFILE, null, TABLE, KEYVALUE
  };

  private final int number;
  private final boolean container;

  NodeType(int number, boolean container) {
    this.number = number;
    this.container = container;
  }

  /** The permanent number. */
  public int number() {
    return number;
  }

  /** True for a type that has children and no bytes. */
  public boolean isContainer() {
    return container;
  }

  /** True when a node of this type may hold one of type {@code child}. */
  public boolean mayHold(NodeType child) {
    switch (this) {
      case DIRECTORY:
        return child != KEYVALUE;
      case MULTIFILE:
        return child == DATAFILE;
      case TABLE:
        return child == KEYVALUE;
      default:
        return false;
    }
  }

  /**
   * The type of a number.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when there is none
   */
  public static NodeType of(int number) throws CrailException {
    NodeType type = number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    if (type == null) {
      throw ErrorCode.INVALID_ARGUMENT.exception("node type " + number);
    }
    return type;
  }
}
