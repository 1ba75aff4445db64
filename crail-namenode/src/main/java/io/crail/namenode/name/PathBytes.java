/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.name;

import io.crail.common.ByteSequence;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.SpreadHint;
import io.crail.protocol.part.SpreadPath;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A checked path, read in place: from the root, or from a spread directory (see {@link
 * SpreadPath}). May be reused. Not thread-safe.
 */
public final class PathBytes implements ByteSequence {
  private ByteBuffer bytes;
  // Where it begins as it travels.
  private int from;
  // The spread directory that it begins at; 0 for the root.
  private long spread;
  // Where the text begins.
  private int start;
  private int firstStart;
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
    from = offset;
    end = offset + length;
    boolean isFromSpread = SpreadPath.isFromSpread(this);
    start = isFromSpread ? Math.min(end, offset + SpreadPath.HEADER_LENGTH) : offset;
    try {
      if (isFromSpread) {
        SpreadPath.check(in, offset, length);
      }
      NodePath.check(in, start, end - start);
    } catch (CrailException e) {
      throw e.code().exception(e.detail() + ": " + this);
    }
    spread = isFromSpread ? SpreadPath.id(in, offset) : 0;
    firstStart = 1 + start + (isFromSpread ? SpreadPath.prefix(in, offset) : 0);
    nameStart = end;
    while (in.get(nameStart - 1) != '/') {
      nameStart--;
    }
  }

  @Override
  public int length() {
    return end - from;
  }

  @Override
  public byte byteAt(int index) {
    return bytes.get(from + index);
  }

  public boolean isRoot() {
    return end - start == 1;
  }

  /** The id of the spread directory that the path begins at; 0 when it begins at the root. */
  public long spread() {
    return spread;
  }

  /** Bytes of the path of the spread directory that it begins at, as the sender knows it. */
  public int spreadLength() {
    return firstStart - 1 - start;
  }

  /** True when it ends with the spread directory that it begins at. */
  public boolean isSpreadItself() {
    return firstStart > end;
  }

  /** The detail that names a spread directory on this path. */
  public SpreadHint hint(long id, int directoryEnd) {
    return new SpreadHint(id, Utf8.copyOf(bytes, start, directoryEnd - start));
  }

  /** The buffer that holds the path, at the offsets below. */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Where the first component begins that is looked up. */
  public int firstStart() {
    return firstStart;
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
    return NodePath.namenodeOf(this, count);
  }

  @Override
  public String toString() {
    return Utf8.copyOf(bytes, start, end - start).toString();
  }
}
