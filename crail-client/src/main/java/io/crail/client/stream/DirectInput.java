/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.ReadLocator;
import io.crail.client.statistics.StreamCounters;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.part.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;

/** Reads a file. Used by one thread at a time. */
public final class DirectInput extends DirectStream implements CrailInputStream {
  private final boolean revalidates;
  private final ReadLocator readLocator;
  private long hint;
  private long position;
  private boolean closed;

  /** Null for a stream that only this store uses. */
  private UnclosedStreams.Entry entry;

  private DirectInput(
      StreamFile file,
      StreamContext streams,
      LoopContext context,
      ReadLocator locator,
      long hint,
      boolean revalidates) {
    super(file, streams, context, locator);
    this.readLocator = locator;
    this.hint = hint;
    this.revalidates = revalidates;
  }

  /**
   * Opens a stream.
   *
   * @param first the extents known from the lookup
   * @param revalidates whether a read fails when the node is gone by then, though its bytes can
   *     still be read
   */
  public static DirectInput open(
      StreamFile file,
      StreamContext streams,
      LoopContext context,
      long id,
      List<Extent> first,
      long validUntilNanos,
      long hint,
      boolean revalidates) {
    ReadLocator locator =
        new ReadLocator(file, context, id, first, validUntilNanos, hint, !revalidates);
    streams.statistics().inputOpened();
    return new DirectInput(file, streams, context, locator, hint, revalidates);
  }

  /** Notes that a program has this stream and will close it. */
  public DirectInput opened() {
    entry = streams().unclosed().add(this, file().getPath(), giveBack(streams(), counters()));
    return this;
  }

  /** What is done for a stream that was dropped. Static, so that it does not refer to it. */
  private static Runnable giveBack(StreamContext streams, StreamCounters counters) {
    return () -> streams.statistics().inputClosed(counters);
  }

  @Override
  boolean isWriter() {
    return false;
  }

  @Override
  void operationEnded(PartedOperation operation, CrailException failure) {
    // The error is ignored here: the reader learns the outcome from the operation.
  }

  @Override
  public CrailNode getFile() {
    return file();
  }

  @Override
  public Future<CrailResult> read(CrailBuffer buffer) throws Exception {
    Objects.requireNonNull(buffer, "buffer");
    int offset = buffer.position();
    StreamOperation operation = read(memoryOf(buffer), rootOf(buffer), offset, buffer.remaining());
    buffer.position(offset + (int) operation.getLen());
    return operation;
  }

  /** Reads up to {@code wanted} bytes and advances the position by what was issued. */
  StreamOperation read(ByteBuffer memory, ByteBuffer root, int offset, int wanted)
      throws CrailException, InterruptedException {
    StreamOperation operation = readAt(position, memory, root, offset, wanted);
    position += operation.getLen();
    issuedUpTo(position);
    return operation;
  }

  /**
   * Announces that reading continues at a position, so that its location can be asked for ahead.
   */
  void issuedUpTo(long next) {
    if (next < hint && next < file().size()) {
      readLocator.issuedUpTo(next, context().nanoTime());
    }
  }

  /** Reads up to {@code wanted} bytes from a position. The position of the stream stays. */
  public StreamOperation readAt(
      long from, ByteBuffer memory, ByteBuffer root, int offset, int wanted)
      throws CrailException, InterruptedException {
    return readAt(from, memory, root, offset, wanted, Long.MAX_VALUE);
  }

  /**
   * As {@link #readAt(ByteBuffer, ByteBuffer, int, int, long)}, for a read that leaves the memory
   * alone after {@code mostNanos}.
   */
  public StreamOperation readAt(
      long from, ByteBuffer memory, ByteBuffer root, int offset, int wanted, long mostNanos)
      throws CrailException, InterruptedException {
    checkOpen();
    int length = (int) Math.max(0, Math.min(wanted, file().size() - from));
    if (length == 0) {
      return StreamOperation.ended(this, from, 0);
    }
    context().throttle();
    long now = context().nanoTime();
    byte[] held = file().heldByWriter();
    byte[] known = held == null ? known(now) : null;
    if (known != null && from + length <= known.length) {
      memory.put(offset, known, (int) from, length);
      asksNothingAhead();
      counters().operation(length, true);
      return StreamOperation.ended(this, from, length);
    }
    StreamOperation operation = newOperation(memory, root, offset, from, length, now, mostNanos);
    if (revalidates) {
      operation.partBegun();
      new Revalidation(operation).submit();
    }
    if (held != null && from + length <= held.length) {
      operation.supply(held);
      asksNothingAhead();
    } else {
      operation.advance(now, false);
    }
    counters().operation(length, operation.isComplete());
    return operation;
  }

  /** All bytes of a small value that may be read without asking the namenode; else null. */
  private byte[] known(long nowNanos) {
    byte[] value = file().knownValue(nowNanos);
    return value != null ? value : readLocator.value(nowNanos);
  }

  /** Asks whether the node still exists, while its bytes are being moved. */
  private final class Revalidation
      extends OperationCall<FindExtents.Request, FindExtents.Response> {
    private final StreamOperation operation;

    Revalidation(StreamOperation operation) {
      super(NameNodeOperations.FIND_EXTENTS);
      this.operation = operation;
      FindExtents.Request request = new FindExtents.Request(file().id(), operation.start(), 0);
      prepare(
          context().namenodes().route(NameNodeOperations.FIND_EXTENTS, request),
          request,
          Math.min(context().namenodes().newDeadlineNanos(), operation.deadlineNanos()));
    }

    @Override
    protected void completed() {
      operation.partEnded(failure());
    }
  }

  @Override
  long localBytes(long position) {
    return revalidates ? 0 : super.localBytes(position);
  }

  /** Asks for no location ahead from now on. A small value has no location. */
  private void asksNothingAhead() {
    hint = 0;
    readLocator.hint(0);
  }

  private void checkOpen() throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("input stream of " + file().getPath());
    }
    streams().checkOpen();
  }

  @Override
  public void seek(long newPosition) throws IOException {
    checkOpen();
    if (newPosition < 0 || newPosition > file().size()) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          "seek to " + newPosition + " of " + file().size() + " bytes of " + file().getPath());
    }
    if (newPosition != position) {
      // What will be read next is no longer known.
      asksNothingAhead();
      position = newPosition;
    }
  }

  @Override
  public int available() {
    return (int) Math.max(0, Math.min(file().size() - position, Integer.MAX_VALUE));
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public void close() throws Exception {
    boolean first = !closed;
    closed = true;
    if (entry != null) {
      entry.closed();
    }
    try {
      awaitOperations();
    } finally {
      if (first) {
        // Until now the loop may have issued pieces.
        streams().statistics().inputClosed(counters());
      }
    }
  }

  /** Closes without waiting for outstanding reads. */
  public void release() {
    if (!closed) {
      closed = true;
      streams().statistics().inputClosed(counters());
    }
  }
}
