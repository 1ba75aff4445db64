/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * Reads a value, and hands out no byte whose chunk has a wrong checksum. Keeps its first error,
 * since serializers wrap what they get. Used by one thread.
 */
public final class ValueInput extends InputStream {
  private final ValueFile file;
  private final CrailBufferedInputStream in;
  private final byte[] chunk;
  private final CRC32C crc = new CRC32C();
  private int next;
  private int position;
  private int limit;
  private IOException failure;

  /** Creates it; {@code in} is closed with it. */
  ValueInput(ValueFile file, CrailBufferedInputStream in) {
    this.file = file;
    this.in = in;
    this.chunk = new byte[(int) Math.min(ValueFile.CHUNK_BYTES, file.length())];
  }

  /**
   * Opens the file of a value.
   *
   * @return a stream of bytes that are checked
   * @throws IOException a {@code NodeNotFoundException} when the value was deleted, a {@link
   *     CorruptValueException} for a file of another length, else the error of the store
   */
  public static ValueInput open(ValueFile value, CrailStore store) throws IOException {
    try {
      CrailNode node = store.lookup(value.path()).get();
      if (node == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(value.path());
      }
      CrailFile file = node.asFile();
      if (file.getCapacity() != value.length()) {
        throw new CorruptValueException(
            value.path() + " has " + file.getCapacity() + " bytes instead of " + value.length());
      }
      return new ValueInput(value, file.getBufferedInputStream(value.length()));
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  @Override
  public int read() throws IOException {
    return more() ? chunk[position++] & 0xff : -1;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    if (!more()) {
      return -1;
    }
    int count = Math.min(length, limit - position);
    System.arraycopy(chunk, position, target, offset, count);
    position += count;
    return count;
  }

  @Override
  public int available() {
    return limit - position;
  }

  private boolean more() throws IOException {
    if (position == limit && next < file.chunks()) {
      try {
        fill();
      } catch (IOException e) {
        failure = failure == null ? e : failure;
        throw e;
      }
    }
    return position < limit;
  }

  private void fill() throws IOException {
    long start = (long) next * ValueFile.CHUNK_BYTES;
    int length = (int) Math.min(ValueFile.CHUNK_BYTES, file.length() - start);
    // Bytes may have been spoilt on their way, but hardly twice.
    if (!fits(in.read(chunk, 0, length), length)
        && !fits(in.read(start, chunk, 0, length), length)) {
      throw new CorruptValueException(
          "wrong checksum of bytes " + start + " to " + (start + length) + " of " + file.path());
    }
    position = 0;
    limit = length;
    next++;
  }

  private boolean fits(int count, int length) {
    crc.reset();
    crc.update(chunk, 0, length);
    return count == length && (int) crc.getValue() == file.checksum(next);
  }

  /** Throws the first error of a read, if there was one. */
  void check() throws IOException {
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
