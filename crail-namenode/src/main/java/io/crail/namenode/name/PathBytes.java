/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.name;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.NodePath;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A checked path, read in place. May be reused. Not thread-safe. */
public final class PathBytes {
  private ByteBuffer bytes;
  private int start;
  private int nameStart;
  private int end;

  /** A path with its own bytes. */
  public static PathBytes of(Utf8 text) throws CrailException {
    PathBytes path = new PathBytes();
    ByteBuffer bytes = ByteBuffer.wrap(text.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
    path.read(bytes, 0, text.length());
    return path;
  }

  /** Reads a path from a buffer. */
  public void read(ByteBuffer in, int offset, int length) throws CrailException {
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

  public boolean isRoot() {
    return end - start == 1;
  }

  /** The buffer that holds the path, at the offsets below. */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Where the first component begins. */
  public int firstStart() {
    return start + 1;
  }

  /** Where the last component begins. */
  public int nameStart() {
    return nameStart;
  }

  public int end() {
    return end;
  }

  /** Bytes of the last component. */
  public int nameLength() {
    return end - nameStart;
  }

  /** The namenode that owns the path. */
  public int namenode(int count) {
    return NodePath.namenodeOf(bytes, start, end - start, count);
  }

  @Override
  public String toString() {
    return Utf8.copyOf(bytes, start, end - start).toString();
  }
}
