/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The requested properties and first contents of a new node: a create or a put, read in place from
 * the request. Each connection reuses one object. Not thread-safe.
 */
public final class NewNode {
  private final PathBytes path = new PathBytes();
  private ByteBuffer in;
  private boolean put;
  private NodeType type;
  private boolean replaces;
  private int flags;
  private int permissions;
  private int storageClass;
  private int host;
  private int hostLength;
  // That of the key for which bytes are staged; null for none.
  private Integer hostOfKey;
  private long token;
  private long length;
  private int value;
  private int valueLength;
  // 0 for a node that is not spread.
  private long spreadId;
  // Null for a node that no compound operation makes.
  private NodeExtras extras;

  /** A copy of a request. */
  static NewNode of(Create.Request request) throws CrailException {
    ByteBuffer bytes =
        ByteBuffer.allocate(Create.Request.CODEC.length(request)).order(ByteOrder.LITTLE_ENDIAN);
    Create.Request.CODEC.encode(request, bytes, 0);
    NewNode made = new NewNode();
    made.readCreate(bytes, 0);
    return made;
  }

  /** A copy of a request for a spread directory, which will have this id. */
  static NewNode spread(Create.Request request, long id) throws CrailException {
    NewNode made = of(request);
    made.spreadId = id;
    made.flags |= NodeInfo.SPREAD;
    return made;
  }

  /** A key-value that a compound operation makes, with these bytes. */
  static NewNode operated(Put.Request request, NodeExtras extras) throws CrailException {
    ByteBuffer bytes =
        ByteBuffer.allocate(Put.Request.CODEC.length(request)).order(ByteOrder.LITTLE_ENDIAN);
    Put.Request.CODEC.encode(request, bytes, 0);
    NewNode made = new NewNode();
    made.readPut(bytes, 0);
    made.extras = extras;
    return made;
  }

  /** What a compound operation gives it; null for another node. */
  NodeExtras extras() {
    return extras;
  }

  /** Refuses what this parent may not hold. */
  void requireType(Container parent) throws CrailException {
    if (!parent.type().mayHold(type)) {
      throw ErrorCode.WRONG_TYPE.exception(
          path
              + ": no "
              + type
              + " in a "
              + parent.type()
              + "; choose another parent, such as a directory");
    }
  }

