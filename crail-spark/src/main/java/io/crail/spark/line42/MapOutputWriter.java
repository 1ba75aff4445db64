/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.line42.LocatedWriter.SealedOutput;
import io.crail.spark.output.OutputWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Consumer;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;

/** Writes an output for one of Spark's writers, as a single run. */
final class MapOutputWriter implements ShuffleMapOutputWriter {
  private final OutputWriter out;
  private final Consumer<SealedOutput> sealed;

  /** Creates it; {@code sealed} hears of the output. */
  MapOutputWriter(OutputWriter out, Consumer<SealedOutput> sealed) {
    this.out = out;
    this.sealed = sealed;
  }

  @Override
  public ShufflePartitionWriter getPartitionWriter(int partition) {
    return new PartitionWriter(partition);
  }

  /** Spark's own checksums are of the same bytes, but only help to find who spoilt them. */
  @Override
  public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
    OutputWriter.Sealed result = out.seal();
    sealed.accept(new SealedOutput(out, result.host()));
    return MapOutputCommitMessage.of(result.index().lengths());
  }

  @Override
  public void abort(Throwable error) throws IOException {
    out.close();
  }

  private final class PartitionWriter implements ShufflePartitionWriter {
    private final int partition;
    private long bytes;

    PartitionWriter(int partition) {
      this.partition = partition;
    }

    @Override
    public OutputStream openStream() throws IOException {
      out.beginPartition(partition);
      return new Partition();
    }

    @Override
    public long getNumBytesWritten() {
      return bytes;
    }

    private final class Partition extends OutputStream {
      private final byte[] single = new byte[1];
      private boolean closed;

      @Override
      public void write(int value) throws IOException {
        single[0] = (byte) value;
        write(single, 0, 1);
      }

      @Override
      public void write(byte[] source, int offset, int length) throws IOException {
        if (closed) {
          throw new IOException("partition " + partition + " is closed");
        }
        out.write(source, offset, length);
      }

      @Override
      public void close() {
        if (!closed) {
          closed = true;
          bytes = out.endPartition();
        }
      }
    }
  }
}
