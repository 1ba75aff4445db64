/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import io.crail.CrailBufferCache;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Reads ranges of files, many at the same time and with bounded memory. A range goes into memory of
 * the caller: into a direct buffer straight from the datanode, into one of the heap through memory
 * of the store, at most four of its buffers ({@code crail.buffersize}) at a time. While those are
 * full {@link #begin} waits for what was begun before. Near ranges of one file on the heap that are
 * begun one after the other are read as one. A range on the heap of more than 512 KiB, or of more
 * than a buffer, is read by itself, when it is waited for.
 *
 * <pre>{@code
 * try (PositionedReader file = new PositionedReader(store.lookup("/a").get().asFile());
 *     RangeReader reader = new RangeReader(store, 4096)) {
 *   List<RangeRead> ranges = new ArrayList<>();
 *   for (long position : positions) {
 *     ranges.add(reader.begin(file, position, ByteBuffer.allocate(1000)));
 *   }
 *   for (RangeRead range : ranges) {
 *     use(range.get());
 *   }
 * }
 * }</pre>
 *
 * <p>Used by one thread at a time, and so are its files.
 */
public final class RangeReader implements AutoCloseable {
  private final CrailBufferCache cache;
  private final int maxGapBytes;

  private final RangeRead.Ender ender = this::end;

  /** Transfers in flight, in the order in which they were issued. */
  private final Deque<RangeTransfer> issued = new ArrayDeque<>();

  /**
   * Transfers that had no memory and were not issued: each is read by itself, without other reads.
   */
  private final Deque<RangeTransfer> apart = new ArrayDeque<>();

  private RangeMemory memory;

  /**
   * A transfer to the heap that later near ranges may still join, so it is not issued yet; or null.
   */
  private RangeTransfer joining;

  private boolean closed;

  /**
   * Creates a reader, which takes no memory yet.
   *
   * @param cache the store of the files, which lends memory for ranges on the heap
   * @param maxGapBytes most bytes between two ranges of a file that are read along with them to
   *     join the two; 0 joins only ranges that touch
   */
  public RangeReader(CrailBufferCache cache, int maxGapBytes) {
    this.cache = cache;
    this.maxGapBytes = maxGapBytes;
    this.memory = new RangeMemory(cache);
  }

  /**
   * Begins to read a range. Its errors are reported by {@link RangeRead#get}; a {@code
   * ClosedException} after {@link #close}.
   *
   * @param file a reader of the calling thread; stays open until the range has ended
   * @param position the position of the first byte in the file
   * @param target takes as many bytes as it has between position and limit, both of which stay; it
   *     belongs to the read until that ends
   * @return the range, whose bytes are there after {@link RangeRead#get}
   * @throws IllegalArgumentException for a target that is read-only
   */
  public RangeRead begin(PositionedReader file, long position, ByteBuffer target) {
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("a range cannot be read into read-only " + target);
    }
    RangeRead range = new RangeRead(ender, file, position, target);
    if (closed) {
      range.failed(closedError(), false);
    } else if (range.length() == 0) {
      range.arrived(null, 0, 0);
    } else if (target.isDirect()) {
      issue(new RangeTransfer(range));
    } else if (joining == null || !joining.join(range, maxGapBytes, memory)) {
      issueJoined();
      joining = new RangeTransfer(range);
    }
    return range;
  }

  private void issue(RangeTransfer transfer) {
    issued.add(transfer);
    transfer.issue();
  }

  /** Issues the joined ranges, if there is memory for them. */
  private void issueJoined() {
    RangeTransfer transfer = joining;
    joining = null;
    if (transfer == null) {
      return;
    }
    if (transfer.hasRoom(memory) && hasPlace(transfer)) {
      issue(transfer);
    } else {
      apart.add(transfer);
    }
  }

  private boolean hasPlace(RangeTransfer transfer) {
    if (transfer.place(memory)) {
      return true;
    }
    endIssued();
    memory.reuse();
    return transfer.place(memory);
  }

  /** Ends a range, the transfers begun before, and the ranges joined with it. */
  private void end(RangeRead range) throws Exception {
    if (range.hasEnded()) {
      return;
    }
    issueJoined();
    while (!range.hasEnded() && !issued.isEmpty()) {
      issued.remove().end(memory);
    }
    if (!range.hasEnded()) {
      try {
        giveBack();
      } finally {
        while (!range.hasEnded()) {
          apart.remove().end(memory);
        }
      }
    }
  }

  private void endIssued() {
    while (!issued.isEmpty()) {
      issued.remove().end(memory);
    }
  }

  /** Gives the memory back, so that a range read by itself finds free buffers in the store. */
  private void giveBack() throws Exception {
    endIssued();
    RangeMemory used = memory;
    memory = new RangeMemory(cache);
    used.giveBack();
  }

  private static CrailException closedError() {
    return ErrorCode.CLOSED.exception("reader of ranges");
  }

  /**
   * Ends all ranges that were begun and gives the memory back. A range that is not in flight, since
   * no memory was there for it, ends with a {@code ClosedException}. Memory into which a read may
   * still put bytes after its deadline goes back when that read has ended.
   *
   * @throws Exception when the store does not take its memory back; only {@link RangeRead#get}
   *     reports errors of ranges
   */
  @Override
  public void close() throws Exception {
    closed = true;
    issueJoined();
    while (!apart.isEmpty()) {
      apart.remove().fail(closedError(), false);
    }
    giveBack();
  }
}
