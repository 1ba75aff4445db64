/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Extent;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * Makes messages with correct lengths and the values that an attacker tries: limits and their
 * neighbours, ids of other clients, and outdated values. A {@link Layout} is enough to make a
 * message, so every operation with a layout is attacked. Not thread-safe.
 */
public final class Hostile {
  private static final long[] LIMITS = {
    0,
    1,
    -1,
    2,
    127,
    128,
    255,
    256,
    4095,
    4096,
    4097,
    65_535,
    65_536,
    1 << 20,
    (1 << 20) + 1,
    1 << 30,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    1L << 32,
    1L << 56,
    (1L << 56) + 1,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };
  private static final int MOST_REMEMBERED = 64;
  private static final int USUAL_TAIL = 12;
  private static final int MOST_TAIL_BYTES = 8192;

  private final Choices choices;
  private final List<byte[]> paths;
  private final List<Long> remembered = new ArrayList<>();

  /**
   * Creates a maker of messages.
   *
   * @param paths valid and invalid paths to use
   */
  public Hostile(Choices choices, List<String> paths) {
    this.choices = choices;
    this.paths = paths.stream().map(path -> path.getBytes(StandardCharsets.UTF_8)).toList();
  }

  /** Remembers the numbers in an answer: they are ids, tokens, generations. */
  public void remember(Object answer) {
    if (answer instanceof Long number) {
      if (remembered.size() == MOST_REMEMBERED) {
        remembered.set(choices.below(MOST_REMEMBERED), number);
      } else if (!remembered.contains(number)) {
        remembered.add(number);
      }
    } else if (answer instanceof Collection<?> many) {
      many.forEach(this::remember);
    } else if (answer instanceof Extent extent) {
      remember(extent.fileOffset());
      remember(extent.place());
    } else if (answer instanceof Record record) {
      for (RecordComponent component : record.getClass().getRecordComponents()) {
        try {
          component.getAccessor().setAccessible(true);
          Object value = component.getAccessor().invoke(record);
          if (!(value instanceof Utf8)) {
            remember(value);
          }
        } catch (ReflectiveOperationException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  /** A message of this layout. */
  public byte[] make(Layout layout) {
    int length = layout.fixedLength();
    List<byte[]> parts = new ArrayList<>();
    for (Layout.Tail tail : layout.tails()) {
      byte[] part = isPath(tail) ? path(tail) : part(tail);
      parts.add(part);
      length += part.length;
    }
    ByteBuffer message = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    for (Layout.Field field : layout.fields()) {
      fill(message, field.offset(), field.width());
    }
    message.position(layout.fixedLength());
    for (int i = 0; i < parts.size(); i++) {
      Layout.Tail tail = layout.tails().get(i);
      put(message, tail.countField(), parts.get(i).length / tail.elementLength());
      message.put(parts.get(i));
      if (tail.page() != null && tail.page().countField() != null) {
        limit(message, tail.page().countField(), tail.page().maxCount());
      }
    }
    return message.array();
  }

  /** Whoever sends a greater number breaks the protocol, which is no message of this layout. */
  private static void limit(ByteBuffer message, Layout.Field field, int most) {
    long number =
        switch (field.width()) {
          case 1 -> Byte.toUnsignedLong(message.get(field.offset()));
          case 2 -> Short.toUnsignedLong(message.getShort(field.offset()));
          case 4 -> message.getInt(field.offset());
          default -> message.getLong(field.offset());
        };
    if (number < 0 || number > most) {
      put(message, field, most);
    }
  }

  static boolean isPath(Layout.Tail tail) {
    return List.of("path", "source", "target").contains(tail.name());
  }

  private byte[] path(Layout.Tail tail) {
    byte[] path = paths.get(choices.below(paths.size()));
    return path.length < tail.minCount() || path.length > tail.maxCount() ? part(tail) : path;
  }

  /** Mostly short, sometimes of the greatest length. Made of filled parts or of letters. */
  private byte[] part(Layout.Tail tail) {
    if (tail.page() != null && tail.page().countField() == null) {
      return make(tail.page().element().layout());
    }
    int most = tail.maxCount();
    int usual = Math.min(most, Math.max(tail.minCount(), USUAL_TAIL));
    int count =
        switch (choices.below(8)) {
          case 0 -> tail.minCount();
          case 1 -> Math.min(most, MOST_TAIL_BYTES / tail.elementLength());
          default -> tail.minCount() + choices.below(usual - tail.minCount() + 1);
        };
    ByteBuffer part =
        ByteBuffer.allocate(count * tail.elementLength()).order(ByteOrder.LITTLE_ENDIAN);
    if (tail.elementLength() > 1) {
      for (int i = 0; i < count; i++) {
        fill(part, i * tail.elementLength(), tail.elementLength());
      }
    } else {
      byte letter = (byte) (choices.below(16) == 0 ? choices.below(256) : 'a' + choices.below(4));
      Arrays.fill(part.array(), letter);
    }
    return part.array();
  }

  /**
   * Fills a field. A field that is a structure is filled with numbers of eight, four and one bytes.
   */
  void fill(ByteBuffer message, int offset, int width) {
    int at = offset;
    int end = offset + width;
    while (at < end) {
      long value = number(end - at);
      if (end - at >= Long.BYTES) {
        message.putLong(at, value);
        at += Long.BYTES;
      } else if (end - at >= Integer.BYTES) {
        message.putInt(at, (int) value);
        at += Integer.BYTES;
      } else if (end - at == Short.BYTES) {
        message.putShort(at, (short) value);
        at += Short.BYTES;
      } else {
        message.put(at, (byte) value);
        at++;
      }
    }
  }

  /** A number for a field of {@code width} bytes, or too large for it. */
  public long number(int width) {
    switch (choices.below(8)) {
      case 0:
        return LIMITS[choices.below(LIMITS.length)];
      case 1:
        return choices.bits();
      case 2:
      case 3:
      case 4:
        return width >= Long.BYTES && !remembered.isEmpty()
            ? remembered.get(choices.below(remembered.size()))
            : choices.below(8);
      case 5:
        return width >= Long.BYTES && !remembered.isEmpty()
            ? remembered.get(choices.below(remembered.size())) + choices.below(5) - 2
            : choices.below(256);
      default:
        return choices.below(8);
    }
  }

  /** Sets a count field. */
  static void put(ByteBuffer message, Layout.Field field, long value) {
    switch (field.width()) {
      case 1 -> message.put(field.offset(), (byte) value);
      case 2 -> message.putShort(field.offset(), (short) value);
      case 4 -> message.putInt(field.offset(), (int) value);
      default -> message.putLong(field.offset(), value);
    }
  }
}
