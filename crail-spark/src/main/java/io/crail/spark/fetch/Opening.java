/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailFile;
import io.crail.CrailNode;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import io.crail.spark.fetch.FetchMemory.Piece;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputIndex;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * The opening of an output, of which many may be in flight: {@link #readTail} once the lookup has
 * ended, {@link #get} once the read has. Used by one thread.
 */
final class Opening implements AutoCloseable {
  private final OutputId id;
  private final String path;
  private final Future<CrailNode> lookup;
  private final FetchMemory memory;
  private final int guess;
  private CrailFile file;
  private RangeReads reads;

  /**
   * Begins.
   *
   * @param lookup the lookup of the path
   * @param guess how many bytes the index is expected to have, at least those of its trailer
   */
  Opening(OutputId id, String path, Future<CrailNode> lookup, FetchMemory memory, int guess) {
    this.id = id;
    this.path = path;
    this.lookup = lookup;
    this.memory = memory;
    this.guess = guess;
  }

  /** Waits for the lookup and issues the read of the index. */
  void readTail() throws Exception {
    CrailNode node = found();
    if (node == null) {
      throw ErrorCode.NODE_NOT_FOUND.exception(path);
    }
    file = node.asFile();
    read((int) Math.min(file.getCapacity(), guess));
  }

  private CrailNode found() throws Exception {
    try {
      return lookup.get();
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  private void read(int count) throws Exception {
    close();
    reads = new RangeReads(memory, file);
    try {
      reads.add(file.getCapacity() - count, file.getCapacity());
    } catch (LimitExceededException e) {
      close();
    }
  }

  /** Waits for the index. */
  MapOutput get() throws Exception {
    while (reads != null) {
      ByteBuffer tail = tail();
      int needed = OutputIndex.bytes(tail, file.getCapacity());
      if (needed <= tail.limit()) {
        return MapOutput.of(file, tail, id);
      }
      read(needed);
    }
    // Blocks have all memory, so this index is read with that of a stream.
    return MapOutput.open(file, id);
  }

  private ByteBuffer tail() throws Exception {
    reads.await();
    int bytes = reads.pieces().stream().mapToInt(Piece::length).sum();
    ByteBuffer tail = ByteBuffer.allocate(bytes);
    for (Piece piece : reads.pieces()) {
      tail.put(piece.buffer().getByteBuffer());
    }
    return tail.flip();
  }

  /** Gives memory back. */
  @Override
  public void close() {
    if (reads != null) {
      reads.release();
      reads = null;
    }
  }
}
