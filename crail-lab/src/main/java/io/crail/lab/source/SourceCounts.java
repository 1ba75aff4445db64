/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.source;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a slow file system was asked, by all processes that use it. The numbers are in a file that
 * all of them map. Thread-safe.
 */
public final class SourceCounts {
  private static final VarHandle NUMBERS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** What is counted. */
  public enum Kind {
    /** Calls for the status of one path. */
    STATUS,
    /** Listings of directories. */
    LISTING,
    /** Opened files. */
    OPEN,
    /** Reads, each of which had a delay. */
    READ
  }

  private final ByteBuffer numbers;

  /** Opens the file, which is made with zeros if it is not there. */
  public SourceCounts(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      numbers =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) Kind.values().length * Long.BYTES);
    }
  }

  /** Counts one. */
  void add(Kind kind) {
    NUMBERS.getAndAdd(numbers, kind.ordinal() * Long.BYTES, 1L);
  }

  /** How many there were. */
  public long get(Kind kind) {
    return (long) NUMBERS.getVolatile(numbers, kind.ordinal() * Long.BYTES);
  }
}
