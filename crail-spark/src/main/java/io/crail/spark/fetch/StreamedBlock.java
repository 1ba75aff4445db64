/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailBufferedInputStream;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputIndex;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A block that is too large for memory: its bytes are fetched while they are read, a chunk at a
 * time. A chunk is used only when its checksum is right. One that is wrong is read once more, and
 * one that does not come is asked for again, as long as the patience lasts. A stream has one
 * reader, and may be closed by another thread meanwhile.
 */
final class StreamedBlock implements BlockData {
  private static final Logger LOG = LoggerFactory.getLogger(StreamedBlock.class);
  private static final byte[] NONE = {};

  private final MapOutput output;
  private final int from;
  private final int to;
  private final HostPatience host;
  private final List<Stream> streams = new ArrayList<>();
  private boolean released;

  /**
   * Reads nothing yet.
   *
   * @param from the first partition
   * @param to the partition after the last
   * @param host the output's host
   */
  StreamedBlock(MapOutput output, int from, int to, HostPatience host) {
    this.output = output;
    this.from = from;
    this.to = to;
    this.host = host;
  }

  @Override
  public long length() {
    return output.index().length(from, to);
  }

  @Override
  public synchronized InputStream open() {
    Stream stream = new Stream();
    if (released) {
      stream.close();
    } else {
      streams.add(stream);
    }
    return stream;
  }

  @Override
  public synchronized void release() {
    released = true;
    // Spark does not close the stream of a block that it has not read to its end.
    streams.forEach(Stream::close);
    streams.clear();
  }

  private final class Stream extends InputStream {
    private final OutputIndex index = output.index();
    private final CRC32C crc = new CRC32C();
    private final byte[] single = new byte[1];

    /** The present chunk. */
    private byte[] bytes = NONE;

    private int position;
    private int limit;

    /** The next chunk. */
    private int run;

    private int partition = from;
    private int chunk;

    /**
     * Opened by the first read: its error is then one of reading, which Spark expects. It belongs
     * to the reader while a chunk is loaded, else to who closes.
     */
    private CrailBufferedInputStream in;

    /** Guarded by this, as the next one. */
    private boolean loading;

    private boolean closed;

    private synchronized void checkOpen() throws IOException {
      if (closed) {
        throw ErrorCode.CLOSED.exception("block of " + index.id());
      }
    }

    /** Makes sure that the present chunk has bytes; false at the end. */
    private boolean more() throws IOException {
      checkOpen();
      while (position == limit && run < index.runs()) {
        if (chunk < index.chunks(run, partition)) {
          load();
          chunk++;
        } else {
          chunk = 0;
          partition++;
          if (partition == to) {
            partition = from;
            run++;
          }
        }
      }
      return position < limit;
    }

    private void load() throws IOException {
      synchronized (this) {
        checkOpen();
        loading = true;
      }
      try {
        loadChunk();
      } finally {
        endLoad();
      }
    }

    private void endLoad() {
      boolean last;
      synchronized (this) {
        loading = false;
        last = closed;
      }
      if (last) {
        closeFile();
      }
    }

    private void loadChunk() throws IOException {
      Patience patience = new Patience(host);
      boolean wasWrong = false;
      while (true) {
        long began = host.time().nanoTime();
        try {
          readChunk();
          patience.answered();
          return;
        } catch (IOException e) {
          closeFile();
          boolean isWrong = e instanceof CorruptOutputException;
          if (isWrong ? wasWrong : !patience.tryAgain(e, began)) {
            throw failure(e);
          }
          wasWrong |= isWrong;
          try {
            host.time().pause();
          } catch (InterruptedException interrupt) {
            throw StoreFailure.of(interrupt);
          }
          checkOpen();
        }
      }
    }

    /** Spark takes an exception of reading for the loss of the output. */
    private IOException failure(IOException e) {
      if (e instanceof LimitExceededException) {
        // To compute the output once more would not help an executor that is short of memory.
        throw new UncheckedIOException(e);
      }
      return e;
    }

    private void readChunk() throws IOException {
      long start =
          chunk == 0 ? index.start(run, partition) : index.chunkEnd(run, partition, chunk - 1);
      int length = (int) (index.chunkEnd(run, partition, chunk) - start);
      if (bytes.length < length) {
        bytes = new byte[length];
      }
      if (in == null) {
        openFile();
      }
      if (in.position() != start) {
        in.seek(start);
      }
      int count = in.read(bytes, 0, length);
      if (count < length) {
        // Not an EOFException, which a deserializer takes for the end of the records.
        throw new CorruptOutputException(index.id() + " ends within partition " + partition);
      }
      crc.reset();
      crc.update(bytes, 0, length);
      if ((int) crc.getValue() != index.checksum(run, partition, chunk)) {
        throw new CorruptOutputException(
            "wrong checksum of partition " + partition + " of " + index.id());
      }
      position = 0;
      limit = length;
    }

    private void openFile() throws IOException {
      try {
        in = output.file().getBufferedInputStream(Long.MAX_VALUE);
      } catch (Exception e) {
        throw StoreFailure.of(e);
      }
    }

    private void closeFile() {
      try {
        if (in != null) {
          in.close();
        }
      } catch (IOException e) {
        LOG.debug("cannot close {}", index.id(), e);
      }
      in = null;
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
      int count = Math.min(length, limit - position);
      System.arraycopy(bytes, position, target, offset, count);
      position += count;
      return count;
    }

    @Override
    public int available() {
      return limit - position;
    }

    @Override
    public void close() {
      boolean idle;
      synchronized (this) {
        idle = !loading && !closed;
        closed = true;
      }
      // Otherwise the reader does it. Others may not have its buffers before.
      if (idle) {
        closeFile();
      }
    }
  }
}
