/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * How a message becomes bytes and back, by its {@link Layout}. Stateless and thread-safe. Buffers
 * are little-endian and accessed at absolute offsets.
 *
 * @param <T> the message, a record
 */
public abstract class Codec<T> {
  /** The codec of a 128-bit identity. */
  public static final Codec<UUID> UUID =
      new Codec<>(
          UUID.class, Layout.of("UUID").i64("high", "upper half").i64("low", "lower half")) {
        @Override
        public void encode(UUID message, ByteBuffer out, int offset) {
          out.putLong(offset, message.getMostSignificantBits());
          out.putLong(offset + Long.BYTES, message.getLeastSignificantBits());
        }

        @Override
        public UUID read(ByteBuffer in, int offset) {
          return new UUID(in.getLong(offset), in.getLong(offset + Long.BYTES));
        }
      };

  private final Class<T> type;
  private final Layout layout;

  /** Creates a codec for messages of this layout. */
  protected Codec(Class<T> type, Layout layout) {
    this.type = type;
    this.layout = layout;
  }

  /**
   * Derives the codec of a record from its layout: each component is the field or the tail of its
   * name. Fields are {@code boolean}, {@code int}, {@code long} or records with a codec of their
   * own; tails are {@link io.crail.common.Utf8}, {@link SmallValue}, records, or lists of values
   * that have a codec.
   */
  public static <T extends Record> Codec<T> of(Class<T> type, Layout layout) {
    return new RecordCodec<>(type, layout);
  }

  /** The codec of a 64-bit number, for lists of numbers. */
  public static Codec<Long> ofLong(String name, String field, String meaning) {
    return new Codec<>(Long.class, Layout.of(name).i64(field, meaning)) {
      @Override
      public void encode(Long message, ByteBuffer out, int offset) {
        out.putLong(offset, message);
      }

      @Override
      public Long read(ByteBuffer in, int offset) {
        return in.getLong(offset);
      }
    };
  }

  /** As {@link #ofLong}, for a 32-bit number. */
  public static Codec<Integer> ofInt(String name, String field, String meaning) {
    return new Codec<>(Integer.class, Layout.of(name).i32(field, meaning)) {
      @Override
      public void encode(Integer message, ByteBuffer out, int offset) {
        out.putInt(offset, message);
      }

      @Override
      public Integer read(ByteBuffer in, int offset) {
        return in.getInt(offset);
      }
    };
  }

  /** The Java type of the message. */
  public final Class<T> type() {
    return type;
  }

  /** The layout. */
  public final Layout layout() {
    return layout;
  }

  /** The exact length of this message in bytes. */
  public int length(T message) {
    return layout.fixedLength();
  }

  /** Writes a message. */
  public abstract void encode(T message, ByteBuffer out, int offset);

  /** Reads a message whose lengths have been checked. */
  public abstract T read(ByteBuffer in, int offset) throws CrailException;

  /**
   * Checks and reads a message.
   *
   * @throws CrailException with {@code PROTOCOL} when the bytes are no such message
   */
  public final T decode(ByteBuffer in, int offset, int length) throws CrailException {
    layout.check(in, offset, length);
    return read(in, offset);
  }

  /** The exact length of several messages in bytes. */
  public final int lengthOfAll(List<T> messages) {
    int length = 0;
    for (int i = 0; i < messages.size(); i++) {
      length += length(messages.get(i));
    }
    return length;
  }

  /** Writes several messages, one after the other. */
  public final void encodeAll(List<T> messages, ByteBuffer out, int offset) {
    int at = offset;
    for (int i = 0; i < messages.size(); i++) {
      T message = messages.get(i);
      encode(message, out, at);
      at += length(message);
    }
  }

  /**
   * Checks and reads several messages, one after the other.
   *
   * @param count their number
   * @param length bytes of all
   * @throws CrailException with {@code PROTOCOL} when the bytes are not so many messages
   */
  @SuppressWarnings("unchecked")
  public final List<T> decodeAll(ByteBuffer in, int offset, int count, int length)
      throws CrailException {
    // Before room is made for them, since the count may be a lie.
    if (count * (long) layout.fixedLength() > length || (count == 0 && length > 0)) {
      throw ErrorCode.PROTOCOL.exception(length + " bytes for " + count + " x " + layout.name());
    }
    if (count == 0) {
      return List.of();
    }
    int end = offset + length;
    int at = offset;
    Object[] messages = new Object[count];
    for (int i = 0; i < count; i++) {
      int own = checkedLengthAt(in, at, end - at);
      messages[i] = read(in, at);
      at += own;
    }
    if (at != end) {
      throw ErrorCode.PROTOCOL.exception("bytes after the last " + layout.name());
    }
    return (List<T>) Arrays.asList(messages);
  }

  /**
   * The length of a message by its own counts, which are checked. Overridden where that takes too
   * long.
   *
   * @param left bytes that are there
   */
  protected int checkedLengthAt(ByteBuffer in, int offset, int left) throws CrailException {
    int length = layout.lengthAt(in, offset, left);
    layout.check(in, offset, length);
    return length;
  }
}
