/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailBufferedInputStream;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputIndex;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.zip.CRC32C;

/** A block that is too large for memory: its bytes are fetched while they are read. */
final class StreamedBlock implements BlockData {
  private final MapOutput output;
  private final int from;
  private final int to;

  StreamedBlock(MapOutput output, int from, int to) {
    this.output = output;
    this.from = from;
    this.to = to;
  }

  @Override
  public long length() {
    return output.index().length(from, to);
  }

  @Override
  public InputStream open() throws IOException {
    try {
      return new Stream(output.file().getBufferedInputStream(Long.MAX_VALUE));
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  @Override
  public void release() {
    // Each stream has its own memory until it is closed.
  }

  private final class Stream extends InputStream {
    private final OutputIndex index = output.index();
    private final CrailBufferedInputStream in;
    private final CRC32C crc = new CRC32C();
    private final byte[] single = new byte[1];
    private int run;
    private int partition = from;
    private long left;

    Stream(CrailBufferedInputStream in) throws IOException {
      this.in = in;
      begin();
    }

    private void begin() throws IOException {
      crc.reset();
      long start = index.start(run, partition);
      left = index.end(run, partition) - start;
      if (in.position() != start) {
        in.seek(start);
      }
    }

    /** Goes on to a partition that has bytes; false at the end. */
    private boolean more() throws IOException {
      while (left == 0) {
        if (run == index.runs()) {
          return false;
        }
        if (partition + 1 < to) {
          partition++;
        } else if (++run < index.runs()) {
          partition = from;
        } else {
          return false;
        }
        begin();
      }
      return true;
    }

    @Override
    public int read() throws IOException {
      return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
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
      int count = in.read(target, offset, (int) Math.min(length, left));
      if (count < 0) {
        throw new EOFException(index.id() + " ends within partition " + partition);
      }
      crc.update(target, offset, count);
      left -= count;
      if (left == 0 && (int) crc.getValue() != index.checksum(run, partition)) {
        throw new CorruptOutputException(
            "wrong checksum of partition " + partition + " of " + index.id());
      }
      return count;
    }

    @Override
    public int available() {
      return (int) Math.min(left, in.available());
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
