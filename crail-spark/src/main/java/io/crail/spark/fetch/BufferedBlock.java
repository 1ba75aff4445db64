/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.spark.fetch.FetchMemory.Piece;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.OutputIndex;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;

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

  /** Compares the checksums of a range of partitions, whose bytes in all runs these are. */
  void verify(OutputIndex index, int from, int to) throws CorruptOutputException {
    Checks checks = new Checks();
    for (int run = 0; run < index.runs(); run++) {
      for (int partition = from; partition < to; partition++) {
        long position = index.start(run, partition);
        for (int chunk = 0; chunk < index.chunks(run, partition); chunk++) {
          long end = index.chunkEnd(run, partition, chunk);
          if (checks.next((int) (end - position)) != index.checksum(run, partition, chunk)) {
            throw new CorruptOutputException(
                "wrong checksum of partition " + partition + " of " + index.id());
          }
          position = end;
        }
      }
    }
  }

  /** Checksums of the bytes, one part after the other. */
  private final class Checks {
    private final CRC32C crc = new CRC32C();
    private int piece;
    private int offset;

    int next(int length) {
      crc.reset();
      for (int left = length; left > 0; ) {
        Piece present = pieces.get(piece);
        int count = Math.min(left, present.length() - offset);
        crc.update(present.memory().duplicate().limit(offset + count).position(offset));
        left -= count;
        offset += count;
        if (offset == present.length()) {
          piece++;
          offset = 0;
        }
      }
      return (int) crc.getValue();
    }
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
