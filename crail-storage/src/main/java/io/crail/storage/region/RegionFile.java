/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.slf4j.LoggerFactory;

/**
 * The file of a region, mapped whole but sparse, as it grows. Memory that nobody has written yet is
 * written through the file, where a full file system is an error. Through the mapping it would be a
 * SIGBUS, and what a JVM makes of that, an InternalError, comes some time later in whatever the
 * thread does then: a write would be taken for done that is not.
 *
 * <p>Only data are ever written, no zeros ahead of them: another writer may be at work beside them.
 *
 * <p>Thread-safe. Asking whether memory is there takes no lock.
 */
final class RegionFile implements AutoCloseable {
  private static final int UNIT_SHIFT = Integer.numberOfTrailingZeros(Extent.MIN_LENGTH);
  private static final int FILL_LENGTH = 1 << 20;

  /** Units around a page that is read for the first time, which Linux maps with it: 64 KiB. */
  private static final int AROUND = 16;

  private final Path path;

  /** For each unit, 1 once its memory is there; never taken back, so races do no harm. */
  private final ByteBuffer grown;

  /** For each unit, 1 once this process has mapped it; what it forgets costs a fault. */
  private final byte[] mapped;

  /** Sum of what was read for the sake of being mapped, or the compiler would leave that out. */
  private int seen;

  private final RateLimitedLog log =
      new RateLimitedLog(LoggerFactory.getLogger(RegionFile.class), Clock.SYSTEM);
  private FileChannel channel;
  private boolean closed;

  /**
   * Creates the keeper of an existing file.
   *
   * @param grown a byte for each unit, 1 where its memory is there; shared by all that write the
   *     file
   */
  RegionFile(Path path, ByteBuffer grown) {
    this.path = path;
    this.grown = grown;
    this.mapped = new byte[grown.capacity()];
  }

  /** Bytes of what is kept about a file of {@code length} bytes. */
  static int grownLengthFor(int length) {
    return length >>> UNIT_SHIFT;
  }

  /** True when the range may be written through the mapping, as far as is known. */
  boolean isGrown(int offset, int length) {
    int last = offset + length - 1 >>> UNIT_SHIFT;
    for (int unit = offset >>> UNIT_SHIFT; unit <= last; unit++) {
      if (grown.get(unit) == 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * As {@link #isGrown}, and has the kernel map such a range first. A page that is read brings
   * those around it, as far as they have memory; one that is written comes alone, and each costs a
   * fault.
   *
   * @param mapping the whole file
   */
  boolean isReady(ByteBuffer mapping, int offset, int length) {
    int last = offset + length - 1 >>> UNIT_SHIFT;
    for (int unit = offset >>> UNIT_SHIFT; unit <= last; unit++) {
      if (mapped[unit] == 0) {
        return isGrown(offset, length) && map(mapping, unit, last);
      }
    }
    return true;
  }

  private boolean map(ByteBuffer mapping, int first, int last) {
    for (int unit = first; unit <= last; unit++) {
      if (mapped[unit] == 0) {
        seen += mapping.get(unit << UNIT_SHIFT);
        mappedAround(unit);
      }
    }
    return true;
  }

  private void mappedAround(int unit) {
    int first = unit & -AROUND;
    int end = Math.min(first + AROUND, mapped.length);
    for (int i = first; i < end; i++) {
      if (grown.get(i) != 0) {
        mapped[i] = 1;
      }
    }
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
    int end = mapped.length << UNIT_SHIFT;
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
    int last = end - 1 >>> UNIT_SHIFT;
    for (int unit = offset >>> UNIT_SHIFT; unit <= last; unit++) {
      grown.put(unit, (byte) 1);
    }
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
