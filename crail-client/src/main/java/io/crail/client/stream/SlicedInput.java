/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBufferedInputStream;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.IoWait;
import io.crail.client.statistics.StreamCounters;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A buffered stream as a queue of slices that are being filled in the order they are consumed. */
abstract class SlicedInput extends CrailBufferedInputStream {
  private final StreamContext streams;
  private final SliceMemory memory;
  private final StreamCounters counters = new StreamCounters();

  /** Slices that are issued and not yet consumed, in the order of their bytes. */
  private final ArrayDeque<Slice> ahead = new ArrayDeque<>();

  /** Slices that are no longer needed, but whose reads may still write into them. */
  private final List<Slice> strays = new ArrayList<>();

  private Slice current;
  private boolean closed;

  /** Set at the end of the opening. */
  private UnclosedStreams.Entry entry;

  /** A slice and the read that fills it. */
  static final class Slice {
    private final StreamMemory.Piece memory;
    private final DirectInput input;
    private final StreamOperation operation;

    Slice(StreamMemory.Piece memory, DirectInput input, StreamOperation operation) {
      this.memory = memory;
      this.input = input;
      this.operation = operation;
      memory.usedBy(operation);
    }

    /** The stream that the slice is read from. */
    DirectInput input() {
      return input;
    }

    /** Position of its first byte in its file. */
    long start() {
      return operation.start();
    }

    /** Position after its last byte in its file. */
    long end() {
      return operation.end();
    }
  }

  SlicedInput(StreamContext streams, int slices) {
    this.streams = streams;
    this.memory = new SliceMemory(streams.memory(), slices);
  }

  /**
   * Notes the open stream. Called at the end of its opening.
   *
   * @param closeInputs ends the streams below without a wait; it does not refer to this
   */
  final void opened(String path, Runnable closeInputs) {
    entry = streams.unclosed().add(this, path, giveBack(streams, memory, counters, closeInputs));
  }

  /** What is done for a stream that was dropped. Static, so that it does not refer to it. */
  private static Runnable giveBack(
      StreamContext streams, SliceMemory memory, StreamCounters counters, Runnable closeInputs) {
    return () -> {
      memory.close();
      closeInputs.run();
      streams.statistics().bufferedInputClosed(counters);
    };
  }

  /** How many bytes the next slice can have; 0 when there is nothing more to read. */
  abstract int wanted() throws CrailException, InterruptedException;

  /**
   * Issues the next read into a slice.
   *
   * @return null when there is nothing more to read
   */
  abstract Slice issue(StreamMemory.Piece free) throws CrailException, InterruptedException;

  /** How many slices may be issued ahead now. */
  abstract int window();

  /**
   * Decides what a failed read means.
   *
   * @return true when the stream continues without the bytes of this slice
   */
  abstract boolean skipsFailed(Slice slice, CrailException cause);

  /** Closes the streams below. */
  abstract void closeInputs() throws Exception;

  final StreamContext streams() {
    return streams;
  }

  final SliceMemory memory() {
    return memory;
  }

  /** The slice that is being consumed, or null. */
  final Slice current() {
    return current;
  }

  /** The slices that are being filled. */
  final ArrayDeque<Slice> ahead() {
    return ahead;
  }

