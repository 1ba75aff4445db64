/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import java.nio.ByteBuffer;

/**
 * What a namenode tells about a node.
 *
 * @param id the node's id, never given to another node
 * @param size bytes that are visible to readers; 0 for a container
 * @param modifiedMillis when bytes or children changed last, milliseconds since 1970
 * @param childCount children of a container
 * @param storageClass the class its space comes from
 * @param type the type
 * @param flags {@link #ENUMERABLE} and {@link #STRICT}
 */
public record NodeInfo(
    long id,
    long size,
    long modifiedMillis,
    int childCount,
    int storageClass,
    NodeType type,
    int flags) {
  /** Flag: the node appears in listings. */
  public static final int ENUMERABLE = 1;

  /** Flag: its space comes from its storage class and from no other. */
  public static final int STRICT = 2;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("NodeInfo")
          .i64("id", "node id")
          .i64("size", "bytes visible to readers")
          .i64("modifiedMillis", "last change, milliseconds since 1970")
          .i32("childCount", "children of a container")
          .u16("storageClass", "storage class")
          .u8("type", "node type")
          .u8("flags", "1: enumerable, 2: strict storage class");

  private static final int ID = LAYOUT.offset("id");
  private static final int SIZE = LAYOUT.offset("size");
  private static final int MODIFIED = LAYOUT.offset("modifiedMillis");
  private static final int CHILD_COUNT = LAYOUT.offset("childCount");
  private static final int STORAGE_CLASS = LAYOUT.offset("storageClass");
  private static final int TYPE = LAYOUT.offset("type");
  private static final int FLAGS = LAYOUT.offset("flags");

  /** True when the node appears in listings. */
  public boolean enumerable() {
    return (flags & ENUMERABLE) != 0;
  }

  /** Writes this. */
  public void encode(ByteBuffer out, int offset) {
    encode(out, offset, id, size, modifiedMillis, childCount, storageClass, type.number(), flags);
  }

  /** Writes the fields of a node without making a record of them. */
  public static void encode(
      ByteBuffer out,
      int offset,
      long id,
      long size,
      long modifiedMillis,
      int childCount,
      int storageClass,
      int typeNumber,
      int flags) {
    out.putLong(offset + ID, id);
    out.putLong(offset + SIZE, size);
    out.putLong(offset + MODIFIED, modifiedMillis);
    out.putInt(offset + CHILD_COUNT, childCount);
    out.putShort(offset + STORAGE_CLASS, (short) storageClass);
    out.put(offset + TYPE, (byte) typeNumber);
    out.put(offset + FLAGS, (byte) flags);
  }

  /** Reads one. */
  public static NodeInfo read(ByteBuffer in, int offset) throws CrailException {
    return new NodeInfo(
        in.getLong(offset + ID),
        in.getLong(offset + SIZE),
        in.getLong(offset + MODIFIED),
        in.getInt(offset + CHILD_COUNT),
        in.getShort(offset + STORAGE_CLASS) & 0xffff,
        NodeType.of(in.get(offset + TYPE) & 0xff),
        in.get(offset + FLAGS) & 0xff);
  }
}
