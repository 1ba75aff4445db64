/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import io.crail.CrailBufferedOutputStream;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.io.OutputStream;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/**
 * Writes a value to a file that is created with the first byte. An error of the store does not pass
 * through the serializer, which might wrap it: the bytes after it are dropped, and {@link #seal}
 * throws it. Used by one thread.
 */
final class ValueOutput extends OutputStream {
  private final OutputPlace place;
  private final String path;
  private final OutputStream copy;
  private final CRC32C crc = new CRC32C();
  private final IntStream.Builder checksums = IntStream.builder();
  private CrailBufferedOutputStream out;
  private long length;
  private int inChunk;
  private boolean begun;
  private IOException failure;

  /** Opens nothing yet; {@code copy} gets what is written. */
  ValueOutput(OutputPlace place, String path, OutputStream copy) {
    this.place = place;
    this.path = path;
    this.copy = copy;
  }

  /** Whether there may be a file. */
  boolean isBegun() {
    return begun;
  }

  @Override
  public void write(int value) {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) {
    if (failure == null) {
      try {
        store(source, offset, length);
      } catch (IOException e) {
        failure = e;
      }
    }
  }

  private void store(byte[] source, int offset, int count) throws IOException {
    if (!begun) {
      begun = true;
      out = open();
    }
    int end = offset + count;
    for (int at = offset; at < end; ) {
      int part = Math.min(end - at, ValueFile.CHUNK_BYTES - inChunk);
      crc.update(source, at, part);
      out.write(source, at, part);
      copy.write(source, at, part);
      at += part;
      length += part;
      inChunk += part;
      if (inChunk == ValueFile.CHUNK_BYTES) {
        endChunk();
      }
    }
  }

  private CrailBufferedOutputStream open() throws IOException {
    try {
      return place.create(path).getBufferedOutputStream(0);
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  private void endChunk() {
    checksums.add((int) crc.getValue());
    crc.reset();
    inChunk = 0;
  }

  /** Makes the file visible; throws the first error. */
  ValueFile seal() throws IOException {
    if (failure != null) {
      throw failure;
    }
    if (inChunk > 0) {
      endChunk();
    }
    closeFile();
    return new ValueFile(path, length, checksums.build().toArray());
  }

  /** Ends the writing, unless that is done. */
  void abandon() {
    try {
      closeFile();
    } catch (IOException e) {
      // The file is not needed.
    }
  }

  private void closeFile() throws IOException {
    CrailBufferedOutputStream open = out;
    out = null;
    if (open != null) {
      open.close();
    }
  }

  /** Does nothing: serializers close what they write to, but only the owner may seal. */
  @Override
  public void close() {}
}
