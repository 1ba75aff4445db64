/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/**
 * The sign of life of a datanode process for the next datanode with the same data path, which
 * removes the directories of dead ones: a number in a file that the datanode raises every half
 * second. A number that moves needs no common clock and works across containers.
 *
 * <p>Thread-safe.
 */
final class Heartbeat {
  /** Pause between two beats. */
  static final long INTERVAL_MILLIS = 500;

  static final String FILE = "heartbeat";
  private static final VarHandle BEAT =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer memory;

  private Heartbeat(ByteBuffer memory) {
    this.memory = memory;
  }

  /** Creates the file, for the datanode. */
  static Heartbeat create(SafeDirectory directory) throws IOException {
    // Not through the mapping, which could not report that there is no room.
    directory.write(FILE, new byte[Long.BYTES]);
    Heartbeat heartbeat = map(directory);
    heartbeat.beat();
    return heartbeat;
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
      return new Heartbeat(channel.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES));
    }
  }

  /** Raises the number. */
  void beat() {
    BEAT.setVolatile(memory, 0, (long) BEAT.getVolatile(memory, 0) + 1);
  }
}
