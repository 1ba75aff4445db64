/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.NodePath;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A path that is checked, read where it lies. May be used again; not thread-safe. */
final class PathBytes {
  private ByteBuffer bytes;
  private int start;
  private int nameStart;
  private int end;

  /** A path of its own. */
  static PathBytes of(Utf8 text) throws CrailException {
    PathBytes path = new PathBytes();
    ByteBuffer bytes = ByteBuffer.wrap(text.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
    path.read(bytes, 0, text.length());
    return path;
  }

  /** Becomes the path that lies in a buffer. */
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

  /** What it lies in, at the offsets below. */
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

  /** The namenode that owns it. */
  int namenode(int count) {
    return NodePath.namenodeOf(bytes, start, end - start, count);
  }

  @Override
  public String toString() {
    return Utf8.copyOf(bytes, start, end - start).toString();
  }
}
