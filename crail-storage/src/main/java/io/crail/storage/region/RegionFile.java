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
import org.slf4j.LoggerFactory;

/**
 * The file of a region, mapped whole, but sparse: it grows as it is written. Memory that was never
 * written is written through the file, where a full file system is an error. Through the mapping
 * that would be a SIGBUS. A JVM turns it into an InternalError that comes some time later, so a
 * write would count as done that is not.
 *
 * <p>Only data are written, never zeros ahead of them, since another writer may be at work beside
 * them.
 *
 * <p>Thread-safe. The check whether memory is present takes no lock.
 */
final class RegionFile implements AutoCloseable {
  private static final int UNIT_SHIFT = Integer.numberOfTrailingZeros(Extent.MIN_LENGTH);
  private static final int FILL_LENGTH = 1 << 20;

  /** Units around a page that is read for the first time, which Linux maps with it: 64 KiB. */
  private static final int AROUND = 16;

  private final Path path;
  private final Uninterrupted.Work<FileChannel> opener;

  /** For each unit, 1 once its memory is present. Never set back, so races do no harm. */
  private final ByteBuffer grown;

  /** For each unit, 1 once this process has mapped it. A lost mark costs one page fault. */
  private final byte[] mapped;

  /** Sum of the bytes read only to map pages. Without it the compiler would drop these reads. */
  private int seen;

  private final RateLimitedLog log =
      new RateLimitedLog(LoggerFactory.getLogger(RegionFile.class), Clock.SYSTEM);
  private FileChannel channel;
  private boolean closed;

  /** The file that holds the bytes of a region, unless they are in huge pages. */
  static String dataFile(int index) {
    return "region-" + index;
  }

  /** The file that holds the generations of a region; each region has one. */
  static String generationFile(int index) {
    return "region-" + index + ".gen";
  }

  /** The file that says which bytes of a region have memory. */
  static String grownFile(int index) {
    return "region-" + index + ".grown";
  }

  /**
   * Opens an existing file.
   *
   * @param path its name, for messages
   * @param opener opens it for writing; called at the first use, and again after an interrupt
   * @param grown a byte for each unit, 1 when its memory is present; shared by all processes that
   *     write the file
   */
  RegionFile(Path path, Uninterrupted.Work<FileChannel> opener, ByteBuffer grown) {
    this.path = path;
    this.opener = opener;
    this.grown = grown;
    this.mapped = new byte[grown.capacity()];
  }

  /** Bytes of the {@code grown} table of a file of {@code length} bytes. */
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
   * As {@link #isGrown}, and makes the kernel map such a range first. A read of a page also maps
   * the pages around it that have memory. A write maps one page only, and each costs a fault.
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
   * Writes a range, which makes the file grow.
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
   * Makes the whole file grow, as far as it has not, and which is not in use yet.
   *
   * @param meanwhile runs every few milliseconds during that
   */
  void growAll(Runnable meanwhile) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(FILL_LENGTH);
    int end = mapped.length << UNIT_SHIFT;
    for (int at = 0; at < end; at += zeros.capacity()) {
      int length = Math.min(zeros.capacity(), end - at);
      if (!isGrown(at, length)) {
        growMissing(at, length, zeros);
      }
      meanwhile.run();
    }
  }

  private void growMissing(int from, int length, ByteBuffer zeros) throws IOException {
    for (int at = from; at < from + length; ) {
      int unit = at >>> UNIT_SHIFT;
      int end = at;
      while (end < from + length && grown.get(end >>> UNIT_SHIFT) == 0) {
        end += Extent.MIN_LENGTH;
      }
      if (end > at) {
        write(at, zeros.slice(0, end - at));
      }
      at = Math.max(end, (unit + 1) << UNIT_SHIFT);
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

  /** The channel, opened at its first use, and again after an interrupt has closed it. */
  private synchronized FileChannel open() throws IOException {
    if (closed) {
      throw new NoSuchFileException(path.toString());
    }
    if (channel == null || !channel.isOpen()) {
      channel = opener.run();
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
