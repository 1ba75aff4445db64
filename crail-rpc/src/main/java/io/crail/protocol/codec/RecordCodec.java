/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How a record becomes bytes and back, derived from its layout: each component is the field or the
 * tail of its name, and what counts the elements of a tail is no component. The handles are put
 * together when the codec is used first, so that a program pays for the messages that it sends.
 * Nothing is boxed.
 *
 * @param <T> the message
 */
final class RecordCodec<T extends Record> extends Codec<T> {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  private volatile Handles handles;

  /**
   * What a record is read and written with.
   *
   * @param read {@code (ByteBuffer, int) -> Record}
   * @param fields {@code (Record, ByteBuffer, int) -> void}, writes a component into its field
   * @param tails {@code (Record) -> Object}, gives the component that is a tail, in the order of
   *     the layout
   * @param forms how the tails are laid out
   */
  private record Handles(
      MethodHandle read, MethodHandle[] fields, MethodHandle[] tails, TailForm[] forms) {}

  RecordCodec(Class<T> type, Layout layout) {
    super(type, layout);
  }

  @Override
  public int length(T message) {
    Handles use = handles();
    int length = layout().fixedLength();
    for (int i = 0; i < use.forms.length; i++) {
      length += use.forms[i].length(tail(use, i, message));
    }
    return length;
  }

