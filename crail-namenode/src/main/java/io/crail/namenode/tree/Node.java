/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.memory.Footprint;
import io.crail.namenode.name.NameHash;
import io.crail.namenode.name.NodeName;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A node of the tree. There are millions of nodes, so every field counts: an object has 104 bytes
 * with compressed references. Data that few nodes need (extents and size, a long name, a write
 * lease) is in separate objects.
 *
 * <p>Name, parent and sequence change only in a rename, under the lock of both parents and within
 * the {@link RenameSequence}; a reader without a lock checks that sequence. Extents and lease
 * change under the node's own monitor and are read by any thread.
 */
public class Node {
  /** The entry that a table puts in the place of a removed node. It matches no name and no id. */
  static final Node TOMBSTONE = new Node(0, NodeType.DATAFILE, 0, 0, 0, 0, 0);

  /** The children for which a container has place at first. */
  static final int FIRST_CHILDREN = 4;

  private static final int PERMISSION_BITS = Integer.bitCount(NodeInfo.PERMISSIONS);
  private static final int NUMBER_MASK = (1 << UserNames.NUMBER_BITS) - 1;

  /** Bytes of a node without a long name, and of its place among the children of its parent. */
  private static final long FOOTPRINT = Footprint.object(4, 76) + 4L * Footprint.REFERENCE;

  /**
   * Bytes of a container in addition to those of a node: its fields, its first list of children,
   * and its place among those that are taken apart.
   */
  private static final long MORE_OF_A_CONTAINER =
      Footprint.object(2, 9)
          + Footprint.object(2, 16)
          + Footprint.references(FIRST_CHILDREN)
          + 2L * Footprint.REFERENCE;

  private final long id;
  private final byte typeNumber;
  private final byte storageClass;
  // Changed under the node's monitor. Whether it is spread never changes.
  private volatile byte flags;
  private final short host;

  private byte nameLength;
  private volatile boolean removed;
  // Changed under the parent's monitor.
  private volatile boolean pending;
  private long word0;
  private long word1;
  private long word2;
  private byte[] longName;
  // A Container.
  private volatile Node parent;
  private long sequence;

  private volatile long modifiedMillis;
  private volatile long accessedMillis;
  // In one field, so that a reader gets consistent values.
  private volatile long attributes;
  private volatile NodeSpace space;
  private WriteLease<Node> lease;

  /**
   * Creates a node without name and parent.
   *
   * @param host the preferred host, as a number of {@link HostNames}
   * @param flags as in {@link NodeInfo}
   * @param attributes from {@link #attributes(int, int, int)}
   * @param nowMillis the time of its creation, in milliseconds since 1970
   */
  public Node(
      long id,
      NodeType type,
      int storageClass,
      int host,
      int flags,
      long attributes,
      long nowMillis) {
    this.id = id;
    this.typeNumber = (byte) type.number();
    this.storageClass = (byte) storageClass;
    this.host = (short) host;
    this.flags = (byte) flags;
    this.attributes = attributes;
    this.modifiedMillis = nowMillis;
    this.accessedMillis = nowMillis;
  }

  public final long id() {
    return id;
  }

  public final int typeNumber() {
    return typeNumber;
  }

  public final NodeType type() {
    switch (typeNumber) {
      case 0:
        return NodeType.DATAFILE;
      case 1:
        return NodeType.DIRECTORY;
      case 2:
        return NodeType.MULTIFILE;
      case 4:
        return NodeType.TABLE;
      case 5:
        return NodeType.KEYVALUE;
      default:
        throw new AssertionError("node type " + typeNumber);
    }
  }

  public final int storageClass() {
    return storageClass & 0xff;
  }

  public final int host() {
    return host & 0xffff;
  }

  public final int flags() {
    return flags & 0xff;
  }

  public final boolean isEnumerable() {
    return (flags & NodeInfo.ENUMERABLE) != 0;
  }

  public final boolean isStrict() {
    return (flags & NodeInfo.STRICT) != 0;
  }

  /** True when there are bytes, or none were announced that are still missing. */
  public final boolean hasValue() {
    return size() > 0 || (flags & (NodeInfo.BEING_PUT | NodeInfo.ABANDONED)) == 0;
  }

  /** True once it has extras; see {@link ExtrasTable}. */
  public final boolean hasExtras() {
    return (flags & NodeInfo.EXTENDED) != 0;
  }

  /** Notes that there are some in the {@link ExtrasTable}. Under the node's monitor. */
  final void extended() {
    flags |= NodeInfo.EXTENDED;
  }

  /** Sets the flags that a record says. Under the node's monitor. */
  final void flags(int newFlags) {
    flags = (byte) newFlags;
  }

  /** True while it only holds bytes for a compound operation. It is pending then. */
  public final boolean isStaged() {
    return (flags & NodeInfo.STAGED) != 0;
  }

