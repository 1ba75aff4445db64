/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.HostNames;
import io.crail.protocol.node.Create;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.RequestBatch;
import java.nio.ByteBuffer;

/**
 * A create that brings all bytes of a value, read where it lies in a request. Used again for each;
 * belongs to one connection.
 */
public final class SmallPut {
  private final NameNodeOptions options;
  private ByteBuffer in;
  private int body;
  private int path;
  private int pathEnd;
  private int nameStart;
  private int hostLength;
  private int valueLength;

  public SmallPut(NameNodeOptions options) {
    this.options = options;
  }

  /**
   * Reads a request.
   *
   * @return false when it is another kind of create, or anything about it is unusual or wrong
   * @throws CrailException with {@link ErrorCode#PROTOCOL} when it is none
   */
  public boolean read(RequestBatch batch, int request) throws CrailException {
    in = batch.buffer();
    body = batch.bodyOffset(request);
    Create.Request.LAYOUT.check(in, body, batch.bodyLength(request));
    path = body + Create.Request.LAYOUT.fixedLength();
    pathEnd = path + (in.getShort(body + Create.Request.PATH_LENGTH) & 0xffff);
    hostLength = in.getShort(body + Create.Request.HOST_LENGTH) & 0xffff;
    valueLength = in.getShort(body + Create.Request.VALUE_LENGTH) & 0xffff;
    if (valueLength == 0 || !isUsual() || !NodePath.isRight(in, path, pathEnd - path)) {
      return false;
    }
    nameStart = pathEnd;
    while (in.get(nameStart - 1) != '/') {
      nameStart--;
    }
    return NodePath.namenodeOf(in, path, pathEnd - path, options.count()) == options.index();
  }

  private boolean isUsual() {
    int storageClass = in.getInt(body + Create.Request.STORAGE_CLASS);
    boolean needed = in.get(body + Create.Request.NEEDED) != 0;
    return in.get(body + Create.Request.TYPE) == NodeType.KEYVALUE.number()
        && storageClass >= Create.PARENT_CLASS
        && storageClass < options.storageClasses()
        && (permissions() & ~NodeInfo.PERMISSIONS) == 0
        && in.getLong(body + Create.Request.WANTED) >= 0
        && !(needed && in.getLong(body + Create.Request.TOKEN) == 0)
        && Create.Ahead.isNone(in, body + Create.Request.AHEAD)
        && (hostLength == 0
            || (hostLength == 1 && in.get(pathEnd) == Create.PARENT_HOST.byteAt(0)));
  }

  /** The bytes of the request. */
  ByteBuffer bytes() {
    return in;
  }

  /** Where the path begins in {@link #bytes}; it is no longer than allowed, and not the root. */
  int path() {
    return path;
  }

  /** Where the last component begins. */
  int nameStart() {
    return nameStart;
  }

  /** Where the path ends. */
  int pathEnd() {
    return pathEnd;
  }

  int permissions() {
    return in.getShort(body + Create.Request.PERMISSIONS) & 0xffff;
  }

  /** Flags as in {@link NodeInfo}. */
  int flags() {
    return (in.get(body + Create.Request.ENUMERABLE) != 0 ? NodeInfo.ENUMERABLE : 0)
        | (in.get(body + Create.Request.STRICT) != 0 ? NodeInfo.STRICT : 0);
  }

  /** The storage class in a container. */
  int storageClass(Container container) {
    int storageClass = in.getInt(body + Create.Request.STORAGE_CLASS);
    return storageClass == Create.PARENT_CLASS ? container.storageClass() : storageClass;
  }

  /** The host in a container: the container's, or any. */
  int host(Container container) {
    return hostLength == 0 ? HostNames.ANY : container.host();
  }

  public int valueLength() {
    return valueLength;
  }

  /** A copy of the value. */
  byte[] value() {
    byte[] bytes = new byte[valueLength];
    in.get(pathEnd + hostLength, bytes);
    return bytes;
  }
}
