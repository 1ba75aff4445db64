/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding.iostatisticsStore;

import io.crail.CrailBufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.impl.StoreImplementationUtils;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;

/**
 * Appends to a file. After {@code hflush}, {@code hsync} or {@code close} other clients see the
 * written bytes and the new length. {@code hflush} and {@code hsync} are the same, since a datanode
 * has nothing safer than its memory. Hadoop's stream around this one counts the bytes of the file
 * system. Thread-safe, since a file system closes its streams when it ends.
 */
final class CrailHadoopOutputStream extends OutputStream
    implements Syncable, StreamCapabilities, IOStatisticsSource {
  private final Path path;
  private final CrailBufferedOutputStream out;
  private final OpenOutputs open;
  private final IOStatisticsStore counters =
      iostatisticsStore()
          .withCounters(
              StreamStatisticNames.STREAM_WRITE_BYTES, StreamStatisticNames.STREAM_WRITE_EXCEPTIONS)
          .build();

  // Looked up once, since each write counts in it.
  private final AtomicLong bytesWritten =
      counters.getCounterReference(StreamStatisticNames.STREAM_WRITE_BYTES);

  private boolean closed;

  /**
   * Creates a stream.
   *
   * @param open the streams that the file system has to close; contains this stream while it is
   *     open
   */
  CrailHadoopOutputStream(Path path, CrailBufferedOutputStream out, OpenOutputs open) {
    this.path = path;
    this.out = out;
    this.open = open;
    open.add(this);
  }

  @Override
  public synchronized void write(int value) throws IOException {
    checkOpen();
    try {
      out.write(value);
    } catch (IOException e) {
      throw failed(e);
    }
    bytesWritten.incrementAndGet();
  }

  @Override
  public synchronized void write(byte[] source, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, source.length);
    checkOpen();
    try {
      out.write(source, offset, length);
    } catch (IOException e) {
      throw failed(e);
    }
    bytesWritten.addAndGet(length);
  }

  @Override
  public synchronized void flush() throws IOException {
    checkOpen();
  }

  @Override
  public synchronized void hflush() throws IOException {
    checkOpen();
    try {
      HadoopErrors.translate(path, () -> out.sync().get());
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void hsync() throws IOException {
    hflush();
  }

  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      out.close();
    } catch (IOException e) {
      throw failed(e);
    } finally {
      open.remove(this);
    }
  }

  @Override
  public boolean hasCapability(String capability) {
    return StoreImplementationUtils.isProbeForSyncable(capability)
        || capability.equalsIgnoreCase(StreamCapabilities.IOSTATISTICS);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return counters;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw HadoopErrors.streamClosed(path);
    }
  }

  private IOException failed(IOException error) {
    counters.incrementCounter(StreamStatisticNames.STREAM_WRITE_EXCEPTIONS);
    return HadoopErrors.translated(path, error);
  }

  @Override
  public String toString() {
    return "output stream of " + path + " " + counters;
  }
}
