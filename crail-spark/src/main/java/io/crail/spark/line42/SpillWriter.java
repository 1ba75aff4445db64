/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.line42.LocatedWriter.SealedOutput;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputWriter;
import java.io.EOFException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;

/**
 * Makes the only spill of a map task an output, its partitions as they are. Without it Spark reads
 * and writes each partition anew; where data are encrypted, an empty one has a header then, and
 * counts as one that has records. So it is, with Spark's own files too, where there are more
 * spills.
 */
final class SpillWriter implements SingleSpillShuffleMapOutputWriter {
  private static final int PIECE_BYTES = 1 << 16;

  private final ShuffleManager42 manager;
  private final OutputId id;

  SpillWriter(ShuffleManager42 manager, OutputId id) {
    this.manager = manager;
    this.id = id;
  }

  @Override
  public void transferMapSpillFile(File spill, long[] lengths, long[] checksums)
      throws IOException {
    long began = System.nanoTime();
    transfer(spill, lengths);
    // Spark counts no time for this: with its own files it is a rename.
    TaskContext task = TaskContext.get();
    if (task != null) {
      task.taskMetrics().shuffleWriteMetrics().incWriteTime(System.nanoTime() - began);
    }
  }

  private void transfer(File spill, long[] lengths) throws IOException {
    try (OutputWriter out = manager.open(id, lengths.length);
        InputStream in = new FileInputStream(spill)) {
      byte[] piece = new byte[PIECE_BYTES];
      for (int partition = 0; partition < lengths.length; partition++) {
        if (lengths[partition] > 0) {
          out.beginPartition(partition);
          copy(in, out, lengths[partition], piece);
          out.endPartition();
        }
      }
      OutputWriter.Sealed result = out.seal();
      if (!Arrays.equals(lengths, result.index().lengths())) {
        throw new IllegalStateException("another attempt has sealed " + id + " with other lengths");
      }
      manager.sealed(new SealedOutput(out, result.host()));
    }
  }

  private static void copy(InputStream in, OutputWriter out, long length, byte[] piece)
      throws IOException {
    for (long left = length; left > 0; ) {
      int count = in.read(piece, 0, (int) Math.min(left, piece.length));
      if (count < 0) {
        throw new EOFException(left + " bytes are missing in the spill");
      }
      out.write(piece, 0, count);
      left -= count;
    }
  }
}
