/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Many records that are compressed together. Most of what two nodes have is the same, so a snapshot
 * is a fraction as long. All numbers are little-endian.
 *
 * <pre>
 *   0  i32  number of records
 *   4  i32  their bytes
 *   8  ...  deflated: i32 length, u8 kind, and the bytes of each
 * </pre>
 */
final class PackedRecords {
  /** The kind of the record that holds them. */
  static final int KIND = 254;

  private static final int HEADER = 8;
  private static final int PAGE_BYTES = 256 << 10;

  private PackedRecords() {}

  /** Collects records. For one thread; to be closed. */
  static final class Packer implements AutoCloseable {
    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    private ByteBuffer page = page(PAGE_BYTES);
    private int count;

    private static ByteBuffer page(int bytes) {
      return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    boolean isEmpty() {
      return count == 0;
    }

    /** Whether one more record belongs to the next page. */
    boolean isFull(int length) {
      return count > 0 && page.remaining() < LogFrame.OF_RECORD + length;
    }

    <T> void add(int kind, Codec<T> codec, T record, int length) {
      if (page.remaining() < LogFrame.OF_RECORD + length) {
        page = page(LogFrame.OF_RECORD + length);
      }
      int at = page.position();
      LogFrame.put(page, kind, length);
      codec.encode(record, page, at + LogFrame.OF_RECORD);
      page.position(at + LogFrame.OF_RECORD + length);
      count++;
    }

    /** Most bytes that {@link #packTo} writes. */
    int mostBytes() {
      // What cannot be compressed becomes longer by five bytes for each 16 KiB, and a frame.
      return HEADER + page.position() + page.position() / 1024 + 64;
    }

    /** Writes all at the position of a buffer, and forgets it. */
    void packTo(ByteBuffer out) {
      out.putInt(count).putInt(page.position());
      deflater.reset();
      deflater.setInput(page.flip());
      deflater.finish();
      while (!deflater.finished()) {
        if (deflater.deflate(out) == 0 && !out.hasRemaining()) {
          throw new AssertionError("no room for records");
        }
      }
      page.clear();
      count = 0;
    }

    @Override
    public void close() {
      deflater.end();
    }
  }

  /** Receives the records of a page. */
  @FunctionalInterface
  interface Each {
    void record(int kind, ByteBuffer bytes, int offset, int length)
        throws CrailException, IOException;
  }

  /**
   * Visits the records in the bytes of one.
   *
   * @throws LogDamage when they are not what was written
   */
  static void unpack(ByteBuffer bytes, int offset, int length, Each each)
      throws CrailException, IOException {
    if (length < HEADER) {
      throw new LogDamage("a page of " + length + " bytes");
    }
    int count = bytes.getInt(offset);
    ByteBuffer page =
        inflated(bytes.slice(offset + HEADER, length - HEADER), bytes.getInt(offset + 4));
    for (int i = 0; i < count; i++) {
      int left = page.remaining() - LogFrame.OF_RECORD;
      int own = left < 0 ? -1 : page.getInt(page.position());
      if (own < 0 || own > left) {
        throw new LogDamage("a page with wrong lengths");
      }
      int at = page.position() + LogFrame.OF_RECORD;
      each.record(page.get(at - 1) & 0xff, page, at, own);
      page.position(at + own);
    }
  }

  private static ByteBuffer inflated(ByteBuffer packed, int bytes) throws LogDamage {
    if (bytes < 0 || bytes > LogFrame.MOST) {
      throw new LogDamage("a page of " + bytes + " bytes");
    }
    ByteBuffer page = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(packed);
      while (page.hasRemaining() && inflater.inflate(page) > 0) {
        // All of it is to be there.
      }
    } catch (DataFormatException e) {
      throw new LogDamage("a page that cannot be unpacked: " + e.getMessage());
    } finally {
      inflater.end();
    }
    if (page.hasRemaining()) {
      throw new LogDamage("a page that lacks " + page.remaining() + " bytes");
    }
    return page.flip();
  }
}
