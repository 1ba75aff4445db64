/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Cleaner;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * Memory outside the heap, or a mapped file, that can be given back at once. If that is not done,
 * it goes back when neither the buffer nor a view of it is reachable.
 *
 * <p>After {@link #free} an access through any view may end the process, so the owner has to know
 * that there is none. Thread-safe.
 */
public final class NativeMemory {
  /** Java 22 has memory with an explicit end; before, a method of sun.misc.Unsafe ends it. */
  private static final Kind KIND =
      Runtime.version().feature() >= 22 ? new InArena() : new Cleaned();

  private final ByteBuffer buffer;
  private final Runnable end;

  private NativeMemory(ByteBuffer buffer, Runnable end) {
    this.buffer = buffer;
    this.end = end;
  }

  /**
   * Allocates zeros.
   *
   * @param bytes how many
   * @return the memory
   * @throws OutOfMemoryError when Java has given out as much as it may; all garbage was collected
   *     before
   */
  public static NativeMemory allocate(int bytes) {
    return KIND.allocate(bytes);
  }

  /**
   * Maps the beginning of a file to read and write it.
   *
   * @param file an open file, which may be closed afterwards
   * @param bytes how many
   * @return the mapping
   * @throws IOException when it cannot be mapped
   */
  public static NativeMemory map(FileChannel file, int bytes) throws IOException {
    return KIND.map(file, bytes);
  }

  /** {@return all of the memory, the same buffer each time} */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** Gives the memory back. Further calls do nothing. */
  public void free() {
    end.run();
  }

  /** How a release of Java gives memory back. */
  private interface Kind {
    NativeMemory allocate(int bytes);

    NativeMemory map(FileChannel file, int bytes) throws IOException;
  }

  /** Buffers whose cleaner runs early. If it cannot be found, the collector does it. */
  private static final class Cleaned implements Kind {
    private final MethodHandle clean = find();

    private static MethodHandle find() {
      try {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field instance = unsafe.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        return MethodHandles.lookup()
            .findVirtual(
                unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
            .bindTo(instance.get(null));
      } catch (ReflectiveOperationException | RuntimeException e) {
        return null;
      }
    }

    @Override
    public NativeMemory allocate(int bytes) {
      return of(ByteBuffer.allocateDirect(bytes));
    }

    @Override
    public NativeMemory map(FileChannel file, int bytes) throws IOException {
      return of(file.map(MapMode.READ_WRITE, 0, bytes));
    }

    private NativeMemory of(ByteBuffer buffer) {
      return new NativeMemory(buffer, () -> end(buffer));
    }

    private void end(ByteBuffer buffer) {
      if (clean != null && buffer.capacity() > 0) {
        try {
          clean.invokeExact(buffer);
        } catch (Throwable e) {
          throw thrown(e);
        }
      }
    }
  }

  /** Arenas of java.lang.foreign, which is found by reflection. */
  private static final class InArena implements Kind {
    private static final int ALIGNMENT = 4096;

    /** Its thread lives as long as the JVM, and inherits nothing: that of the JDK. */
    private final Cleaner cleaner = Cleaner.create();

    private final MethodHandle open;
    private final MethodHandle close;
    private final MethodHandle allocate;
    private final MethodHandle map;
    private final MethodHandle asBuffer;

    InArena() {
      try {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        Class<?> arena = Class.forName("java.lang.foreign.Arena");
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        open = lookup.findStatic(arena, "ofShared", MethodType.methodType(arena));
        close = lookup.findVirtual(arena, "close", MethodType.methodType(void.class));
        allocate =
            lookup.findVirtual(
                arena, "allocate", MethodType.methodType(segment, long.class, long.class));
        map =
            lookup.findVirtual(
                FileChannel.class,
                "map",
                MethodType.methodType(segment, MapMode.class, long.class, long.class, arena));
        asBuffer =
            lookup.findVirtual(segment, "asByteBuffer", MethodType.methodType(ByteBuffer.class));
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    @Override
    public NativeMemory allocate(int bytes) {
      try {
        return in(arena -> allocate.invoke(arena, (long) bytes, (long) ALIGNMENT));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public NativeMemory map(FileChannel file, int bytes) throws IOException {
      return in(arena -> map.invoke(file, MapMode.READ_WRITE, 0L, (long) bytes, arena));
    }

    /** Makes a segment in an arena. */
    private interface Maker {
      Object make(Object arena) throws Throwable;
    }

    private NativeMemory in(Maker maker) throws IOException {
      Object arena = null;
      try {
        arena = open.invoke();
        ByteBuffer buffer = (ByteBuffer) asBuffer.invoke(maker.make(arena));
        Object opened = arena;
        // Refers to the arena only: the buffer has to become unreachable.
        Cleaner.Cleanable cleanable = cleaner.register(buffer, () -> end(opened));
        arena = null;
        return new NativeMemory(buffer, cleanable::clean);
      } catch (IOException e) {
        throw e;
      } catch (Throwable e) {
        throw thrown(e);
      } finally {
        if (arena != null) {
          end(arena);
        }
      }
    }

    private void end(Object arena) {
      try {
        close.invoke(arena);
      } catch (Throwable e) {
        throw thrown(e);
      }
    }
  }

  /** What a method handle has thrown, whose method throws no checked exception. */
  private static RuntimeException thrown(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }
}
