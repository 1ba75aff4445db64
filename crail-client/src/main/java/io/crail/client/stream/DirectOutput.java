/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.client.lease.HandleLease;
import io.crail.client.lease.LeaseReturn;
import io.crail.client.lease.WriteLeases;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.WriteLocator;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Appends to a file. The bytes of a small value are held back and go to the namenode with the
 * close. When there are more bytes, or readers must see them before the close, they are written to
 * datanodes like all other bytes. Used by one thread at a time. Operations end in any thread, and
 * the store may {@linkplain #end end} the stream from any thread.
 */
public final class DirectOutput extends DirectStream
    implements CrailOutputStream, StreamContext.Output {
  private final long id;
  private final long token;
  private final long writeHint;
  private final HandleLease handle;
  private final WriteLeases.Held lease;
  private final WriteLedger writes;
  private final HeldValue held;
  private final OutputClose closing;

  private long position;
  private boolean closed;

  /**
   * Opens a stream.
   *
   * @param size the position where it begins
   * @param last the extent that holds the end, if there is one
   * @param value the present bytes of a small value
   * @param handle where the lease goes back to
   * @param lease the lease while this is open
   */
  public DirectOutput(
      StreamFile file,
      StreamContext streams,
      LoopContext context,
      NodeInfo info,
      List<Extent> last,
      SmallValue value,
      long token,
      long writeHint,
      HandleLease handle,
      WriteLeases.Held lease) {
    super(
        file,
        streams,
        context,
        new WriteLocator(context, info.id(), token, file.getPath(), info.size(), last, writeHint));
    this.id = info.id();
    this.token = token;
    this.writeHint = writeHint;
    this.handle = handle;
    this.lease = lease;
    this.position = info.size();
    this.writes = new WriteLedger(info.size());
    boolean isFile = file.getType() == CrailNodeType.DATAFILE;
    int most = Math.min(context.smallValue(id, isFile), streams.mostHeldBytes());
    boolean holds = value.length() > 0 || (info.size() == 0 && most > 0 && writeHint <= most);
    this.held = new HeldValue(streams, most, holds, value);
    this.closing = new OutputClose(this, id, writes, held, token, handle);
    streams.statistics().outputOpened();
    if (!holds) {
      locator().issuedUpTo(position, context.nanoTime());
    }
  }

  /** Why bytes that the stream took may be lost, once nothing is in flight any more. */
  CrailException bytesLost() {
    return bytesLost(writes);
  }

  /** As {@link #bytesLost}, also because of a datanode that has ended. */
  public CrailException loss() {
    CrailException lost = bytesLost();
    return lost == null ? holderLost() : lost;
  }

  @Override
  boolean isWriter() {
    return true;
  }

  @Override
  public CrailNode getFile() {
    return file();
  }

  @Override
  public Future<CrailResult> write(CrailBuffer buffer) throws Exception {
    Objects.requireNonNull(buffer, "buffer");
    int offset = buffer.position();
    StreamOperation operation = write(memoryOf(buffer), rootOf(buffer), offset, buffer.remaining());
    buffer.position(offset + (int) operation.getLen());
    return operation;
  }

  /** Writes {@code length} bytes. */
  public StreamOperation write(ByteBuffer memory, ByteBuffer root, int offset, int length)
      throws CrailException, InterruptedException {
    if (length == 0) {
      checkWritable(context().nanoTime());
      return StreamOperation.ended(this, position, 0);
    }
    context().throttle();
    long now = context().nanoTime();
    checkWritable(now);
    if (held.isHolding()) {
      StreamOperation kept = hold(memory, offset, length);
      if (kept != null) {
        return kept;
      }
      writeHeld(now);
    }
    writes.begun();
    CrailException end = writes.refusal();
    if (end != null) {
      writes.over();
      throw end.rethrown();
    }
    StreamOperation operation = issue(position, memory, root, offset, length, now);
    position += length;
    locator().issuedUpTo(position, now);
    counters().operation(length, operation.isComplete());
    return operation;
  }

  /** Keeps bytes for the close; null when they are too many. */
  private StreamOperation hold(ByteBuffer memory, int offset, int length) throws CrailException {
    long start = position;
    synchronized (this) {
      checkNotEnded();
      if (!held.makeRoomTo(position + length)) {
        return null;
      }
      held.add(memory, offset, length);
    }
    position += length;
    file().grownTo(position);
    counters().operation(length, true);
    return StreamOperation.ended(this, start, length);
  }

  /**
   * Writes the bytes that were held back, from the first byte on, and then holds nothing back any
   * more. A failure changes nothing.
   */
  private void writeHeld(long nowNanos) throws CrailException {
    byte[] all = held.bytes();
    if (all.length == 0) {
      holdNothing();
      return;
    }
    CrailBuffer buffer = streams().bufferFor(all.length, file().getPath());
    ByteBuffer memory = memoryOf(buffer).put(0, all);
    CrailException end;
    synchronized (this) {
      // The thread that ends the stream sends the held bytes, or waits for the write.
      end = writes.refusal();
      if (end == null) {
        writes.begun();
        writes.end(0);
        held.beginWrite();
        // The namenode had no memory for the value, so another close follows.
        closing.again();
      }
    }
    if (end != null) {
      streams().free(buffer);
      throw end.rethrown();
    }
    issue(0, memory, rootOf(buffer), 0, all.length, nowNanos)
        .whenComplete(() -> streams().free(buffer));
  }

  /** Writes the held bytes that no one else knows of; does nothing once writes fail. */
  void sendHeld() throws CrailException {
    long now = context().nanoTime();
    if (holdsMore() && writes.loss() == null && lossAt(now) == null) {
      writeHeld(now);
    }
  }

  /**
   * Makes the stream write all bytes to extents, also a few. Called before the first write, and at
   * the end.
   */
  public synchronized void holdNothing() {
    held.drop();
  }

  /** All bytes of a small value that are not written yet, or null. */
  public byte[] held() {
    return held.bytes();
  }

  /** True when held bytes have to go to the namenode. */
  private synchronized boolean holdsMore() {
    return held.holdsBeyond(writes.visible());
  }

  private void checkNotEnded() throws CrailException {
    CrailException end = writes.refusal();
    if (end != null) {
      throw end.rethrown();
    }
  }

  private void checkWritable(long nowNanos) throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("output stream of " + file().getPath());
    }
    streams().checkOpen();
    CrailException before = writes.loss();
    if (before != null) {
      throw before.rethrown();
    }
    CrailException lost = lossAt(nowNanos);
    if (lost != null) {
      throw lost;
    }
  }

  /** The error of a lease that may have run out; null while it lasts. */
  @Override
  CrailException lossAt(long nowNanos) {
    return lease.isValid(nowNanos) ? null : lease.loss(file().getPath());
  }

  /** Moves with each renewal, so a slow piece may take as long as the lease is held. */
  @Override
  long pieceDeadlineNanos(long operationDeadlineNanos) {
    long leaseEnd = lease.validUntilNanos();
    return leaseEnd - operationDeadlineNanos < 0 ? leaseEnd : operationDeadlineNanos;
  }

  /**
   * Where this stream has written a position, for readers, or null. Good as long as the lease.
   * After that the file may continue in other space, from the end that the namenode knows.
   */
  public LocatedExtent locate(long position, long nowNanos) {
    LocatedExtent located = lease.isValid(nowNanos) ? locator().find(position, nowNanos) : null;
    return located == null ? null : new LocatedExtent(located.extent(), lease.validUntilNanos());
  }

  @Override
  void operationEnded(PartedOperation operation, CrailException cause) {
    synchronized (this) {
      if (cause != null) {
        writes.failed(operation, cause);
      } else if (writes.written(operation)) {
        file().grownTo(writes.end());
        held.written(writes.end());
      }
    }
    writes.over();
  }

  @Override
  public void end(CrailException why, Runnable then) {
    synchronized (this) {
      writes.refuse(why);
    }
    writes.whenIdle(() -> closing.of(false).giveUpValue(then));
  }

  @Override
  public void nodeRemoved(CrailException why, Runnable then) {
    // The namenode keeps the space free as long as the lease was good for when the node was
    // removed, and no longer.
    lease.close();
    end(why, then);
  }

  /** By the node, so that a repeated run meets streams in the same order. */
  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public boolean isEnded() {
    return writes.refusal() != null;
  }

  @Override
  public Future<Void> sync() throws IOException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("output stream of " + file().getPath());
    }
    streams().checkOpen();
    sendHeld();
    SyncCall sync = new SyncCall(this, writes, id, token, position);
    sync.begin();
    return sync;
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public long getWriteHint() {
    return writeHint;
  }

  @Override
  public void close() throws CrailException, InterruptedException {
    if (closed) {
      return;
    }
    closed = true;
    CrailException cause;
    try {
      awaitOperations();
      cause = closing.await();
      if (isFull(cause)) {
        // The namenode has no memory for the value.
        context().smallValuesFull(id);
        writeHeld(context().nanoTime());
        awaitOperations();
        cause = closing.await();
      }
    } catch (CrailException e) {
      cause = e;
    } finally {
      lease.close();
      ended(closing.end());
    }
    CrailException first = writes.failure();
    // A write to a node that this store has removed fails as the program asked for.
    if (first != null && !(isEnded() && first.code() == ErrorCode.STALE_NODE)) {
      throw first.rethrown();
    }
    if (cause != null) {
      throw cause.rethrown();
    }
  }

  /** Ends a stream that its program has dropped, as the store does at its own close. */
  void abandon() {
    end(ErrorCode.CLOSED.exception(file().getPath()), () -> ended(closing.of(false)));
  }

  /**
   * Closes as {@link #close} does, but does not wait. Only when no write is in flight.
   *
   * @param then gets the first error, or null, in the thread that learns of the end; it must not
   *     block
   */
  public void beginClose(Consumer<CrailException> then) {
    closed = true;
    closing.begin(
        cause -> {
          ended(closing.of(false));
          CrailException first = writes.failure();
          then.accept(first == null ? cause : first);
        });
  }

  /** The namenode has ended the lease of a stream in which no write is in flight. */
  void leaseEnded() {
    closed = true;
    handle.leaseEnded();
    ended();
  }

  private void ended(LeaseReturn last) {
    handle.endUse(last);
    ended();
  }

  private void ended() {
    holdNothing();
    lease.close();
    streams().closed(this);
    file().writerClosed();
    if (file().getType() == CrailNodeType.KEYVALUE) {
      streams().valueWritten(position);
    }
    streams().statistics().outputClosed(counters());
  }

  /** True for the error of a namenode that has no memory for the held bytes. */
  private boolean isFull(CrailException cause) {
    return cause != null && cause.code() == ErrorCode.NO_SPACE && holdsMore();
  }
}
