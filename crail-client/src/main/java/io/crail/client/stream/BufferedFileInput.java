/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.loop.IoWait;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** A buffered stream over one file. */
public final class BufferedFileInput extends SlicedInput {
  /** Bytes of the first read after a jump. A reader that jumps often reads little at each place. */
  private static final int FIRST_AFTER_SEEK = 64 << 10;

  /** Slices that are read ahead of bytes that go straight to the caller's memory. */
  private static final int AHEAD_OF_STRAIGHT = 2;

  private final DirectInput input;
  private final int slices;

  /** Where the next read begins. */
  private long nextRead;

  /** Where the next slice is consumed from. */
  private long nextByte;

  private boolean jumped;

  /** Reads ahead from a direct stream, which is closed with this. */
  public BufferedFileInput(DirectInput input) {
    this(input, input.streams().sliceCount());
  }

  private BufferedFileInput(DirectInput input, int slices) {
    super(input.streams(), slices);
    this.input = input;
    this.slices = slices;
    opened(input.file().getPath(), input::release);
  }

  @Override
  int wanted() {
    int sliceBytes = streams().sliceBytes();
    int length = (int) (sliceBytes - nextRead % sliceBytes);
    if (jumped) {
      length = Math.min(length, FIRST_AFTER_SEEK);
    }
    return (int) Math.max(0, Math.min(length, input.file().size() - nextRead));
  }

  @Override
  Slice issue(StreamMemory.Piece free) throws CrailException, InterruptedException {
    // So that the next slices begin at multiples of their size in the file.
    int length = Math.min(wanted(), (int) (free.length() - nextRead % free.length()));
    StreamOperation operation = input.readAt(nextRead, free.memory(), free.root(), 0, length);
    if (operation.getLen() == 0) {
      return null;
    }
    nextRead += operation.getLen();
    input.issuedUpTo(nextRead);
    return new Slice(free, input, operation);
  }

  @Override
  int window() {
    // This thread copies local bytes itself, so copying them ahead gains nothing.
    return jumped || input.localBytes(nextRead) > 0 ? 1 : slices;
  }

  @Override
  protected int leastStraight() {
    return streams().sliceBytes();
  }

  @Override
  protected int readStraight(ByteBuffer target) throws IOException {
    checkOpen();
    // With nothing ahead, the next read begins where the reader is.
    long local = ahead().isEmpty() ? input.localBytes(nextRead) : 0;
    if (local == 0) {
      return target.isDirect() ? IoWait.of(() -> readAround(target)) : 0;
    }
    releaseCurrent();
    int wanted = (int) Math.min(local, target.remaining());
    StreamOperation operation =
        IoWait.of(
            () -> {
              StreamOperation read =
                  input.readAt(nextRead, target, target, target.position(), wanted);
              countStraight(read);
              read.awaitEnd();
              return read;
            });
    int length = (int) operation.getLen();
    target.position(target.position() + length);
    nextRead += length;
    nextByte = nextRead;
    jumped &= length == 0;
    input.issuedUpTo(nextRead);
    return length;
  }

  /**
   * Reads bytes that are not read ahead into the caller's memory, and the bytes after them into
   * slices, so that the network is busy until the next call. Returns 0 when that does not pay.
   */
  private int readAround(ByteBuffer target) throws CrailException, InterruptedException {
    releaseCurrent();
    long begin = nextByte;
    long end = Math.min(begin + target.remaining(), input.file().size());
    int inSlices = (int) (nextRead - begin);
    // So that the slices after them begin at multiples of their size in the file, if there are any.
    long behind = jumped ? 0 : end % streams().sliceBytes();
    int length = (int) (end - behind - nextRead);
    if (length < streams().sliceBytes() || !input.takesAnyMemory(nextRead)) {
      return 0;
    }
    StreamOperation straight =
        input.readAt(nextRead, target, target, target.position() + inSlices, length);
    countStraight(straight);
    nextRead += length;
    int ahead = jumped ? 0 : AHEAD_OF_STRAIGHT;
    jumped = false;
    boolean copied = false;
    try {
      int slices = ahead().size();
      readAhead(slices + ahead);
      input.issuedUpTo(nextRead);
      for (; slices > 0; slices--) {
        copyNext(target);
      }
      copied = true;
    } finally {
      awaitStraight(straight, copied);
    }
    target.position(target.position() + length);
    nextByte = straight.end();
    return inSlices + length;
  }

  /** Waits until the caller's memory is not in use any more; a later read tries again. */
  private void awaitStraight(StreamOperation straight, boolean wanted) throws CrailException {
    try {
      straight.awaitEnd();
    } catch (CrailException e) {
      if (wanted) {
        restartAt(nextByte);
        throw e;
      }
    }
    if (!wanted) {
      restartAt(nextByte);
    }
  }

  @Override
  void consumedFrom(Slice slice) {
    // The next slice comes after this one, so the reader continues from here.
    jumped = false;
    nextByte = slice.end();
  }

