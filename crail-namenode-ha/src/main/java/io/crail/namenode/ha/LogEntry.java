/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Some records that the peers agree on together. Its bytes, little-endian:
 *
 * <pre>
 *   0  i64  the term in which its author leads
 *   8  i64  number of the first record
 *  16  i32  number of records
 *  20  ...  records: i32 length, u8 kind, and the bytes of each
 * </pre>
 */
final class LogEntry {
  static final int HEADER = 20;

  /** Bytes of a record besides its own. */
  static final int OF_RECORD = Integer.BYTES + 1;

  private final ByteBuffer bytes;

  LogEntry(ByteBuffer bytes) throws IOException {
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (this.bytes.remaining() < HEADER || count() < 1) {
      throw new IOException("an entry of " + this.bytes.remaining() + " bytes");
    }
  }

  /** Receives records. */
  @FunctionalInterface
  interface Visitor {
    void record(int kind, ByteBuffer bytes, int offset, int length) throws IOException;
  }

  /**
   * The bytes of an entry.
   *
   * @param records as in a page of a log
   */
  static ByteBuffer of(long term, long first, int count, ByteBuffer records) {
    ByteBuffer bytes = ByteBuffer.allocate(HEADER + records.remaining());
    bytes.order(ByteOrder.LITTLE_ENDIAN).putLong(term).putLong(first).putInt(count);
    return bytes.put(records).flip();
  }

  long term() {
    return bytes.getLong(0);
  }

  long first() {
    return bytes.getLong(8);
  }

  int count() {
    return bytes.getInt(16);
  }

  long last() {
    return first() + count() - 1;
  }

  /** Visits the records from a number on. */
  void visit(long from, Visitor visitor) throws IOException {
    int offset = HEADER;
    int end = bytes.limit();
    for (long number = first(); number <= last(); number++) {
      int length = end - offset < OF_RECORD ? -1 : bytes.getInt(offset);
      if (length < 0 || length > end - offset - OF_RECORD) {
        throw new IOException("an entry with wrong lengths");
      }
      int kind = bytes.get(offset + Integer.BYTES) & 0xff;
      if (number >= from) {
        visitor.record(kind, bytes, offset + OF_RECORD, length);
      }
      offset += OF_RECORD + length;
    }
  }
}