  /** Notes that its bytes are the content of a key from now on. Under the node's monitor. */
  final void unstage(boolean isEnumerable) {
    int others = NodeInfo.STAGED | NodeInfo.ENUMERABLE;
    flags = (byte) (flags & ~others | (isEnumerable ? NodeInfo.ENUMERABLE : 0));
    arrived();
  }

  /** True while its content is to come as a whole, and its writer has not given up. */
  public final boolean isBeingPut() {
    return (flags & NodeInfo.BEING_PUT) != 0;
  }

  /**
   * Gives the node its place in the tree. The caller adds it to the tables and to the parent's
   * order.
   */
  final void place(Node newParent, ByteBuffer buffer, int start, int end, long newSequence) {
    int length = end - start;
    nameLength = (byte) length;
    if (length <= NodeName.INLINE_LENGTH) {
      word0 = NodeName.word(buffer, start, end);
      word1 = NodeName.word(buffer, start + 8, end);
      word2 = NodeName.word(buffer, start + 16, end);
      longName = null;
    } else {
      byte[] bytes = new byte[length];
      buffer.get(start, bytes);
      longName = bytes;
      word0 = 0;
      word1 = 0;
      word2 = 0;
    }
    sequence = newSequence;
    parent = newParent;
  }

  /** The container that it is in; null for the root. */
  public final Node parent() {
    return parent;
  }

  /** Its place in the parent's order. */
  public final long sequence() {
    return sequence;
  }

  /** Bytes of the name. */
  public final int nameLength() {
    return nameLength & 0xff;
  }

  /** True when this is in {@code container} under an inline name. */
  public final boolean isNamed(Node container, long name0, long name1, long name2, int length) {
    return word0 == name0
        && parent == container
        && word1 == name1
        && word2 == name2
        && nameLength() == length;
  }

  /** True when this is in {@code container} under the name in {@code [start, end)}. */
  public final boolean isNamed(Node container, ByteBuffer buffer, int start, int end) {
    int length = end - start;
    if (length <= NodeName.INLINE_LENGTH) {
      return isNamed(
          container,
          NodeName.word(buffer, start, end),
          NodeName.word(buffer, start + 8, end),
          NodeName.word(buffer, start + 16, end),
          length);
    }
    byte[] name = longName;
    if (parent != container || name == null || name.length != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (name[i] != buffer.get(start + i)) {
        return false;
      }
    }
    return true;
  }

  /** Loads fields at both ends of this object, so that all of it gets into the cache. */
  public final int touchedFields() {
    return (int) id + nameLength + (longName == null ? 0 : 1);
  }

  /** True when both nodes have the same name. */
  final boolean hasNameOf(Node other) {
    return word0 == other.word0
        && word1 == other.word1
        && word2 == other.word2
        && nameLength == other.nameLength
        && Arrays.equals(longName, other.longName);
  }

  /** The hash under which the table holds this node. */
  final long hash(NameHash hash) {
    byte[] name = longName;
    if (name == null) {
      return hash.of(parent.id(), word0, word1, word2, nameLength());
    }
    ByteBuffer bytes = ByteBuffer.wrap(name).order(ByteOrder.LITTLE_ENDIAN);
    return hash.of(parent.id(), bytes, 0, name.length);
  }

  /** Bytes of heap of this node with its name, without its space and its lease. */
  public long footprint() {
    return footprint(type(), nameLength());
  }

  /** Bytes of heap of a node of a type with a name of so many bytes. */
  public static long footprint(NodeType type, int nameLength) {
    return FOOTPRINT
        + (nameLength > NodeName.INLINE_LENGTH ? Footprint.bytes(nameLength) : 0)
        + (type.isContainer() ? MORE_OF_A_CONTAINER : 0);
  }

  /** The bytes of the name. */
  public final byte[] nameBytes() {
    byte[] name = longName;
    return name != null ? name.clone() : NodeName.bytes(word0, word1, word2, nameLength());
  }

  /** The path of a node that is in no container. */
  String topPath() {
    return "/";
  }

  /** Bytes of the path of a node that is in no container, without the slash of the root. */
  public int topLength() {
    return 0;
  }

  /** True for a container whose children are distributed over all namenodes. */
  public final boolean isSpread() {
    return (flags & NodeInfo.SPREAD) != 0;
  }

  /**
   * The whole path, for messages. During a rename it may be neither the old path nor the new one.
   */
  public final String path() {
    StringBuilder path = new StringBuilder();
    Node node = this;
    for (Node container = parent; container != null; container = container.parent()) {
      path.insert(0, new String(node.nameBytes(), StandardCharsets.UTF_8)).insert(0, '/');
      node = container;
    }
    return node.topLength() == 0 && path.length() > 0
        ? path.toString()
        : path.insert(0, node.topPath()).toString();
  }

  /** True once the node itself was removed or replaced. See also {@link Tree#isDetached}. */
  public final boolean isRemoved() {
    return removed;
  }

