/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.spark.fetch.FetchMemory.Piece;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;

/** A block in memory, in pieces. */
final class BufferedBlock implements BlockData {
  private final List<Piece> pieces;
  private final long length;

  BufferedBlock(List<Piece> pieces, long length) {
    this.pieces = pieces;
    this.length = length;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public InputStream open() {
    return new Pieces();
  }

  @Override
  public void release() {
    pieces.forEach(Piece::release);
  }

  private final class Pieces extends InputStream {
    private int piece;
    private int position;

    /** The bytes left in the present piece; 0 at the end. */
    private int left() {
      while (piece < pieces.size() && position == pieces.get(piece).length()) {
        piece++;
        position = 0;
      }
      return piece == pieces.size() ? 0 : pieces.get(piece).length() - position;
    }

    @Override
    public int read() {
      return left() == 0 ? -1 : pieces.get(piece).memory().get(position++) & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      Objects.checkFromIndexSize(offset, length, target.length);
      if (length == 0) {
        return 0;
      }
      int count = Math.min(left(), length);
      if (count == 0) {
        return -1;
      }
      pieces.get(piece).memory().get(position, target, offset, count);
      position += count;
      return count;
    }

    @Override
    public int available() {
      return left();
    }
  }
}