  /** Refuses a storage class or permissions that do not exist. */
  void requireClass(int storageClasses) throws CrailException {
    if (storageClass < Create.PARENT_CLASS || storageClass >= storageClasses) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "storage class " + storageClass + ", there are " + storageClasses);
    }
    requirePermissions(path, permissions);
  }

  /**
   * Refuses a spread directory in another one, and where a quota would not count its children at
   * other namenodes.
   */
  void requireNoneAbove(Container parent) throws CrailException {
    if (parent.quota() != null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + " is below " + parent.quota().directory() + ", whose quota counts one namenode");
    }
    for (Container at = parent; at != null; at = Container.of(at)) {
      if (at.isSpread()) {
        throw ErrorCode.INVALID_ARGUMENT.exception(
            path + " is in " + at.path() + ", which is spread already");
      }
    }
  }

  /** The id that a spread directory was given before; 0 for any other node. */
  long spreadId() {
    return spreadId;
  }

  /**
   * Reads a create.
   *
   * @param body where the request begins; its lengths were checked
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} or another code when the request
   *     is not valid
   */
  public void readCreate(ByteBuffer buffer, int body) throws CrailException {
    put = false;
    type = NodeType.CODEC.read(buffer, body + Create.Request.TYPE);
    replaces = buffer.get(body + Create.Request.REPLACE) != 0;
    flags =
        flags(
            buffer.get(body + Create.Request.ENUMERABLE), buffer.get(body + Create.Request.STRICT));
    permissions = buffer.getShort(body + Create.Request.PERMISSIONS) & 0xffff;
    storageClass = buffer.getInt(body + Create.Request.STORAGE_CLASS);
    token = buffer.getLong(body + Create.Request.TOKEN);
    length = buffer.getLong(body + Create.Request.WANTED);
    readTexts(
        buffer,
        body + Create.Request.LAYOUT.fixedLength(),
        buffer.getShort(body + Create.Request.PATH_LENGTH) & 0xffff,
        buffer.getShort(body + Create.Request.HOST_LENGTH) & 0xffff);
    valueLength = 0;
    if (length < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path + ": " + length + " bytes wanted");
    }
  }

  /** Reads a put, as {@link #readCreate} reads a create. */
  public void readPut(ByteBuffer buffer, int body) throws CrailException {
    put = true;
    type = NodeType.KEYVALUE;
    replaces = false;
    flags = flags(buffer.get(body + Put.Request.ENUMERABLE), buffer.get(body + Put.Request.STRICT));
    permissions = buffer.getShort(body + Put.Request.PERMISSIONS) & 0xffff;
    storageClass = buffer.getInt(body + Put.Request.STORAGE_CLASS);
    token = buffer.getLong(body + Put.Request.TOKEN);
    length = buffer.getLong(body + Put.Request.LENGTH);
    readTexts(
        buffer,
        body + Put.Request.LAYOUT.fixedLength(),
        buffer.getShort(body + Put.Request.PATH_LENGTH) & 0xffff,
        buffer.getShort(body + Put.Request.HOST_LENGTH) & 0xffff);
    value = host + hostLength;
    valueLength = buffer.getInt(body + Put.Request.VALUE_LENGTH);
    boolean isWhole = valueLength == 0 ? length >= 0 : length == valueLength;
    if (!isWhole) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + ": " + valueLength + " of " + length + " bytes");
    }
    if (token == 0 && length > valueLength) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + ": only a holder of a write lease needs space");
    }
  }

  /**
   * Reads a put whose bytes are staged: all of them go to datanodes, and no name leads to the node.
   */
  public void readStage(ByteBuffer buffer, int body) throws CrailException {
    readPut(buffer, body);
    flags |= NodeInfo.STAGED;
    valueLength = 0;
    if (length == 0 || token == 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path + ": " + length + " bytes, token " + token);
    }
  }

  /** True for bytes that are staged. */
  boolean isStaged() {
    return (flags & NodeInfo.STAGED) != 0;
  }

  /**
   * Lets staged bytes be where those of their key are, unless the request says where.
   *
   * @param key the node that has the name; null for none
   */
  void placeLike(Node key) {
    if (key == null) {
      return;
    }
    if (storageClass == Create.PARENT_CLASS) {
      storageClass = key.storageClass();
      flags |= key.isStrict() ? NodeInfo.STRICT : 0;
    }
    hostOfKey = key.host();
  }

  private static int flags(byte enumerable, byte strict) {
    return (enumerable != 0 ? NodeInfo.ENUMERABLE : 0) | (strict != 0 ? NodeInfo.STRICT : 0);
  }

  private void readTexts(ByteBuffer buffer, int at, int pathLength, int newHostLength)
      throws CrailException {
    in = buffer;
    hostOfKey = null;
    host = at + pathLength;
    hostLength = newHostLength;
    path.read(buffer, at, pathLength);
  }

  PathBytes path() {
    return path;
  }

  NodeType type() {
    return type;
  }

  /** True when it may replace a node with bytes, in any container. */
  boolean replaces() {
    return replaces;
  }

  int permissions() {
    return permissions;
  }

  /** The requested storage class; {@link Create#PARENT_CLASS} for the parent's. */
  int storageClass() {
    return storageClass;
  }

  /** Bytes of heap of the node and its name. */
  long footprint() {
    return Node.footprint(type, path.nameLength());
  }

  /**
   * The node, without its name and its first contents.
   *
   * @param isToCome whether the bytes of a put are still to come
   * @param attributes from {@link Node#attributes(int, int, int)}
   */
  Node node(
      long id,
      Container parent,
      HostNames hosts,
      boolean isToCome,
      long attributes,
      long nowMillis) {
    int ownClass = storageClass(parent);
    int ownHost = host(parent, hosts);
    int ownFlags = flags | (isToCome && put && length > 0 ? NodeInfo.BEING_PUT : 0);
    return type.isContainer()
        ? new Container(id, type, ownClass, ownHost, ownFlags, attributes, nowMillis)
        : new Node(id, type, ownClass, ownHost, ownFlags, attributes, nowMillis);
  }

  /** As in {@link NodeInfo}. */
  int flags() {
    return flags;
  }

  /** The storage class that the node will have. */
  int storageClass(Container parent) {
    return storageClass == Create.PARENT_CLASS ? parent.storageClass() : storageClass;
  }

  /** The number of the host that the node will prefer. */
  int host(Container parent, HostNames hosts) {
    if (hostLength == 0) {
      return HostNames.ANY;
    }
    boolean isParents = hostLength == 1 && in.get(host) == Create.PARENT_HOST.byteAt(0);
    if (isParents && hostOfKey != null) {
      return hostOfKey;
    }
    return isParents ? parent.host() : hosts.find(Utf8.copyOf(in, host, hostLength));
  }

  /** The token of the write lease that the creator gets if it needs one; 0 for none. */
  public long token() {
    return token;
  }

  /** True for a put: the node gets all its bytes or space for all of them, or it is not made. */
  boolean isPut() {
    return put;
  }

  /** The bytes to be written: all bytes of a put, or the first bytes after a create. */
  long length() {
    return length;
  }

  /** Bytes of the value that came with a put; 0 for none. */
  public int valueLength() {
    return valueLength;
  }

  /** Writes the bytes that came with a put. */
  void writeTo(SmallBytes space) {
    space.write(in, value);
  }

  /** Refuses permission bits that do not exist. */
  static void requirePermissions(PathBytes path, int permissions) throws CrailException {
    if ((permissions & ~NodeInfo.PERMISSIONS) != 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + ": permission bits 0" + Integer.toOctalString(permissions));
    }
  }
}
