/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.common.error.CrailException;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Reads a file at any position. Opening a reader sends no request, so a file may have one reader
 * for each thread. The end is the length of the file as its handle knows it. Used by one thread at
 * a time.
 */
public final class PositionedReader implements AutoCloseable {
  private final CrailFile file;

  /** Reads into memory of the heap, copying once or twice; null until it is needed. */
  private CrailBufferedInputStream copying;

  /** Reads straight into the caller's direct memory; null until it is needed. */
  private CrailInputStream straight;

  /**
   * Opens a reader. Its first use takes memory and sends requests.
   *
   * @param file the file
   */
  public PositionedReader(CrailFile file) {
    this.file = file;
  }

  /**
   * Reads until the target is full or the file ends, and waits for the bytes.
   *
   * @param position of the first byte in the file
   * @param target takes the bytes
   * @param offset where the first byte goes in the target
   * @param length the most bytes to read
   * @return bytes read; -1 at or after the end
   * @throws Exception an {@code OutOfRangeException} for a negative position, else the error of the
   *     read
   */
  public int read(long position, byte[] target, int offset, int length) throws Exception {
    if (copying == null) {
      copying = file.getBufferedInputStream(0);
    }
    return copying.read(position, target, offset, length);
  }

  /**
   * As {@link #read(long, byte[], int, int)}, into a buffer whose position and limit stay.
   *
   * @param position of the first byte in the file
   * @param target takes as many bytes as it has between position and limit
   * @return bytes read; -1 at or after the end
   * @throws Exception as there
   */
  public int read(long position, ByteBuffer target) throws Exception {
    if (!target.isDirect()) {
      int offset = target.arrayOffset() + target.position();
      return read(position, target.array(), offset, target.remaining());
    }
    int count = await(issue(position, target));
    return count == 0 && target.hasRemaining() ? -1 : count;
  }

  /**
   * Issues a read into direct memory, which belongs to the read until it ends. Any number may be
   * outstanding; above {@code crail.client.outstanding} a call waits until others have ended.
   *
   * @param target as many bytes as it has between position and limit, both of which stay
   * @throws Exception an {@code OutOfRangeException} for a position that is negative or after the
   *     end
   */
  Future<CrailResult> issue(long position, ByteBuffer target) throws Exception {
    // A duplicate has a position of its own. It still spans the whole memory, which a tier may have
    // to register.
    return issue(position, OffHeapBuffer.wrap(target.duplicate()));
  }

  /** As {@link #issue(long, ByteBuffer)}; the position of the buffer moves on. */
  Future<CrailResult> issue(long position, CrailBuffer target) throws Exception {
    if (straight == null) {
      straight = file.getDirectInputStream(0);
    }
    straight.seek(position);
    return straight.read(target);
  }

  /**
   * Waits for a read into the caller's memory. An interrupt does not end the wait, since the bytes
   * would still arrive; it stays set. The read has a deadline.
   */
  static int await(Future<CrailResult> read) throws Exception {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return (int) read.get().getLen();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw e.getCause() instanceof CrailException error ? error : e;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  String path() {
    return file.getPath();
  }

  /** Bytes of the file, as its handle knows it. */
  long length() {
    return file.getCapacity();
  }

  /** Waits for the reads in flight, and gives all memory back. */
  @Override
  public void close() throws Exception {
    try {
      if (copying != null) {
        copying.close();
      }
    } finally {
      if (straight != null) {
        straight.close();
      }
    }
  }
}
