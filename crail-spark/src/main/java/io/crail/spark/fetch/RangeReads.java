/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.spark.fetch.FetchMemory.Piece;
import io.crail.spark.output.CorruptOutputException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads of ranges of one file into memory of the fetcher, all in flight at the same time. Used by
 * one thread; its owner releases it.
 */
final class RangeReads {
  private static final Logger LOG = LoggerFactory.getLogger(RangeReads.class);

  private final FetchMemory memory;
  private final CrailInputStream stream;
  private final List<Piece> pieces = new ArrayList<>();
  private final List<Future<CrailResult>> reads = new ArrayList<>();
  private boolean ended;

  RangeReads(FetchMemory memory, CrailFile file) throws Exception {
    this.memory = memory;
    this.stream = file.getDirectInputStream(0);
  }

  /**
   * Issues the read of a range.
   *
   * @throws Exception a {@code LimitExceededException} when there is no memory for all of it; the
   *     caller releases what there was
   */
  void add(long from, long to) throws Exception {
    for (long position = from; position < to; ) {
      Piece piece = memory.take(to - position);
      pieces.add(piece);
      stream.seek(position);
      reads.add(stream.read(piece.buffer()));
      position += piece.length();
    }
  }

  /**
   * Waits for all reads, whatever comes of them.
   *
   * @throws Exception the first error, also of a file that ends too early
   */
  void await() throws Exception {
    ended = true;
    Exception failure = null;
    for (int i = 0; i < reads.size(); i++) {
      Exception error = error(i);
      failure = failure == null ? error : failure;
    }
    try {
      stream.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = failure == null ? e : failure;
    } catch (Exception e) {
      failure = failure == null ? e : failure;
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Waits for a read; its error, or null. */
  private Exception error(int read) {
    try {
      long length = reads.get(read).get().getLen();
      return length == pieces.get(read).length()
          ? null
          : new CorruptOutputException(stream.getFile().getPath() + " ends too early");
    } catch (ExecutionException e) {
      return (Exception) e.getCause();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return e;
    }
  }

  /** The memory, in the order of the ranges; after {@link #await} it has their bytes. */
  List<Piece> pieces() {
    return pieces;
  }

  /**
   * Gives the memory back, after a wait for all reads. A piece whose read has not ended, since this
   * thread was interrupted, goes back when it has.
   */
  void release() {
    if (!ended) {
      try {
        await();
      } catch (Exception e) {
        LOG.debug("these bytes are not needed any more", e);
      }
    }
    for (int i = 0; i < pieces.size(); i++) {
      pieces.get(i).releaseAfter(i < reads.size() ? reads.get(i) : null);
    }
    pieces.clear();
  }
}
