/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputWriter;
import io.crail.spark.output.OutputWriter.Sealed;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.unsafe.Platform;

/**
 * Writes runs of serialized records to a map output, each partition of a run as a compressed stream
 * of its own. The file is created with the first partition. Counts bytes and records when their
 * partition ends, and the time in the store. Used by one thread.
 */
final class RunOutput implements AutoCloseable {
  /** Records are gathered in what the processor's first caches hold. */
  private static final int STAGED_BYTES = 1 << 15;

  /** Creates the file of an output. */
  @FunctionalInterface
  interface Opener {
    /** Creates it. */
    OutputWriter open(OutputId id, int partitions) throws IOException;
  }

  private final Opener opener;
  private final OutputId id;
  private final int partitions;
  private final SerializerManager serializers;
  private final TaskContext task;
  private final ShuffleWriteMetricsReporter metrics;
  private final Store store = new Store();
  private final byte[] staged = new byte[STAGED_BYTES];
  private int stagedBytes;
  private OutputWriter out;
  private OutputStream stream;
  private long records;

  /** Creates nothing in the store yet. */
  RunOutput(
      Opener opener,
      OutputId id,
      int partitions,
      SerializerManager serializers,
      TaskContext task,
      ShuffleWriteMetricsReporter metrics) {
    this.opener = opener;
    this.id = id;
    this.partitions = partitions;
    this.serializers = serializers;
    this.task = task;
    this.metrics = metrics;
  }

  /** Begins a partition, which comes after the last one of this run. */
  void beginPartition(int partition) throws IOException {
    endPartition();
    if (out == null) {
      long began = System.nanoTime();
      out = opener.open(id, partitions);
      metrics.incWriteTime(System.nanoTime() - began);
    }
    out.beginPartition(partition);
    stream =
        serializers.wrapForCompression(
            new ShuffleBlockId(id.shuffle(), id.map(), partition), store);
  }

  /** Writes a record of the partition, from an address as {@link Platform} has them. */
  void write(Object base, long offset, int length) throws IOException {
    records++;
    int done = 0;
    while (length - done > STAGED_BYTES - stagedBytes) {
      int count = STAGED_BYTES - stagedBytes;
      stage(base, offset + done, count);
      done += count;
      drain();
    }
    stage(base, offset + done, length - done);
  }

  private void stage(Object base, long offset, int length) {
    Platform.copyMemory(base, offset, staged, Platform.BYTE_ARRAY_OFFSET + stagedBytes, length);
    stagedBytes += length;
  }

  private void drain() throws IOException {
    task.killTaskIfInterrupted();
    stream.write(staged, 0, stagedBytes);
    stagedBytes = 0;
  }

  private void endPartition() throws IOException {
    if (stream == null) {
      return;
    }
    drain();
    stream.close();
    stream = null;
    metrics.incBytesWritten(out.endPartition());
    metrics.incRecordsWritten(records);
    records = 0;
  }

  /** Ends a run, which has at least one partition. */
  void endRun() throws IOException {
    endPartition();
    out.endRun();
  }

  /** Seals the output; without a run there is none. */
  Optional<Sealed> seal() throws IOException {
    if (out == null) {
      return Optional.empty();
    }
    long began = System.nanoTime();
    Sealed sealed = out.seal();
    metrics.incWriteTime(System.nanoTime() - began);
    return Optional.of(sealed);
  }

  /** Deletes the output, even when it was sealed. What cannot be deleted goes with the shuffle. */
  @Override
  public void close() {
    store.abandoned = true;
    OutputStream open = stream;
    OutputWriter writer = out;
    stream = null;
    out = null;
    try {
      if (open != null) {
        // It may have memory outside the heap.
        open.close();
      }
    } catch (IOException e) {
      // Another error is on its way already.
    }
    try {
      if (writer != null) {
        writer.discard();
      }
    } catch (IOException e) {
      // See above.
    }
  }

  /** Where compressed bytes go. */
  private final class Store extends OutputStream {
    private final byte[] single = new byte[1];
    private boolean abandoned;

    @Override
    public void write(int value) throws IOException {
      single[0] = (byte) value;
      write(single, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      if (!abandoned) {
        long began = System.nanoTime();
        out.write(source, offset, length);
        metrics.incWriteTime(System.nanoTime() - began);
      }
    }
  }
}
