/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import io.crail.common.error.CrailException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How a record becomes bytes and back, derived from its layout. Each component is the field or the
 * tail of its name. The fields that count the elements of a tail are no components. The method
 * handles are built when the codec is first used, so a program pays only for the messages that it
 * sends. Nothing is boxed.
 *
 * @param <T> the message
 */
final class RecordCodec<T extends Record> extends Codec<T> {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  private volatile Handles handles;

  /**
   * The method handles that read and write a record.
   *
   * @param read {@code (ByteBuffer, int) -> Record}
   * @param fields {@code (Record, ByteBuffer, int) -> void}, writes a component into its field
   * @param tails {@code (Record) -> Object}, give the components that are tails, in the order of
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

  /** Accessors and primitives declare no checked exceptions. Whatever they throw is passed on. */
  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException exception ? exception : new IllegalStateException(e);
  }

  private Handles handles() {
    Handles use = handles;
    if (use == null) {
      // Another thread that does this at the same time gets an equal result.
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
    // Backwards, so that the positions of the earlier arguments stay the same.
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
}
