/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.util.List;

/** How a record's component that is a tail is stored in a message. */
abstract class TailForm {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  final Layout layout;
  final Layout.Tail tail;
  private final int index;

  private TailForm(Layout layout, int index) {
    this.layout = layout;
    this.tail = layout.tails().get(index);
    this.index = index;
  }

  static TailForm of(RecordComponent component, Layout layout, int index) {
    Layout.Tail tail = layout.tails().get(index);
    Class<?> type = component.getType();
    if (tail.page() != null) {
      return tail.page().countField() == null
          ? new PartForm(layout, index)
          : new PageForm(layout, index);
    }
    if (tail.element() != null) {
      return new ListForm(layout, index);
    }
    if (type == Utf8.class) {
      return new Utf8Form(layout, index);
    }
    if (type == SmallValue.class) {
      return new ValueForm(layout, index);
    }
    throw new IllegalArgumentException(component + " cannot be bytes");
  }

  /** Fields of the fixed part that belong to it. */
  int fields() {
    return 1;
  }

  /** Bytes of a value. */
  abstract int length(Object value);

  /** Writes a value, and the fields at {@code offset} that belong to it. */
  abstract void encode(Object value, ByteBuffer out, int offset, int at);

  /** Reads a value with this number of elements; its length was checked. */
  abstract Object read(ByteBuffer in, int offset, int at, int count) throws CrailException;

  private Object readAt(ByteBuffer in, int offset) throws CrailException {
    int at = layout.tailOffset(index, in, offset);
    return read(in, offset, at, tail.countField().get(in, offset));
  }

  MethodHandle reader(Class<?> type) {
    try {
      return LOOKUP
          .findVirtual(
              TailForm.class,
              "readAt",
              MethodType.methodType(Object.class, ByteBuffer.class, int.class))
          .bindTo(this)
          .asType(MethodType.methodType(type, ByteBuffer.class, int.class));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static final class Utf8Form extends TailForm {
    private Utf8Form(Layout layout, int index) {
      super(layout, index);
    }

    @Override
    int length(Object value) {
      return ((Utf8) value).length();
    }

    @Override
    void encode(Object value, ByteBuffer out, int offset, int at) {
      Utf8 text = (Utf8) value;
      tail.countField().put(out, offset, text.length());
      text.copyTo(out, at);
    }

    @Override
    Object read(ByteBuffer in, int offset, int at, int count) {
      return Utf8.copyOf(in, at, count);
    }
  }

  private static final class ValueForm extends TailForm {
    private ValueForm(Layout layout, int index) {
      super(layout, index);
    }

    @Override
    int length(Object value) {
      return ((SmallValue) value).length();
    }

    @Override
    void encode(Object value, ByteBuffer out, int offset, int at) {
      SmallValue bytes = (SmallValue) value;
      tail.countField().put(out, offset, bytes.length());
      bytes.copyTo(out, at);
    }

    @Override
    Object read(ByteBuffer in, int offset, int at, int count) {
      return SmallValue.copyOf(in, at, count);
    }
  }

  /** One part with tails of its own. */
  private static final class PartForm extends TailForm {
    private final Codec<Object> part;

    @SuppressWarnings("unchecked")
    private PartForm(Layout layout, int index) {
      super(layout, index);
      this.part = (Codec<Object>) tail.page().element();
    }

    @Override
    int length(Object value) {
      return part.length(value);
    }

    @Override
    void encode(Object value, ByteBuffer out, int offset, int at) {
      tail.countField().put(out, offset, part.length(value));
      part.encode(value, out, at);
    }

    @Override
    Object read(ByteBuffer in, int offset, int at, int length) throws CrailException {
      return part.decode(in, at, length);
    }
  }

  /** Elements of one length. */
  private static class ListForm extends TailForm {
    final Codec<Object> element;

    @SuppressWarnings("unchecked")
    private ListForm(Layout layout, int index) {
      super(layout, index);
      Codec<?> one = tail.element() == null ? tail.page().element() : tail.element();
      this.element = (Codec<Object>) one;
    }

    @Override
    int length(Object value) {
      return ((List<?>) value).size() * tail.elementLength();
    }

    @Override
    void encode(Object value, ByteBuffer out, int offset, int at) {
      List<?> elements = (List<?>) value;
      tail.countField().put(out, offset, elements.size());
      int next = at;
      for (Object each : elements) {
        element.encode(each, out, next);
        next += tail.elementLength();
      }
    }

    @Override
    Object read(ByteBuffer in, int offset, int at, int count) throws CrailException {
      if (count == 0) {
        return List.of();
      }
      Object[] elements = new Object[count];
      for (int i = 0; i < count; i++) {
        elements[i] = element.read(in, at + i * tail.elementLength());
      }
      return List.of(elements);
    }
  }

  /** Elements of different lengths. */
  private static final class PageForm extends ListForm {
    private PageForm(Layout layout, int index) {
      super(layout, index);
    }

    @Override
    int fields() {
      return 2;
    }

    @Override
    @SuppressWarnings("unchecked")
    int length(Object value) {
      return element.lengthOfAll((List<Object>) value);
    }

    @Override
    @SuppressWarnings("unchecked")
    void encode(Object value, ByteBuffer out, int offset, int at) {
      List<Object> elements = (List<Object>) value;
      tail.page().countField().put(out, offset, elements.size());
      tail.countField().put(out, offset, element.lengthOfAll(elements));
      element.encodeAll(elements, out, at);
    }

    @Override
    Object read(ByteBuffer in, int offset, int at, int length) throws CrailException {
      return element.decodeAll(in, at, tail.page().countField().get(in, offset), length);
    }
  }
}