  /** Marks the node, for good. */
  final void markRemoved() {
    removed = true;
  }

  /**
   * True while its name leads to the node that it is to replace, or while it is staged. See {@link
   * PendingNodes}.
   */
  public final boolean isPending() {
    return pending;
  }

  /** Sets whether the node is to replace another. Under the parent's monitor. */
  final void pending(boolean isPending) {
    pending = isPending;
  }

  /** The number of bytes that readers see. To get size and extents together, use {@link #space}. */
  public final long size() {
    NodeSpace present = space();
    return present == null ? 0 : present.size();
  }

  /** Milliseconds since 1970. */
  public final long modifiedMillis() {
    return modifiedMillis;
  }

  /** Notes that the content is whole. Under the node's monitor. */
  final void arrived() {
    flags &= ~(NodeInfo.BEING_PUT | NodeInfo.ABANDONED);
  }

  /** Notes that the announced content will not come any more. Under the node's monitor. */
  final void abandonPut() {
    if ((flags & NodeInfo.BEING_PUT) != 0) {
      flags ^= NodeInfo.BEING_PUT | NodeInfo.ABANDONED;
    }
  }

  final void touch(long nowMillis) {
    modifiedMillis = nowMillis;
  }

  /** Milliseconds since 1970: of its creation, as a client has set it, or of the last access. */
  public final long accessedMillis() {
    return accessedMillis;
  }

  final void accessed(long millis) {
    accessedMillis = millis;
  }

  /** Permission bits. */
  public final int permissions() {
    return permissions(attributes);
  }

  /** The owner, as a number of {@link UserNames}. */
  public final int owner() {
    return owner(attributes);
  }

  /** The group, as a number of {@link UserNames}. */
  public final int group() {
    return group(attributes);
  }

  /** Sets permission bits, owner and group. Under its own monitor and its parent's. */
  final void attributes(long newAttributes) {
    attributes = newAttributes;
  }

  /** Permission bits, owner and group in one number. */
  public final long attributes() {
    return attributes;
  }

  /** Permission bits, and the numbers of an owner and a group, in one number. */
  public static long attributes(int permissions, int owner, int group) {
    return permissions
        | (long) owner << PERMISSION_BITS
        | (long) group << PERMISSION_BITS + UserNames.NUMBER_BITS;
  }

  /** The permission bits in {@link #attributes()}. */
  public static int permissions(long attributes) {
    return (int) attributes & NodeInfo.PERMISSIONS;
  }

  /** The owner in {@link #attributes()}. */
  public static int owner(long attributes) {
    return (int) (attributes >>> PERMISSION_BITS) & NUMBER_MASK;
  }

  /** The group in {@link #attributes()}. */
  public static int group(long attributes) {
    return (int) (attributes >>> PERMISSION_BITS + UserNames.NUMBER_BITS) & NUMBER_MASK;
  }

  /**
   * Extents and size; null when there are none. A removed node keeps its last ones. Not final, so
   * that a test can act between two reads.
   */
  public NodeSpace space() {
    return space;
  }

  /** Sets the extents. Under the node's monitor. */
  final void space(NodeSpace newSpace) {
    space = newSpace;
  }

  /** The write lease, or null. Under the node's monitor. */
  public final WriteLease<Node> lease() {
    return lease;
  }

  /** Sets or ends the write lease. Under the node's monitor. */
  final void lease(WriteLease<Node> newLease) {
    lease = newLease;
  }

  /** No path below is longer than this node's own path by more than this many bytes. */
  public int reach() {
    return 0;
  }

  /** Children of a container; 0 for a node with bytes. */
  public int childCount() {
    return 0;
  }

  /** The description of the node for clients. */
  public final NodeInfo info() {
    long present = attributes;
    // Read before the size: so a reader that sees no bytes of a new value sees that the value is
    // being put.
    int presentFlags = flags();
    return new NodeInfo(
        id,
        size(),
        modifiedMillis,
        accessedMillis,
        childCount(),
        storageClass(),
        type(),
        presentFlags,
        permissions(present),
        owner(present),
        group(present));
  }

  /**
   * Writes the description for clients, with a size from {@link #space} and with flags that were
   * read before that size.
   */
  public final void encode(long size, int presentFlags, ByteBuffer out, int offset) {
    long present = attributes;
    NodeInfo.encode(
        out,
        offset,
        id,
        size,
        modifiedMillis,
        accessedMillis,
        childCount(),
        storageClass(),
        typeNumber,
        presentFlags,
        permissions(present),
        owner(present),
        group(present));
  }

  /** By its id, so that a node in a table keeps the header that makes its monitor fast. */
  @Override
  public final int hashCode() {
    return Long.hashCode(id * 0x9e3779b97f4a7c15L);
  }

  @Override
  public String toString() {
    return path() + " (node " + id + ")";
  }
}
