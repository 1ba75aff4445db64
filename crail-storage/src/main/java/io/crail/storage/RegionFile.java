/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.slf4j.LoggerFactory;

/**
 * The file of a region, mapped whole but sparse, as it grows. Memory that this process has not
 * written yet is written through the file, where a full file system is an error. Through the
 * mapping it would be a SIGBUS, and what a JVM makes of that, an InternalError, comes some time
 * later in whatever the thread does then: a write would be taken for done that is not.
 *
 * <p>Only data are ever written, no zeros ahead of them: another writer may be at work beside them.
 *
 * <p>Thread-safe. Asking whether memory is there takes no lock.
 */
final class RegionFile implements AutoCloseable {
  private static final int UNIT_SHIFT = Integer.numberOfTrailingZeros(Extent.MIN_LENGTH);
  private static final int FILL_LENGTH = 1 << 20;

  private final Path path;

  /** For each unit, 1 once its memory is there; never taken back, so races do no harm. */
  private final byte[] grown;

  private final RateLimitedLog log =
      new RateLimitedLog(LoggerFactory.getLogger(RegionFile.class), Clock.SYSTEM);
  private FileChannel channel;
  private boolean closed;

  /**
   * Creates the keeper of an existing file.
   *
   * @param length its bytes
   * @param whole whether all its memory is there already
   */
  RegionFile(Path path, int length, boolean whole) {
    this.path = path;
    this.grown = new byte[length >>> UNIT_SHIFT];
    Arrays.fill(grown, (byte) (whole ? 1 : 0));
  }

  /** True when the range may be written through the mapping. */
  boolean isGrown(int offset, int length) {
    int last = offset + length - 1 >>> UNIT_SHIFT;
    for (int unit = offset >>> UNIT_SHIFT; unit <= last; unit++) {
      if (grown[unit] == 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Writes a range, and so makes it grow.
   *
   * @param source neither position nor limit are changed
   * @return OK; NO_SPACE when the file cannot grow; UNAVAILABLE when it is gone or closed
   */
  ErrorCode write(int offset, ByteBuffer source, int sourceOffset, int length) {
    try {
      write(offset, source.slice(sourceOffset, length));
      return ErrorCode.OK;
    } catch (NoSuchFileException e) {
      return ErrorCode.UNAVAILABLE;
    } catch (IOException e) {
      log.warn("cannot grow " + path + ": " + e.getMessage());
      return ErrorCode.NO_SPACE;
    }
  }

  /**
   * Makes the whole file grow, which nobody uses yet.
   *
   * @param meanwhile runs every few milliseconds
   */
  void growAll(Runnable meanwhile) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(FILL_LENGTH);
    int end = grown.length << UNIT_SHIFT;
    for (int at = 0; at < end; at += zeros.capacity()) {
      write(at, zeros.slice(0, Math.min(zeros.capacity(), end - at)));
      meanwhile.run();
    }
  }

  private void write(int offset, ByteBuffer bytes) throws IOException {
    int end =
        Uninterrupted.run(
            () -> {
              while (bytes.hasRemaining()) {
                open().write(bytes, offset + bytes.position());
              }
              return offset + bytes.limit();
            });
    Arrays.fill(grown, offset >>> UNIT_SHIFT, (end - 1 >>> UNIT_SHIFT) + 1, (byte) 1);
  }

  /** The channel, opened when it is needed first and when an interrupt has closed it. */
  private synchronized FileChannel open() throws IOException {
    if (closed) {
      throw new NoSuchFileException(path.toString());
    }
    if (channel == null || !channel.isOpen()) {
      channel = FileChannel.open(path, StandardOpenOption.WRITE);
    }
    return channel;
  }

  /** Closes the file; it grows no more. */
  @Override
  public synchronized void close() {
    closed = true;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        log.warn("cannot close " + path + ": " + e.getMessage());
      }
    }
  }
}