  final void checkOpen() throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("buffered input stream");
    }
  }

  @Override
  protected final ByteBuffer nextSlice(boolean wait) throws IOException {
    return IoWait.of(() -> next(wait));
  }

  private ByteBuffer next(boolean wait) throws CrailException, InterruptedException {
    checkOpen();
    releaseCurrent();
    while (true) {
      boolean filled = fill(wait);
      Slice head = ahead.peekFirst();
      if (head == null && !filled && wait) {
        awaitStray();
        continue;
      }
      if (head == null) {
        return null;
      }
      boolean ready = head.operation.isComplete();
      if (!ready && !wait && !head.operation.isDone()) {
        return null;
      }
      try {
        head.operation.await();
      } catch (CrailException e) {
        takeBack(ahead.pollFirst());
        if (skipsFailed(head, e)) {
          continue;
        }
        failedAt(head, e);
        throw e;
      }
      ahead.pollFirst();
      counters.operation((int) head.operation.getLen(), ready);
      current = head;
      consumedFrom(head);
      return head.memory.memory().limit((int) head.operation.getLen()).position(0);
    }
  }

  /** Counts a read that did not go through a slice. */
  final void countStraight(StreamOperation operation) {
    counters.operation((int) operation.getLen(), operation.isComplete());
  }

  /** A slice is about to be consumed. */
  abstract void consumedFrom(Slice slice);

  /** The bytes from this slice on could not be read. */
  abstract void failedAt(Slice slice, CrailException cause);

  @Override
  protected final void finished() {
    // A reader that is idle now has no memory.
    releaseCurrent();
  }

  /** Takes the consumed slice back. */
  final void releaseCurrent() {
    if (current != null) {
      Slice consumed = current;
      current = null;
      memory.release(consumed.memory);
      dropSlice();
    }
  }

  /** Takes a slice back, unless its read is in flight and may still write into it. */
  private void takeBack(Slice slice) {
    if (slice.operation.isComplete()) {
      memory.release(slice.memory);
    } else {
      strays.add(slice);
    }
  }

  /** Takes back the slices whose late reads have ended. */
  private void takeBackStrays() {
    for (Iterator<Slice> each = strays.iterator(); each.hasNext(); ) {
      Slice stray = each.next();
      if (stray.operation.isComplete()) {
        each.remove();
        memory.release(stray.memory);
      }
    }
  }

  /** Waits for the oldest late read, since late reads hold all slices. */
  private void awaitStray() throws CrailException, InterruptedException {
    StreamOperation oldest = strays.get(0).operation;
    if (!oldest.loop().await(oldest, oldest.deadlineNanos() + Awaitable.GRACE_NANOS)) {
      throw ErrorCode.TIMED_OUT.exception("reads that do not end hold slices of this stream");
    }
  }

  /** Takes the next slice back unread. Without a wait: an interrupt would leave a gap behind. */
  final void discardNext() {
    takeBack(ahead.pollFirst());
  }

  /** Issues the next reads; false when there were too few slices. */
  private boolean fill(boolean wait) throws CrailException, InterruptedException {
    while (ahead.size() < window()) {
      int wanted = wanted();
      if (wanted == 0) {
        return true;
      }
      StreamMemory.Piece free = takeFree(wanted, wait);
      if (free == null) {
        return false;
      }
      if (!issueInto(free)) {
        return true;
      }
    }
    return true;
  }

  /** Issues slices until {@code count} are ahead, as far as there is memory. */
  final void readAhead(int count) throws CrailException, InterruptedException {
    while (ahead.size() < count) {
      int wanted = wanted();
      StreamMemory.Piece free;
      try {
        free = wanted == 0 ? null : memory.take(wanted);
      } catch (LimitExceededException e) {
        return;
      }
      if (free == null || !issueInto(free)) {
        return;
      }
    }
  }

  /** Issues the next read; false when there is nothing more to read. */
  private boolean issueInto(StreamMemory.Piece free) throws CrailException, InterruptedException {
    Slice slice;
    try {
      slice = issue(free);
    } catch (CrailException | InterruptedException | RuntimeException e) {
      memory.release(free);
      throw e;
    }
    if (slice == null) {
      memory.release(free);
      return false;
    }
    ahead.addLast(slice);
    Reference.reachabilityFence(this);
    return true;
  }

  /**
   * Copies the next slice, which begins at the stream's position, to the target, which has room for
   * it.
   */
  final void copyNext(ByteBuffer target) throws CrailException, InterruptedException {
    Slice head = ahead.peekFirst();
    boolean ready = head.operation.isComplete();
    head.operation.await();
    ahead.pollFirst();
    int length = (int) head.operation.getLen();
    counters.operation(length, ready);
    target.put(target.position(), head.memory.memory(), 0, length);
    target.position(target.position() + length);
    memory.release(head.memory);
    consumedFrom(head);
  }

  /** A slice to fill; null when none is free, and some are being filled or this must not wait. */
  private StreamMemory.Piece takeFree(int wanted, boolean wait)
      throws CrailException, InterruptedException {
    if (!strays.isEmpty()) {
      takeBackStrays();
    }
    try {
      return memory.take(wanted);
    } catch (LimitExceededException e) {
      // Fewer slices are enough, but at least one is needed.
      if (!ahead.isEmpty() || !strays.isEmpty()) {
        return null;
      }
      if (!wait) {
        return null;
      }
      return streams.awaitMemory(() -> memory.take(wanted));
    }
  }

  @Override
  public final void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    entry.closed();
    dropSlice();
    try {
      closeInputs();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (InterruptedException e) {
      throw IoWait.interrupted(e);
    } catch (Exception e) {
      throw new IOException(e);
    } finally {
      // A read that was not waited for may still write into its slice.
      memory.close();
      streams.statistics().bufferedInputClosed(counters);
    }
  }
}
