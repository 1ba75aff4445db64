/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.memory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * The address of a direct buffer, from {@code java.lang.foreign}. That API is final from Java 22
 * on, so it is found by reflection.
 */
final class NativeAddress {
  private static final MethodHandle ADDRESS = find();

  private NativeAddress() {}

  /** The address of the buffer's first byte, whatever its position. */
  static long of(ByteBuffer buffer) {
    if (ADDRESS == null) {
      throw new UnsupportedOperationException(
          "the address of a buffer is known on Java 22 and newer only; this is Java "
              + Runtime.version().feature());
    }
    try {
      return (long) ADDRESS.invokeExact((Buffer) buffer.duplicate().clear());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static MethodHandle find() {
    if (Runtime.version().feature() < 22) {
      return null;
    }
    try {
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      MethodHandle ofBuffer =
          lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class));
      MethodHandle address =
          lookup.findVirtual(segment, "address", MethodType.methodType(long.class));
      return MethodHandles.filterReturnValue(ofBuffer, address);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