  @Override
  boolean skipsFailed(Slice slice, CrailException cause) {
    return false;
  }

  @Override
  void failedAt(Slice slice, CrailException cause) {
    // A later read tries again.
    restartAt(slice.start());
  }

  @Override
  public void seek(long position) throws IOException {
    checkOpen();
    long size = input.file().size();
    if (position < 0 || position > size) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          "seek to " + position + " of " + size + " bytes of " + input.file().getPath());
    }
    skip(jumpTo(position));
  }

  /**
   * Goes to a position, or to the slice that is read ahead there; returns the bytes left to skip.
   */
  private long jumpTo(long position) {
    Slice current = current();
    if (current != null && position >= current.start() && position < current.end()) {
      slice().position((int) (position - current.start()));
      return 0;
    }
    if (position == position()) {
      return 0;
    }
    releaseCurrent();
    while (!ahead().isEmpty() && position >= ahead().peekFirst().end()) {
      discardNext();
    }
    Slice head = ahead().peekFirst();
    if (head == null || position < head.start()) {
      restartAt(position);
      return 0;
    }
    nextByte = head.start();
    return position - head.start();
  }

  private void restartAt(long position) {
    while (!ahead().isEmpty()) {
      discardNext();
    }
    nextRead = position;
    nextByte = position;
    jumped = true;
  }

  @Override
  protected int readAt(long position, byte[] target, int offset, int length) throws IOException {
    checkOpen();
    if (position < 0) {
      throw ErrorCode.OUT_OF_RANGE.exception("read at " + position);
    }
    if (length == 0) {
      return 0;
    }
    return IoWait.of(() -> readParts(position, ByteBuffer.wrap(target, offset, length)));
  }

  /** Reads part by part, each on the shortest path that it has now. */
  private int readParts(long position, ByteBuffer target)
      throws CrailException, InterruptedException {
    int begin = target.position();
    long next = position;
    while (target.hasRemaining() && next < input.file().size()) {
      long local = input.localBytes(next);
      if (local > 0) {
        int wanted = (int) Math.min(local, target.remaining());
        StreamOperation read = input.readAt(next, target, target, target.position(), wanted);
        read.awaitEnd();
        target.position(target.position() + (int) read.getLen());
      } else {
        readThroughBuffer(next, target);
      }
      next = position + target.position() - begin;
    }
    return next == position ? -1 : (int) (next - position);
  }

  /**
   * Reads to the end, or to where bytes can be copied straight. Two halves take turns: while the
   * bytes of one half are copied, the bytes of the other half are in flight.
   */
  private void readThroughBuffer(long position, ByteBuffer target)
      throws CrailException, InterruptedException {
    StreamMemory shared = streams().memory();
    int length = target.remaining();
    int most = streams().sliceBytes();
    StreamMemory.Piece first = streams().awaitMemory(() -> shared.take(Math.min(length, most)));
    StreamMemory.Piece second =
        length <= first.length() ? null : takeOrNull(Math.min(length, most));
    StreamMemory.Piece next = second == null ? first : second;
    // With one piece only, its halves take turns, unless it has room for everything.
    int half = second == null && length > first.length() ? first.length() / 2 : 0;
    int part = half > 0 ? half : Math.min(first.length(), next.length());
    // Nothing else may be read into this memory until its bytes are copied.
    boolean once = second == null && half == 0;
    boolean turn = false;
    int issued = 0;
    StreamOperation older = StreamOperation.ended(input, position, 0);
    StreamOperation newer = older;
    try {
      do {
        older = newer;
        StreamMemory.Piece olderPiece = turn ? next : first;
        int olderOffset = turn ? half : 0;
        turn = !turn;
        StreamMemory.Piece piece = turn ? next : first;
        long from = position + issued;
        int left = issued > 0 && (once || input.localBytes(from) > 0) ? 0 : length - issued;
        newer =
            input.readAt(from, piece.memory(), piece.root(), turn ? half : 0, Math.min(left, part));
        issued += (int) newer.getLen();
        older.await();
        int count = (int) older.getLen();
        target.put(target.position(), olderPiece.memory(), olderOffset, count);
        target.position(target.position() + count);
      } while (newer.getLen() > 0);
    } finally {
      AtomicInteger inFlight = new AtomicInteger(2);
      Runnable ended =
          () -> {
            if (inFlight.decrementAndGet() == 0) {
              shared.release(first);
              if (second != null) {
                shared.release(second);
              }
            }
          };
      older.whenComplete(ended);
      newer.whenComplete(ended);
    }
  }

  private StreamMemory.Piece takeOrNull(int wanted) throws CrailException {
    try {
      return streams().memory().take(wanted);
    } catch (LimitExceededException | ClosedException e) {
      return null;
    }
  }

  @Override
  public long position() {
    Slice current = current();
    return current != null ? current.start() + slice().position() : nextByte;
  }

  @Override
  void closeInputs() throws Exception {
    input.close();
  }
}
