/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Checksum;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Makes messages of any kind from their record and their layout, whose names must agree. So a new
 * operation is tested without a line of test code.
 */
final class Messages {
  private final Values values;

  private Messages(Values values) {
    this.values = values;
  }

  /** Messages with random values, the extreme ones often. */
  static Messages random(Random random) {
    return new Messages(new RandomValues(random));
  }

  /** Messages whose bytes count upwards, so that offset and order of each field can be seen. */
  static Messages telling() {
    return new Messages(new TellingValues());
  }

  /** A message of type {@code record}, which has a field {@code LAYOUT}. */
  <T> T make(Class<T> record) {
    return record.cast(make(record, layoutOf(record)));
  }

  /** What an extent has by its layout; it is no record itself. */
  private record ExtentParts(
      long fileOffset, int length, Checksum checksum, Place place, List<Place> copies) {
    Extent extent() {
      return Extent.of(fileOffset, length, checksum, place, copies);
    }
  }

  private Object make(Class<?> record, Layout layout) {
    if (record == Extent.class) {
      return ((ExtentParts) make(ExtentParts.class, layout)).extent();
    }
    RecordComponent[] components = record.getRecordComponents();
    Object[] arguments = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      arguments[i] = value(components[i], layout);
    }
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      Constructor<?> constructor = record.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(record + " " + Arrays.toString(arguments), e);
    }
  }

  private Object value(RecordComponent component, Layout layout) {
    String name = component.getName();
    Class<?> type = component.getType();
    if (type == Utf8.class) {
      Layout.Tail tail = tail(layout, name);
      return Utf8.copyOf(values.text(name, tail), 0, values.lastTextLength());
    }
    if (type == SmallValue.class) {
      return SmallValue.of(values.text(name, tail(layout, name)));
    }
    if (type == List.class) {
      Layout.Tail tail = tail(layout, name);
      Type element = ((ParameterizedType) component.getGenericType()).getActualTypeArguments()[0];
      int most = tail.page() == null ? tail.maxCount() : tail.page().maxCount();
      int count = Math.min(values.count(tail), most);
      List<Object> list = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        list.add(
            element == Integer.class
                ? (Object) (int) values.number(4)
                : element == Long.class
                    ? (Object) values.number(8)
                    : make((Class<?>) element, layoutOf((Class<?>) element)));
      }
      return list;
    }
    if (type.isRecord()) {
      return make(type, layoutOf(type));
    } else if (type.isEnum()) {
      return values.constant(type.getEnumConstants());
    }
    Layout.Field field = field(layout, name);
    if (type == boolean.class) {
      return values.flag();
    } else if (type == int.class) {
      return (int) values.number(field.width());
    } else if (type == long.class) {
      return values.number(field.width());
    }
    throw new AssertionError(layout.name() + "." + name + " has the unknown type " + type);
  }

  static Layout layoutOf(Class<?> record) {
    try {
      return (Layout) record.getField("LAYOUT").get(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(record + " declares no layout", e);
    }
  }

  private static Layout.Field field(Layout layout, String name) {
    return layout.fields().stream()
        .filter(field -> field.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(layout.name() + " has no field " + name));
  }

  private static Layout.Tail tail(Layout layout, String name) {
    return layout.tails().stream()
        .filter(tail -> tail.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(layout.name() + " has no tail " + name));
  }

  /** The source of the values. */
  private abstract static class Values {
    private int lastTextLength;

    /** A number that fits in {@code width} bytes; unsigned below four. */
    abstract long number(int width);

    abstract boolean flag();

    abstract int count(Layout.Tail tail);

    abstract byte[] newText(String name, Layout.Tail tail);

    abstract <E> E constant(E[] constants);

    final byte[] text(String name, Layout.Tail tail) {
      byte[] text = newText(name, tail);
      lastTextLength = text.length;
      return text;
    }

    final int lastTextLength() {
      return lastTextLength;
    }
  }

  private static final class RandomValues extends Values {
    private static final int MAX_COUNT = 5;
    private static final int MAX_TEXT = 60;

    private final Random random;

    RandomValues(Random random) {
      this.random = random;
    }

    @Override
    long number(int width) {
      long number =
          switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> 1L << (8 * width - 1);
            case 3 -> random.nextInt(100);
            default -> random.nextLong();
          };
      return switch (width) {
        case 1 -> number & 0xff;
        case 2 -> number & 0xffff;
        case 4 -> (int) number;
        default -> number;
      };
    }

    @Override
    boolean flag() {
      return random.nextBoolean();
    }

    @Override
    int count(Layout.Tail tail) {
      return between(tail, MAX_COUNT);
    }

    @Override
    byte[] newText(String name, Layout.Tail tail) {
      byte[] text = new byte[between(tail, MAX_TEXT)];
      random.nextBytes(text);
      return text;
    }

    @Override
    <E> E constant(E[] constants) {
      return constants[random.nextInt(constants.length)];
    }

    /** Mostly small, sometimes the least or the most; the most only where a frame can hold it. */
    private int between(Layout.Tail tail, int usual) {
      int least = tail.minCount();
      int most = tail.maxCount();
      return switch (random.nextInt(8)) {
        case 0 -> least;
        case 1 -> tail.elementLength() == 1 && most <= 1024 ? most : Math.min(most, usual);
        default -> least + random.nextInt(Math.min(most, least + usual) - least + 1);
      };
    }
  }

  private static final class TellingValues extends Values {
    private int next = 1;

    @Override
    long number(int width) {
      long number = 0;
      for (int i = 0; i < width; i++) {
        number |= (next++ & 0x7fL) << (8 * i);
      }
      return number;
    }

    @Override
    boolean flag() {
      return true;
    }

    @Override
    int count(Layout.Tail tail) {
      return Math.min(2, tail.maxCount());
    }

    @Override
    byte[] newText(String name, Layout.Tail tail) {
      return Utf8.of(name).toByteArray();
    }

    @Override
    <E> E constant(E[] constants) {
      return constants[constants.length - 1];
    }
  }
}
