/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * The bytes of a record.
 *
 * <pre>
 *   format   1 byte, 1
 *   count    number of fields
 *   for each: length of the name, name in UTF-8, length of the value, value
 *   check    4 bytes, CRC-32C of all before
 * </pre>
 *
 * Count and lengths have seven bits a byte, the lowest first, the highest bit set in all but the
 * last byte.
 */
final class Record {
  private static final byte FORMAT = 1;
  private static final int MOST_LENGTH_BYTES = 5;
  private static final int LEAST_BYTES = 1 + 1 + Integer.BYTES;

  private Record() {}

  /** Encodes fields; their values are consumed. */
  static byte[] encode(Map<String, ByteIterator> fields) {
    List<byte[]> parts = new ArrayList<>(2 * fields.size());
    long length = LEAST_BYTES + MOST_LENGTH_BYTES;
    for (Map.Entry<String, ByteIterator> field : fields.entrySet()) {
      byte[] name = field.getKey().getBytes(StandardCharsets.UTF_8);
      byte[] value = field.getValue().toArray();
      length += 2 * MOST_LENGTH_BYTES + (long) name.length + value.length;
      parts.add(name);
      parts.add(value);
    }
    ByteBuffer record = ByteBuffer.allocate(Math.toIntExact(length));
    record.put(FORMAT);
    putLength(record, fields.size());
    for (byte[] part : parts) {
      putLength(record, part.length);
      record.put(part);
    }
    record.putInt(check(record.array(), record.position()));
    byte[] bytes = new byte[record.position()];
    record.get(0, bytes);
    return bytes;
  }

  /**
   * Decodes fields; the values share {@code record}.
   *
   * @param wanted names of the fields to give, null for all; one that the record has not is left
   *     out
   * @throws CorruptRecordException when these are not the bytes of a record
   */
  static void decode(byte[] record, Set<String> wanted, Map<String, ByteIterator> result)
      throws CorruptRecordException {
    ByteBuffer rest = checked(record);
    try {
      int count = takeLength(rest);
      for (int i = 0; i < count; i++) {
        int nameLength = takeLength(rest);
        int nameAt = skip(rest, nameLength);
        int length = takeLength(rest);
        int at = skip(rest, length);
        String name = new String(record, nameAt, nameLength, StandardCharsets.UTF_8);
        if (wanted == null || wanted.contains(name)) {
          result.put(name, new ByteArrayByteIterator(record, at, length));
        }
      }
    } catch (BufferUnderflowException e) {
      throw new CorruptRecordException("a field goes beyond the end");
    }
    if (rest.hasRemaining()) {
      throw new CorruptRecordException(rest.remaining() + " bytes too many");
    }
  }

  /** What is between format and checksum, when these are right. */
  private static ByteBuffer checked(byte[] record) throws CorruptRecordException {
    if (record.length < LEAST_BYTES) {
      throw new CorruptRecordException(record.length + " bytes are too few");
    }
    int end = record.length - Integer.BYTES;
    if (check(record, end) != ByteBuffer.wrap(record).getInt(end)) {
      throw new CorruptRecordException("the checksum of " + record.length + " bytes is wrong");
    }
    if (record[0] != FORMAT) {
      throw new CorruptRecordException("unknown format " + record[0]);
    }
    return ByteBuffer.wrap(record, 1, end - 1);
  }

  private static int skip(ByteBuffer rest, int length) {
    int at = rest.position();
    if (length > rest.remaining()) {
      throw new BufferUnderflowException();
    }
    rest.position(at + length);
    return at;
  }

  private static void putLength(ByteBuffer target, int length) {
    int left = length;
    while (left > 0x7f) {
      target.put((byte) (left | 0x80));
      left >>>= 7;
    }
    target.put((byte) left);
  }

  private static int takeLength(ByteBuffer rest) throws CorruptRecordException {
    long length = 0;
    for (int shift = 0; shift < 7 * MOST_LENGTH_BYTES; shift += 7) {
      byte next = rest.get();
      length |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return (int) Math.min(length, Integer.MAX_VALUE);
      }
    }
    throw new CorruptRecordException("a length has too many bits");
  }

  private static int check(byte[] bytes, int length) {
    CRC32C check = new CRC32C();
    check.update(bytes, 0, length);
    return (int) check.getValue();
  }
}
