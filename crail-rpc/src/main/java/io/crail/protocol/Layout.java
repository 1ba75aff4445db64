/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a message: a fixed part of little-endian fields at fixed offsets, and behind it, in
 * order, tails whose element counts stand in the fixed part. The lengths of all tails follow from
 * the fixed part, so {@link #check} can refuse a short or long message before any field is used.
 *
 * <p>The declaration is the diagram: one line a field. Offsets are taken from it by name, the page
 * {@code docs/wire-protocol.md} is generated from it. Immutable once built.
 */
public final class Layout {
  /** A field of the fixed part. */
  public record Field(String name, int offset, int width, String meaning) {}

  /**
   * A variable part.
   *
   * @param countField the field that holds the number of elements
   * @param elementLength bytes of an element
   * @param minCount least number of elements
   * @param maxCount most elements
   */
  public record Tail(
      String name,
      Field countField,
      int elementLength,
      int minCount,
      int maxCount,
      String meaning) {}

  private final String name;
  private final List<Field> fields = new ArrayList<>();
  private final List<Tail> tails = new ArrayList<>();
  private int fixedLength;
  private int[] countOffsets = {};
  private int[] countWidths = {};

  private Layout(String name) {
    this.name = name;
  }

  /** Starts the layout of the message {@code name}. */
  public static Layout of(String name) {
    return new Layout(name);
  }

  /** Adds an unsigned byte. */
  public Layout u8(String field, String meaning) {
    return add(field, 1, meaning);
  }

  /** Adds an unsigned 16-bit integer. */
  public Layout u16(String field, String meaning) {
    return add(field, 2, meaning);
  }

  /** Adds a signed 32-bit integer. */
  public Layout i32(String field, String meaning) {
    return add(field, 4, meaning);
  }

  /** Adds a signed 64-bit integer. */
  public Layout i64(String field, String meaning) {
    return add(field, 8, meaning);
  }

  /** Adds a part with a layout of its own that has no tails. */
  public Layout struct(String field, Layout part) {
    if (!part.tails.isEmpty()) {
      throw new IllegalArgumentException("a part with tails has no fixed length");
    }
    return add(field, part.fixedLength, "see " + part.name);
  }

  /** Adds a tail of bytes; {@code countField} holds their number. */
  public Layout bytes(String tail, String countField, int minCount, int maxCount, String meaning) {
    return tail(tail, countField, 1, minCount, maxCount, meaning);
  }

  /** Adds a tail of parts with one fixed layout; {@code countField} holds their number. */
  public Layout list(String tail, String countField, Layout element, int maxCount) {
    return tail(tail, countField, element.fixedLength, 0, maxCount, "see " + element.name);
  }

  private Layout add(String field, int width, String meaning) {
    if (!tails.isEmpty()) {
      throw new IllegalStateException("fields stand before tails");
    }
    fields.add(new Field(field, fixedLength, width, meaning));
    fixedLength += width;
    return this;
  }

  private Layout tail(
      String tail,
      String countField,
      int elementLength,
      int minCount,
      int maxCount,
      String meaning) {
    tails.add(new Tail(tail, field(countField), elementLength, minCount, maxCount, meaning));
    countOffsets = tails.stream().mapToInt(t -> t.countField.offset).toArray();
    countWidths = tails.stream().mapToInt(t -> t.countField.width).toArray();
    return this;
  }

  private Field field(String fieldName) {
    return fields.stream()
        .filter(field -> field.name.equals(fieldName))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(name + " has no field " + fieldName));
  }

  /** The name of the message. */
  public String name() {
    return name;
  }

  /** The fields of the fixed part. */
  public List<Field> fields() {
    return List.copyOf(fields);
  }

  /** The tails. */
  public List<Tail> tails() {
    return List.copyOf(tails);
  }

  /** Bytes of the fixed part. */
  public int fixedLength() {
    return fixedLength;
  }

  /** The offset of a field of the fixed part. */
  public int offset(String fieldName) {
    return field(fieldName).offset;
  }

  /** The most bytes that such a message has. */
  public int maxLength() {
    int length = fixedLength;
    for (Tail tail : tails) {
      length += tail.maxCount * tail.elementLength;
    }
    return length;
  }

  /**
   * Checks the length of a message against its own counts.
   *
   * @throws CrailException with {@link ErrorCode#PROTOCOL} when it is too short, too long, or a
   *     tail has too few or too many elements
   */
  public void check(ByteBuffer buffer, int offset, int length) throws CrailException {
    if (length < fixedLength) {
      throw refuse(length);
    }
    int expected = fixedLength;
    for (int i = 0; i < countOffsets.length; i++) {
      int at = offset + countOffsets[i];
      int count =
          countWidths[i] == 1
              ? buffer.get(at) & 0xff
              : countWidths[i] == 2 ? buffer.getShort(at) & 0xffff : buffer.getInt(at);
      Tail tail = tails.get(i);
      if (count < tail.minCount || count > tail.maxCount) {
        throw ErrorCode.PROTOCOL.exception(
            name
                + ": "
                + tail.countField.name
                + " is "
                + count
                + ", must be "
                + tail.minCount
                + " to "
                + tail.maxCount);
      }
      expected += count * tail.elementLength;
    }
    if (length != expected) {
      throw refuse(length);
    }
  }

  private CrailException refuse(int length) {
    return ErrorCode.PROTOCOL.exception(name + " has the wrong length " + length);
  }
}
