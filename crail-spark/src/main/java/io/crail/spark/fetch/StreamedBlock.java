/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailBufferedInputStream;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputIndex;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A block that is too large for memory: its bytes are fetched while they are read. */
final class StreamedBlock implements BlockData {
  private static final Logger LOG = LoggerFactory.getLogger(StreamedBlock.class);

  private final MapOutput output;
  private final int from;
  private final int to;
  private final List<Stream> streams = new ArrayList<>();

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
  public synchronized InputStream open() {
    Stream stream = new Stream();
    streams.add(stream);
    return stream;
  }

  @Override
  public synchronized void release() {
    // Spark does not close the stream of a block that it has not read to its end.
    for (Stream stream : streams) {
      try {
        stream.close();
      } catch (IOException e) {
        LOG.debug("cannot close {}", output.index().id(), e);
      }
    }
    streams.clear();
  }

  private final class Stream extends InputStream {
    private final OutputIndex index = output.index();
    private final CRC32C crc = new CRC32C();
    private final byte[] single = new byte[1];
    private CrailBufferedInputStream in;
    private int run;
    private int partition = from;
    private long left;

    /** Opened by the first read: its error is then one of reading, which Spark expects. */
    private void openFile() throws IOException {
      try {
        in = output.file().getBufferedInputStream(Long.MAX_VALUE);
      } catch (Exception e) {
        throw StoreFailure.of(e);
      }
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
      if (in == null) {
        openFile();
      }
      if (!more()) {
        return -1;
      }
      int count = in.read(target, offset, (int) Math.min(length, left));
      if (count < 0) {
        // Not an EOFException, which a deserializer takes for the end of the records.
        throw new CorruptOutputException(index.id() + " ends within partition " + partition);
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
      return in == null ? 0 : (int) Math.min(left, in.available());
    }

    @Override
    public void close() throws IOException {
      if (in != null) {
        in.close();
      }
    }
  }
}
