/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * What a namenode returns to clients about a node.
 *
 * @param id the node's id, never given to another node
 * @param size bytes that are visible to readers; 0 for a container
 * @param modifiedMillis when bytes or children changed last, milliseconds since 1970
 * @param accessedMillis when it was created, or the time that a client has set; milliseconds since
 *     1970
 * @param childCount children of a container
 * @param storageClass the class that its space comes from
 * @param type the type
 * @param flags {@link #ENUMERABLE}, {@link #STRICT}, {@link #BEING_PUT}, {@link #ABANDONED}, {@link
 *     #SPREAD}, {@link #EXTENDED}, {@link #STAGED}
 * @param permissions twelve permission bits, as in POSIX
 * @param owner number of the owner's name at the namenode; the operation {@code names} returns the
 *     name
 * @param group number of the group's name at the namenode
 */
public record NodeInfo(
    long id,
    long size,
    long modifiedMillis,
    long accessedMillis,
    int childCount,
    int storageClass,
    NodeType type,
    int flags,
    int permissions,
    int owner,
    int group) {
  /** Flag: the node appears in listings. */
  public static final int ENUMERABLE = 1;

  /** Flag: its space comes from its storage class and from no other. */
  public static final int STRICT = 2;

  /**
   * Flag: the first value of a key is being put. It has a meaning only while there are no bytes:
   * then there is no value yet, rather than an empty one.
   */
  public static final int BEING_PUT = 4;

  /** Flag: the put of the value has ended without a byte, and no put has brought one since. */
  public static final int ABANDONED = 8;

  /**
   * Flag: a container whose children are distributed over all namenodes, each of which has a share
   * of it. Its {@code childCount} is that of one share.
   */
  public static final int SPREAD = 16;

  /** Flag: a compound operation has changed it; it has a version, an epoch and attributes. */
  public static final int EXTENDED = 32;

  /** Flag: no name leads to it. A compound operation may link its bytes to a key. */
  public static final int STAGED = 64;

  /** All permission bits. */
  public static final int PERMISSIONS = 07777;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("NodeInfo")
          .i64("id", "node id")
          .i64("size", "bytes visible to readers")
          .i64("modifiedMillis", "last change, milliseconds since 1970")
          .i64("accessedMillis", "creation or what was set, milliseconds since 1970")
          .i32("childCount", "children of a container")
          .u16("storageClass", "storage class")
          .u8("type", "node type")
          .u8(
              "flags",
              "1: enumerable, 2: strict class, 4: being put, 8: put abandoned, 16: spread, 32: extended,"
                  + " 64: staged")
          .u16("permissions", "permission bits, 0 to 07777")
          .i32("owner", "number of the owner's name")
          .i32("group", "number of the group's name");

  /** The codec. It is written by hand because lookups use it. */
  public static final Codec<NodeInfo> CODEC =
      new Codec<>(NodeInfo.class, LAYOUT) {
        @Override
        public void encode(NodeInfo message, ByteBuffer out, int offset) {
          message.encode(out, offset);
        }

        @Override
        public NodeInfo read(ByteBuffer in, int offset) throws CrailException {
          return NodeInfo.read(in, offset);
        }
      };

  private static final int ID = LAYOUT.offset("id");
  private static final int SIZE = LAYOUT.offset("size");
  private static final int MODIFIED = LAYOUT.offset("modifiedMillis");
  private static final int ACCESSED = LAYOUT.offset("accessedMillis");
  private static final int CHILD_COUNT = LAYOUT.offset("childCount");
  private static final int STORAGE_CLASS = LAYOUT.offset("storageClass");
  private static final int TYPE = LAYOUT.offset("type");
  private static final int FLAGS = LAYOUT.offset("flags");
  private static final int PERMISSIONS_AT = LAYOUT.offset("permissions");
  private static final int OWNER = LAYOUT.offset("owner");
  private static final int GROUP = LAYOUT.offset("group");

  /** True when the node appears in listings. */
  public boolean enumerable() {
    return (flags & ENUMERABLE) != 0;
  }

  /** True for a container whose children are distributed over all namenodes. */
  public boolean isSpread() {
    return (flags & SPREAD) != 0;
  }

  /** True for a value that is being put: it has no bytes yet. */
  public boolean isBeingPut() {
    return size == 0 && (flags & BEING_PUT) != 0;
  }

  /** True when a put has left no value. To readers the key does not exist. */
  public boolean isAbandoned() {
    return size == 0 && (flags & ABANDONED) != 0;
  }

  /** Writes this. */
  public void encode(ByteBuffer out, int offset) {
    encode(
        out,
        offset,
        id,
        size,
        modifiedMillis,
        accessedMillis,
        childCount,
        storageClass,
        type.number(),
        flags,
        permissions,
        owner,
        group);
  }

  /** Writes the fields of a node without making a record of them. */
  public static void encode(
      ByteBuffer out,
      int offset,
      long id,
      long size,
      long modifiedMillis,
      long accessedMillis,
      int childCount,
      int storageClass,
      int typeNumber,
      int flags,
      int permissions,
      int owner,
      int group) {
    out.putLong(offset + ID, id);
    out.putLong(offset + SIZE, size);
    out.putLong(offset + MODIFIED, modifiedMillis);
    out.putLong(offset + ACCESSED, accessedMillis);
    out.putInt(offset + CHILD_COUNT, childCount);
    out.putShort(offset + STORAGE_CLASS, (short) storageClass);
    out.put(offset + TYPE, (byte) typeNumber);
    out.put(offset + FLAGS, (byte) flags);
    out.putShort(offset + PERMISSIONS_AT, (short) permissions);
    out.putInt(offset + OWNER, owner);
    out.putInt(offset + GROUP, group);
  }

  /** Reads one. */
  public static NodeInfo read(ByteBuffer in, int offset) throws CrailException {
    return new NodeInfo(
        in.getLong(offset + ID),
        in.getLong(offset + SIZE),
        in.getLong(offset + MODIFIED),
        in.getLong(offset + ACCESSED),
        in.getInt(offset + CHILD_COUNT),
        in.getShort(offset + STORAGE_CLASS) & 0xffff,
        NodeType.of(in.get(offset + TYPE) & 0xff),
        in.get(offset + FLAGS) & 0xff,
        in.getShort(offset + PERMISSIONS_AT) & 0xffff,
        in.getInt(offset + OWNER),
        in.getInt(offset + GROUP));
  }
}
