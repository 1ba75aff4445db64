/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.NodePath;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A checked path, read in place. May be reused. Not thread-safe. */
final class PathBytes {
  private ByteBuffer bytes;
  private int start;
  private int nameStart;
  private int end;

  /** A path with its own bytes. */
  static PathBytes of(Utf8 text) throws CrailException {
    PathBytes path = new PathBytes();
    ByteBuffer bytes = ByteBuffer.wrap(text.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
    path.read(bytes, 0, text.length());
    return path;
  }

  /** Reads a path that lies in a buffer. */
  void read(ByteBuffer in, int offset, int length) throws CrailException {
    bytes = in;
    start = offset;
    end = offset + length;
    try {
      NodePath.check(in, offset, length);
    } catch (CrailException e) {
      throw e.code().exception(e.detail() + ": " + this);
    }
    nameStart = end;
    while (in.get(nameStart - 1) != '/') {
      nameStart--;
    }
  }

  boolean isRoot() {
    return end - start == 1;
  }

  /** The buffer that holds the path, at the offsets below. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** Where the first component begins. */
  int firstStart() {
    return start + 1;
  }

  /** Where the last component begins. */
  int nameStart() {
    return nameStart;
  }

  int end() {
    return end;
  }

  /** Bytes of the last component. */
  int nameLength() {
    return end - nameStart;
  }

  /** The namenode that owns the path. */
  int namenode(int count) {
    return NodePath.namenodeOf(bytes, start, end - start, count);
  }

  @Override
  public String toString() {
    return Utf8.copyOf(bytes, start, end - start).toString();
  }
}
