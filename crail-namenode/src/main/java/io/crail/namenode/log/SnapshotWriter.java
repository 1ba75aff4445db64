/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.namenode.log.LogDirectory.LogFile;
import io.crail.protocol.codec.Codec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes the records of a snapshot: files like those of a log, but no longer than what is in them,
 * since no answer waits for room. It forces often, so that the log beside it never waits for much.
 * For one thread.
 */
final class SnapshotWriter implements RecordTarget, AutoCloseable {
  private static final int FORCE_BYTES = 1 << 20;
  private static final int FRAME_BYTES = 256 << 10;

  private final LogDirectory directory;
  private final long fileBytes;
  private final long millis;
  private final long nanos;
  private final RecordPacking packing = new RecordPacking();
  private ByteBuffer frame = ByteBuffer.allocateDirect(FRAME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private int count;
  private LogFile file;
  private long segment;
  private long position;
  private long forcedPosition;
  private long records;
  private long durable;
  private long bytes;

  /**
   * Begins without a file.
   *
   * @param fileBytes most bytes of a file, unless a record needs more
   * @param millis when it is written, in milliseconds since 1970
   * @param nanos time in which the namenode had run when its state was this one
   */
  SnapshotWriter(LogDirectory directory, long fileBytes, long millis, long nanos) {
    this.directory = directory;
    this.fileBytes = fileBytes;
    this.millis = millis;
    this.nanos = nanos;
  }

  /** How many records there are. */
  long records() {
    return records;
  }

  /** Bytes of all files. */
  long bytes() {
    return bytes;
  }

  @Override
  public <T> void append(int kind, Codec<T> codec, T record) {
    int length = codec.length(record);
    if (length > LogFrame.MOST / 2) {
      throw new IllegalArgumentException("a record of " + length + " bytes");
    }
    int most = RecordPacking.most(length);
    if (count > 0 && frame.remaining() < most + LogFrame.PAGE) {
      try {
        writeFrame();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    if (count == 0) {
      int needed = Math.max(FRAME_BYTES, LogFrame.padded(most) + LogFrame.PAGE);
      if (frame.capacity() != needed) {
        frame = ByteBuffer.allocateDirect(needed).order(ByteOrder.LITTLE_ENDIAN);
      }
      frame.clear().position(LogFrame.HEADER);
    }
    packing.append(frame, kind, codec, record);
    count++;
    records++;
  }

  private void writeFrame() throws IOException {
    if (count == 0) {
      return;
    }
    int length = frame.position() - LogFrame.HEADER;
    int padded = LogFrame.padded(length);
    if (file == null || position + padded > fileBytes) {
      closeFile();
      segment++;
      file = directory.create(LogSegment.name(segment), 0);
      position = 0;
      forcedPosition = 0;
    }
    long first = records - count + 1;
    LogFrame.seal(
        frame, new LogFrame.Header(length, count, segment, first, durable, millis, nanos));
    LogFrame.fill(frame, padded);
    file.write(frame.flip(), position);
    position += padded;
    bytes += padded;
    count = 0;
    if (position - forcedPosition >= FORCE_BYTES) {
      file.force();
      forcedPosition = position;
      durable = records;
    }
  }

  private void closeFile() throws IOException {
    if (file != null) {
      LogFile ended = file;
      file = null;
      try (ended) {
        ended.force();
      }
    }
  }

  /** Makes all of it durable. */
  void finish() throws IOException {
    writeFrame();
    closeFile();
  }

  /** Leaves what there is. */
  @Override
  public void close() throws IOException {
    if (file != null) {
      file.close();
    }
  }
}
