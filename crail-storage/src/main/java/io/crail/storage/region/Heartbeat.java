/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.NativeMemory;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/**
 * The sign of life of a datanode process for processes that have mapped its regions: a number in a
 * mapped file that the datanode raises every half second and sets to a mark when it ends.
 *
 * <p>A mapping outlives the process that made the file. Without a heartbeat a client would continue
 * to write into the memory of a dead datanode. A number that moves needs no common clock and works
 * across containers. Reading it is one load, cheap enough for each transfer. A file lock would show
 * at once that a process was killed. But a process loses its POSIX locks when it closes any
 * descriptor of the file, so a client within the datanode's own process would break the lock.
 *
 * <p>Thread-safe.
 */
final class Heartbeat {
  /** Pause between two beats. */
  static final long INTERVAL_MILLIS = 500;

  /** A datanode whose heartbeat stands still for so long counts as gone. */
  static final long PATIENCE_MILLIS = 10 * INTERVAL_MILLIS;

  static final String FILE = "heartbeat";
  private static final VarHandle BEAT =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ENDED = -1;

  private final NativeMemory mapping;
  private final ByteBuffer memory;

  private Heartbeat(NativeMemory mapping) {
    this.mapping = mapping;
    this.memory = mapping.buffer();
  }

  /** Creates the file, for the datanode. */
  static Heartbeat create(SafeDirectory directory) throws IOException {
    // Not through the mapping, which could not report that there is no room.
    directory.write(FILE, new byte[Long.BYTES]);
    Heartbeat heartbeat = map(directory);
    heartbeat.beat();
    return heartbeat;
  }

  /** Maps the file of a datanode, for another process. */
  static Heartbeat open(SafeDirectory directory) throws IOException {
    return map(directory);
  }

  /** The present beat of the datanode of a directory, 0 when it has none. */
  static long peek(SafeDirectory directory) {
    try (FileChannel channel = directory.open(FILE, StandardOpenOption.READ)) {
      ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      return channel.read(bytes, 0) == Long.BYTES ? bytes.getLong(0) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  private static Heartbeat map(SafeDirectory directory) throws IOException {
    try (FileChannel channel =
        directory.open(FILE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new Heartbeat(NativeMemory.map(channel, Long.BYTES));
    }
  }

  /** Raises the number. */
  void beat() {
    BEAT.setVolatile(memory, 0, (long) BEAT.getVolatile(memory, 0) + 1);
  }

  /** Marks the end. */
  void end() {
    BEAT.setVolatile(memory, 0, ENDED);
  }

  /** The present number. */
  long value() {
    return (long) BEAT.getVolatile(memory, 0);
  }

  /** Ends the use of the memory, which no thread uses any more. */
  void unmap() {
    mapping.free();
  }

  /** True when {@code value} is the mark of the end. */
  static boolean isEnd(long value) {
    return value == ENDED;
  }
}