  @Override
  public void encode(T message, ByteBuffer out, int offset) {
    Handles use = handles();
    try {
      for (MethodHandle field : use.fields) {
        field.invokeExact((Record) message, out, offset);
      }
    } catch (Throwable e) {
      throw unexpected(e);
    }
    int at = offset + layout().fixedLength();
    for (int i = 0; i < use.forms.length; i++) {
      Object value = tail(use, i, message);
      use.forms[i].encode(value, out, offset, at);
      at += use.forms[i].length(value);
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public T read(ByteBuffer in, int offset) throws CrailException {
    Handles use = handles();
    try {
      return (T) (Record) use.read.invokeExact(in, offset);
    } catch (CrailException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static Object tail(Handles use, int index, Record message) {
    try {
      return (Object) use.tails[index].invokeExact(message);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Accessors and primitives declare nothing; whatever they throw is passed on. */
  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException exception ? exception : new IllegalStateException(e);
  }

  private Handles handles() {
    Handles use = handles;
    if (use == null) {
      // Whoever does it at the same time gets the same.
      use = derive();
      handles = use;
    }
    return use;
  }

  private Handles derive() {
    try {
      RecordComponent[] components = type().getRecordComponents();
      MethodHandles.Lookup inside = MethodHandles.privateLookupIn(type(), LOOKUP);
      List<Layout.Tail> tails = layout().tails();
      MethodHandle[] readers = new MethodHandle[components.length];
      List<MethodHandle> fields = new ArrayList<>();
      MethodHandle[] tailGetters = new MethodHandle[tails.size()];
      TailForm[] forms = new TailForm[tails.size()];
      int known = 0;
      for (int i = 0; i < components.length; i++) {
        RecordComponent component = components[i];
        MethodHandle getter = inside.unreflect(component.getAccessor());
        int tail = indexOf(tails, component.getName());
        if (tail < 0) {
          FieldForm form = FieldForm.of(component, layout().field(component.getName()));
          readers[i] = form.reader();
          fields.add(
              MethodHandles.filterArguments(
                      form.writer(),
                      0,
                      getter.asType(getter.type().changeParameterType(0, Record.class)))
                  .asType(
                      MethodType.methodType(
                          void.class, Record.class, ByteBuffer.class, int.class)));
          known++;
        } else {
          forms[tail] = TailForm.of(component, layout(), tail);
          readers[i] = forms[tail].reader(component.getType());
          tailGetters[tail] = getter.asType(MethodType.methodType(Object.class, Record.class));
          known += forms[tail].fields();
        }
      }
      if (Arrays.asList(forms).contains(null) || known != layout().fields().size()) {
        throw new IllegalArgumentException(layout().name() + " has more than the record");
      }
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      MethodHandle read = inside.findConstructor(type(), MethodType.methodType(void.class, types));
      return new Handles(
          reading(read, readers), fields.toArray(new MethodHandle[0]), tailGetters, forms);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no access to " + type(), e);
    }
  }

  private static int indexOf(List<Layout.Tail> tails, String name) {
    for (int i = 0; i < tails.size(); i++) {
      if (tails.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /** A constructor whose arguments are all read from one place. */
  private static MethodHandle reading(MethodHandle constructor, MethodHandle[] readers) {
    MethodHandle read = constructor;
    // From the last one, so that the positions of those before it stay.
    for (int i = readers.length - 1; i >= 0; i--) {
      read = MethodHandles.collectArguments(read, i, readers[i]);
    }
    int[] order = new int[2 * readers.length];
    for (int i = 0; i < order.length; i++) {
      order[i] = i % 2;
    }
    MethodType one = MethodType.methodType(Record.class, ByteBuffer.class, int.class);
    return MethodHandles.permuteArguments(
        read.asType(read.type().changeReturnType(Record.class)), one, order);
  }

  private static MethodHandle find(String name, Class<?> result, Class<?>... parameters) {
    try {
      return LOOKUP.findStatic(FieldForm.class, name, MethodType.methodType(result, parameters));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * A component in the fixed part.
   *
   * @param reader {@code (ByteBuffer, int) -> component}
   * @param writer {@code (component, ByteBuffer, int) -> void}
   */
  private record FieldForm(MethodHandle reader, MethodHandle writer) {
    static FieldForm of(RecordComponent component, Layout.Field field) {
      Class<?> type = component.getType();
      int at = field.offset();
      if (field.part() != null) {
        return new FieldForm(
            MethodHandles.insertArguments(
                    find(
                        "readPart",
                        Object.class,
                        Codec.class,
                        int.class,
                        ByteBuffer.class,
                        int.class),
                    0,
                    field.part(),
                    at)
                .asType(MethodType.methodType(type, ByteBuffer.class, int.class)),
            MethodHandles.insertArguments(
                    find(
                        "writePart",
                        void.class,
                        Codec.class,
                        int.class,
                        Object.class,
                        ByteBuffer.class,
                        int.class),
                    0,
                    field.part(),
                    at)
                .asType(MethodType.methodType(void.class, type, ByteBuffer.class, int.class)));
      }
      String name =
          switch (type.getName() + field.width()) {
            case "boolean1" -> "Flag";
            case "int1" -> "U8";
            case "int2" -> "U16";
            case "boolean4" -> "WideFlag";
            case "int4" -> "I32";
            case "long8" -> "I64";
            default ->
                throw new IllegalArgumentException(
                    component + " has no form of " + field.width() + " bytes");
          };
      return new FieldForm(
          MethodHandles.insertArguments(
              find("read" + name, type, int.class, ByteBuffer.class, int.class), 0, at),
          MethodHandles.insertArguments(
              find("write" + name, void.class, int.class, type, ByteBuffer.class, int.class),
              0,
              at));
    }

    private static boolean readFlag(int at, ByteBuffer in, int offset) {
      return in.get(offset + at) != 0;
    }

    private static void writeFlag(int at, boolean value, ByteBuffer out, int offset) {
      out.put(offset + at, (byte) (value ? 1 : 0));
    }

    private static boolean readWideFlag(int at, ByteBuffer in, int offset) {
      return in.getInt(offset + at) != 0;
    }

    private static void writeWideFlag(int at, boolean value, ByteBuffer out, int offset) {
      out.putInt(offset + at, value ? 1 : 0);
    }

    private static int readU8(int at, ByteBuffer in, int offset) {
      return in.get(offset + at) & 0xff;
    }

    private static void writeU8(int at, int value, ByteBuffer out, int offset) {
      out.put(offset + at, (byte) value);
    }

    private static int readU16(int at, ByteBuffer in, int offset) {
      return in.getShort(offset + at) & 0xffff;
    }

    private static void writeU16(int at, int value, ByteBuffer out, int offset) {
      out.putShort(offset + at, (short) value);
    }

    private static int readI32(int at, ByteBuffer in, int offset) {
      return in.getInt(offset + at);
    }

    private static void writeI32(int at, int value, ByteBuffer out, int offset) {
      out.putInt(offset + at, value);
    }

    private static long readI64(int at, ByteBuffer in, int offset) {
      return in.getLong(offset + at);
    }

    private static void writeI64(int at, long value, ByteBuffer out, int offset) {
      out.putLong(offset + at, value);
    }

    private static Object readPart(Codec<?> part, int at, ByteBuffer in, int offset)
        throws CrailException {
      return part.read(in, offset + at);
    }

    @SuppressWarnings("unchecked")
    private static void writePart(Codec<?> part, int at, Object value, ByteBuffer out, int offset) {
      ((Codec<Object>) part).encode(value, out, offset + at);
    }
  }

  /** A component that is a tail. */
  private abstract static class TailForm {
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

    /** Reads the value of so many elements; its length was checked. */
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
      Object[] elements = new Object[count];
      for (int i = 0; i < count; i++) {
        elements[i] = element.read(in, at + i * tail.elementLength());
      }
      return List.of(elements);
    }
  }

  /** Elements that each have a length of their own. */
  private static final class PageForm extends ListForm {
    private PageForm(Layout layout, int index) {
      super(layout, index);
    }

    @Override
    int fields() {
      return 2;
    }

    @Override
    int length(Object value) {
      int length = 0;
      for (Object each : (List<?>) value) {
        length += element.length(each);
      }
      return length;
    }

    @Override
    void encode(Object value, ByteBuffer out, int offset, int at) {
      List<?> elements = (List<?>) value;
      tail.page().countField().put(out, offset, elements.size());
      tail.countField().put(out, offset, length(value));
      int next = at;
      for (Object each : elements) {
        element.encode(each, out, next);
        next += element.length(each);
      }
    }

    @Override
    Object read(ByteBuffer in, int offset, int at, int length) throws CrailException {
      int count = tail.page().countField().get(in, offset);
      int end = at + length;
      int next = at;
      // The count may be a lie, so there is no place for so many before they are there.
      List<Object> elements = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int own = element.layout().lengthAt(in, next, end - next);
        elements.add(element.decode(in, next, own));
        next += own;
      }
      if (next != end) {
        throw ErrorCode.PROTOCOL.exception(
            layout.name() + " has bytes after the last of its " + tail.name());
      }
      return List.copyOf(elements);
    }
  }
}
