/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import io.crail.common.error.CrailException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;

/**
 * How a component of a record is stored in the fixed part of a message.
 *
 * @param reader {@code (ByteBuffer, int) -> component}
 * @param writer {@code (component, ByteBuffer, int) -> void}
 */
record FieldForm(MethodHandle reader, MethodHandle writer) {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

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
            find("write" + name, void.class, int.class, type, ByteBuffer.class, int.class), 0, at));
  }

  private static MethodHandle find(String name, Class<?> result, Class<?>... parameters) {
    try {
      return LOOKUP.findStatic(FieldForm.class, name, MethodType.methodType(result, parameters));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
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
