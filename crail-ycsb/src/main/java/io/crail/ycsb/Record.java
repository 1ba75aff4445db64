/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
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
 *   names    runs: how many, length of the first name, the first name in UTF-8
 *   lengths  runs: how many, length of each of these values
 *   values
 *   check    4 bytes, CRC-32C of all before
 * </pre>
 *
 * The names of a run count up, as YCSB's field0, field1 and so on do. YCSB's values have equal
 * lengths. So the usual record of ten fields has 16 bytes in addition to its values. A number has
 * seven bits in each byte, the lowest bits first; the highest bit of a byte is set in all bytes
 * except the last.
 */
final class Record {
  private static final byte FORMAT = 1;
  private static final int MOST_FIELDS = 1 << 16;
  private static final int MOST_NUMBER_BYTES = 5;
  private static final int LEAST_BYTES = 1 + 1 + Integer.BYTES;

  /** The order in which names count up. */
  private static final Comparator<String> COUNTING =
      Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

  private Record() {}

  /**
   * Encodes fields and consumes their values.
   *
   * @throws IllegalArgumentException for more than 65,536 fields
   */
  static byte[] encode(Map<String, ByteIterator> fields) {
    if (fields.size() > MOST_FIELDS) {
      throw new IllegalArgumentException(fields.size() + " fields are too many");
    }
    List<String> names = new ArrayList<>(fields.keySet());
    names.sort(COUNTING);
    List<byte[]> values = new ArrayList<>(names.size());
    names.forEach(name -> values.add(fields.get(name).toArray()));
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    record.write(FORMAT);
    putNumber(record, names.size());
    for (int from = 0, to; from < names.size(); from = to) {
      to = from + 1;
      while (to < names.size() && names.get(to).equals(successor(names.get(to - 1)))) {
        to++;
      }
      byte[] first = names.get(from).getBytes(StandardCharsets.UTF_8);
      putNumber(record, to - from);
      putNumber(record, first.length);
      record.writeBytes(first);
    }
    for (int from = 0, to; from < values.size(); from = to) {
      int length = values.get(from).length;
      to = from + 1;
      while (to < values.size() && values.get(to).length == length) {
        to++;
      }
      putNumber(record, to - from);
      putNumber(record, length);
    }
    values.forEach(record::writeBytes);
    int check = check(record.toByteArray(), record.size());
    for (int shift = Integer.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      record.write(check >>> shift);
    }
    return record.toByteArray();
  }

  /** The next name of a run, whose number at the end is greater by one; null when there is none. */
  private static String successor(String name) {
    int at = name.length();
    while (at > 0 && name.charAt(at - 1) == '9') {
      at--;
    }
    String zeros = "0".repeat(name.length() - at);
    char last = at > 0 ? name.charAt(at - 1) : ' ';
    if (last >= '0' && last < '9') {
      return name.substring(0, at - 1) + (char) (last + 1) + zeros;
    }
    return zeros.isEmpty() ? null : name.substring(0, at) + '1' + zeros;
  }

  /**
   * Decodes fields. The values share {@code record}.
   *
   * @param wanted names of the fields to return, null for all; a name that the record does not have
   *     is left out
   * @throws CorruptRecordException when the bytes are not a record
   */
  static void decode(byte[] record, Set<String> wanted, Map<String, ByteIterator> result)
      throws CorruptRecordException {
    ByteBuffer rest = checked(record);
    try {
      int count = takeNumber(rest, MOST_FIELDS);
      List<String> names = takeNames(rest, count);
      int[] lengths = takeLengths(rest, count);
      for (int i = 0; i < count; i++) {
        int at = skip(rest, lengths[i]);
        String name = names.get(i);
        if (wanted == null || wanted.contains(name)) {
          result.put(name, new ByteArrayByteIterator(record, at, lengths[i]));
        }
      }
    } catch (BufferUnderflowException e) {
      throw new CorruptRecordException("a field goes beyond the end");
    }
    if (rest.hasRemaining()) {
      throw new CorruptRecordException(rest.remaining() + " bytes too many");
    }
  }

  /** The bytes between format and checksum, after both were checked. */
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

  private static List<String> takeNames(ByteBuffer rest, int count) throws CorruptRecordException {
    List<String> names = new ArrayList<>(count);
    while (names.size() < count) {
      int run = takeRun(rest, count - names.size());
      int length = takeNumber(rest, rest.remaining());
      int at = skip(rest, length);
      String name = new String(rest.array(), at, length, StandardCharsets.UTF_8);
      for (int i = 0; i < run; i++) {
        if (name == null) {
          throw new CorruptRecordException("a name does not count up");
        }
        names.add(name);
        name = i + 1 < run ? successor(name) : null;
      }
    }
    return names;
  }

  private static int[] takeLengths(ByteBuffer rest, int count) throws CorruptRecordException {
    int[] lengths = new int[count];
    for (int from = 0; from < count; ) {
      int run = takeRun(rest, count - from);
      int length = takeNumber(rest, rest.remaining());
      Arrays.fill(lengths, from, from + run, length);
      from += run;
    }
    return lengths;
  }

  private static int takeRun(ByteBuffer rest, int most) throws CorruptRecordException {
    int run = takeNumber(rest, most);
    if (run == 0) {
      throw new CorruptRecordException("an empty run");
    }
    return run;
  }

  private static int skip(ByteBuffer rest, int length) {
    int at = rest.position();
    if (length > rest.remaining()) {
      throw new BufferUnderflowException();
    }
    rest.position(at + length);
    return at;
  }

  private static void putNumber(ByteArrayOutputStream target, int number) {
    int left = number;
    while (left > 0x7f) {
      target.write(left | 0x80);
      left >>>= 7;
    }
    target.write(left);
  }

  private static int takeNumber(ByteBuffer rest, int most) throws CorruptRecordException {
    long number = 0;
    for (int shift = 0; shift < 7 * MOST_NUMBER_BYTES; shift += 7) {
      byte next = rest.get();
      number |= (long) (next & 0x7f) << shift;
      if (next >= 0 && number <= most) {
        return (int) number;
      }
    }
    throw new CorruptRecordException("a number above " + most);
  }

  private static int check(byte[] bytes, int length) {
    CRC32C check = new CRC32C();
    check.update(bytes, 0, length);
    return (int) check.getValue();
  }
}
