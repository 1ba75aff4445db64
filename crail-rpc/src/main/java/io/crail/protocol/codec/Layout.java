/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The layout of a message. It begins with a fixed part: little-endian fields at fixed offsets. The
 * tails follow in order; the fixed part holds the number of elements of each. So the lengths of all
 * tails follow from the fixed part, and {@link #check} can refuse a short or long message before
 * any field is used.
 *
 * <p>The declaration is also the diagram, with one line for each field. Code looks up offsets in it
 * by name, and the page {@code docs/wire-protocol.md} is generated from it. Immutable once built.
 */
public final class Layout {
  /**
   * A field of the fixed part.
   *
   * @param part the codec of a part with a layout of its own; otherwise null
   */
  public record Field(String name, int offset, int width, String meaning, Codec<?> part) {
    /** The number in a field: unsigned with 1 or 2 bytes, signed with 4. */
    int get(ByteBuffer in, int messageOffset) {
      int at = messageOffset + offset;
      return width == 1 ? in.get(at) & 0xff : width == 2 ? in.getShort(at) & 0xffff : in.getInt(at);
    }

    /** Sets the number of a field of 1, 2 or 4 bytes. */
    void put(ByteBuffer out, int messageOffset, int value) {
      int at = messageOffset + offset;
      if (width == 1) {
        out.put(at, (byte) value);
      } else if (width == 2) {
        out.putShort(at, (short) value);
      } else {
        out.putInt(at, value);
      }
    }
  }

  /**
   * A variable part.
   *
   * @param countField the field that holds the number of elements
   * @param elementLength bytes of an element
   * @param minCount least number of elements
   * @param maxCount most elements
   * @param element the codec of an element; null for bytes
   * @param page describes the elements in the bytes when these differ in length; otherwise null
   */
  public record Tail(
      String name,
      Field countField,
      int elementLength,
      int minCount,
      int maxCount,
      String meaning,
      Codec<?> element,
      Page page) {}

  /**
   * Elements of different lengths.
   *
   * @param countField the field that holds their number; null when there is exactly one
   * @param maxCount most elements
   */
  public record Page(Field countField, int maxCount, Codec<?> element) {}

  private final String name;
  private final List<Field> fields = new ArrayList<>();
  private final List<Tail> tails = new ArrayList<>();
  private int fixedLength;

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
  public Layout struct(String field, Codec<?> part) {
    return struct(field, part, "");
  }

  /** As {@link #struct(String, Codec)}, with its meaning in this message. */
  public Layout struct(String field, Codec<?> part, String meaning) {
    Layout own = part.layout();
    if (!own.tails.isEmpty()) {
      throw new IllegalArgumentException("a part with tails has no fixed length");
    }
    String text = (meaning.isEmpty() ? "" : meaning + "; ") + "see " + own.name;
    return add(new Field(field, fixedLength, own.fixedLength, text, part));
  }

  /** Adds a tail of bytes; {@code countField} holds their number. */
  public Layout bytes(String tail, String countField, int minCount, int maxCount, String meaning) {
    return add(new Tail(tail, field(countField), 1, minCount, maxCount, meaning, null, null));
  }

  /** Adds a tail of parts with one fixed layout; {@code countField} holds their number. */
  public Layout list(String tail, String countField, Codec<?> element, int maxCount) {
    Layout own = element.layout();
    return add(
        new Tail(
            tail,
            field(countField),
            own.fixedLength,
            0,
            maxCount,
            "see " + own.name,
            element,
            null));
  }

  /**
   * Adds a tail of parts of different lengths.
   *
   * @param countField holds their number
   * @param lengthField holds the bytes of all
   * @param maxLength most bytes of all
   */
  public Layout page(
      String tail, String countField, String lengthField, Codec<?> element, int maxLength) {
    Page page = new Page(field(countField), maxLength / element.layout().fixedLength, element);
    String meaning = tail + ", each a " + element.layout().name;
    return add(new Tail(tail, field(lengthField), 1, 0, maxLength, meaning, null, page));
  }

  /**
   * Adds a tail of parts that have tails of their own.
   *
   * @param countField holds their number
   * @param lengthField holds the bytes of all
   * @param maxCount most parts
   */
  public Layout parts(
      String tail, String countField, String lengthField, Codec<?> part, int maxCount) {
    Layout own = part.layout();
    Page page = new Page(field(countField), maxCount, part);
    String meaning = "at most " + maxCount + ", see " + own.name;
    return add(
        new Tail(tail, field(lengthField), 1, 0, maxCount * own.maxLength(), meaning, null, page));
  }

  /**
   * Adds a tail that is one part with tails of its own.
   *
   * @param lengthField holds its bytes
   */
  public Layout part(String tail, String lengthField, Codec<?> part, String meaning) {
    Layout own = part.layout();
    String text = meaning + "; see " + own.name;
    return add(
        new Tail(
            tail,
            field(lengthField),
            1,
            own.fixedLength,
            own.maxLength(),
            text,
            null,
            new Page(null, 1, part)));
  }

  private Layout add(String field, int width, String meaning) {
    return add(new Field(field, fixedLength, width, meaning, null));
  }

  private Layout add(Field field) {
    if (!tails.isEmpty()) {
      throw new IllegalStateException("fields stand before tails");
    }
    fields.add(field);
    fixedLength += field.width;
    return this;
  }

  private Layout add(Tail tail) {
    tails.add(tail);
    return this;
  }

  /** The codecs of the parts that have a layout of their own, in the order of the message. */
  public List<Codec<?>> parts() {
    return Stream.concat(
            fields.stream().map(Field::part),
            tails.stream().map(tail -> tail.page == null ? tail.element : tail.page.element))
        .filter(Objects::nonNull)
        .collect(Collectors.toList());
  }

  /** The field of a name. */
  Field field(String fieldName) {
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

  /** The greatest length of such a message in bytes. */
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
    for (int i = 0; i < tails.size(); i++) {
      Tail tail = tails.get(i);
      int count = tail.countField.get(buffer, offset);
      requireBetween(tail.minCount, count, tail.maxCount, tail.countField);
      if (tail.page != null && tail.page.countField != null) {
        int elements = tail.page.countField.get(buffer, offset);
        requireBetween(0, elements, tail.page.maxCount, tail.page.countField);
      }
      expected += count * tail.elementLength;
    }
    if (length != expected) {
      throw refuse(length);
    }
  }

  private void requireBetween(int least, int count, int most, Field field) throws CrailException {
    if (count < least || count > most) {
      throw ErrorCode.PROTOCOL.exception(
          name + ": " + field.name + " is " + count + ", must be " + least + " to " + most);
    }
  }

  /** Where a tail begins in a message that was checked. */
  int tailOffset(int index, ByteBuffer buffer, int offset) {
    int at = offset + fixedLength;
    for (int i = 0; i < index; i++) {
      Tail tail = tails.get(i);
      at += tail.countField.get(buffer, offset) * tail.elementLength;
    }
    return at;
  }

  /**
   * The length of the message at {@code offset} according to its own counts. When fewer bytes are
   * left there, their number, and then {@link #check} refuses the message.
   */
  int lengthAt(ByteBuffer buffer, int offset, int left) {
    return left < fixedLength
        ? left
        : Math.min(left, tailOffset(tails.size(), buffer, offset) - offset);
  }

  private CrailException refuse(int length) {
    return ErrorCode.PROTOCOL.exception(name + " has the wrong length " + length);
  }
}
