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
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Appends to a file. The bytes of a small key-value are held back and go to the namenode with the
 * close; when there are more, or somebody is to see them before, they are written as any others.
 * Used by one thread at a time; operations end in any thread, and the store may {@linkplain #end
 * end} the stream from any thread.
 */
public final class DirectOutput extends DirectStream implements CrailOutputStream {
  private final long id;
  private final long token;
  private final long writeHint;
  private final HandleLease handle;
  private final WriteLeases.Held lease;

  /** Most bytes that are held back. */
  private final int mostHeld;

  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicReference<Runnable> whenIdle = new AtomicReference<>();
  private volatile CrailException ended;

  /** The first failure of a write; set under the monitor, read without. */
  private volatile CrailException failure;

  private long position;
  private boolean closed;

  // Guarded by "this".
  private final TreeMap<Long, Long> writtenApart = new TreeMap<>();
  private long written;
  private boolean transferFailed;
  private long visible;
  private boolean holding;

  /**
   * All bytes of a small value, those that were there before included: while holding, and then for
   * readers until they are written; else null. Changed under the monitor.
   */
  private volatile byte[] held;

  /** Gives the lease back, once somebody has begun that. */
  private LeaseReturn farewell;

  /**
   * Opens a stream.
   *
   * @param size where it begins
   * @param last the extent that holds the end, if there is one
   * @param value what is there, of a small value
   * @param handle where the lease goes back to
   * @param lease the lease as long as this is open
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
    this.written = info.size();
    this.visible = info.size();
    this.mostHeld =
        file.getType() == CrailNodeType.KEYVALUE
            ? Math.min(context.smallValue(id), streams.pool().bufferBytes())
            : 0;
    this.holding =
        value.length() > 0 || (info.size() == 0 && mostHeld > 0 && writeHint <= mostHeld);
    this.held = holding ? value.bytes() : null;
    streams.statistics().outputOpened();
    if (!holding) {
      locator().issuedUpTo(position, context.nanoTime());
    }
  }

  @Override
  boolean isWriter() {
    return true;
  }

  @Override
  boolean isImpatient() {
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
      return StreamOperation.ended(this, position);
    }
    context().throttle();
    long now = context().nanoTime();
    checkWritable(now);
    if (holding) {
      if (position + length <= mostHeld) {
        return hold(memory, offset, length);
      }
      writeHeld(now);
    }
    inFlight.incrementAndGet();
    CrailException end = ended;
    if (end != null) {
      operationGone();
      throw end.rethrown();
    }
    StreamOperation operation = issue(position, memory, root, offset, length, now);
    position += length;
    locator().issuedUpTo(position, now);
    counters().operation(length, operation.isComplete());
    return operation;
  }

  private StreamOperation issue(
      long start, ByteBuffer memory, ByteBuffer root, int offset, int length, long nowNanos) {
    StreamOperation operation = newOperation(memory, root, offset, start, length, nowNanos);
    operation.advance(nowNanos);
    return operation;
  }

  /** Keeps bytes for the close. */
  private StreamOperation hold(ByteBuffer memory, int offset, int length) throws CrailException {
    long start = position;
    synchronized (this) {
      if (ended != null) {
        throw ended.rethrown();
      }
      byte[] all = Arrays.copyOf(held, held.length + length);
      memory.get(offset, all, held.length, length);
      held = all;
    }
    position += length;
    file().grownTo(position);
    counters().operation(length, true);
    return StreamOperation.ended(this, start, length);
  }

  /**
   * Writes what was held back, from the first byte on, and holds nothing back any more. When it
   * fails it has changed nothing.
   */
  private void writeHeld(long nowNanos) throws CrailException {
    byte[] all = held;
    if (all.length == 0) {
      holdNothing();
      return;
    }
    CrailBuffer buffer = streams().bufferFor(all.length, file().getPath());
    ByteBuffer memory = buffer.getByteBuffer();
    memory.put(0, all);
    CrailException end;
    synchronized (this) {
      // Whoever ends the stream sends what is held, or waits for the write.
      end = ended;
      if (end == null) {
        inFlight.incrementAndGet();
        holding = false;
        written = 0;
        // A close that the namenode had no memory for is not the last.
        farewell = null;
      }
    }
    if (end != null) {
      streams().free(buffer);
      throw end.rethrown();
    }
    issue(0, memory, rootOf(buffer), 0, all.length, nowNanos)
        .whenComplete(() -> streams().free(buffer));
  }

  /** Writes what was held back and nobody else knows of; nothing once writes fail. */
  void sendHeld() throws CrailException {
    long now = context().nanoTime();
    if (holdsMore() && writeFailure() == null && lossAt(now) == null) {
      writeHeld(now);
    }
  }

  /** Writes all bytes to the extents, however few they are; before the first. */
  public void holdNothing() {
    synchronized (this) {
      holding = false;
      held = null;
    }
  }

  /** All bytes of a small value that are not written yet, or null. */
  public byte[] held() {
    return held;
  }

  /**
   * Goes on after bytes whose write was begun beside the create; before the first write.
   *
   * @throws CrailException when the store has ended the stream
   */
  public void begunBy(ExtentWrite before, int length) throws CrailException {
    synchronized (this) {
      if (ended != null) {
        // The namenode was told that nothing is written.
        throw ended.rethrown();
      }
      written = length;
    }
    position = length;
    file().grownTo(length);
    counters().add(before.counters());
  }

  /**
   * Has other space in the place of an extent to which a write begun beside the create has failed;
   * before the first write.
   */
  public void giveUp(Extent extent, CrailException cause) {
    LocatedExtent located = locator().find(extent.fileOffset(), context().nanoTime());
    if (located != null && located.extent().equals(extent)) {
      located.giveUp(cause, lease.validUntilNanos());
    }
  }

  /** True when the namenode is to have bytes that are held back. */
  private synchronized boolean holdsMore() {
    return holding && held.length > visible;
  }

  private void checkWritable(long nowNanos) throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("output stream of " + file().getPath());
    }
    streams().checkOpen();
    CrailException before = writeFailure();
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

  /** Moves with each renewal, so that a slow piece has as long as the lease can be held. */
  @Override
  long pieceDeadlineNanos(long operationDeadlineNanos) {
    long leaseEnd = lease.validUntilNanos();
    return leaseEnd - operationDeadlineNanos < 0 ? leaseEnd : operationDeadlineNanos;
  }

  /**
   * Where this stream has put a position, for readers, or null. Good as long as the lease: after it
   * the file may go on elsewhere, from what the namenode knows to be written.
   */
  public LocatedExtent locate(long position, long nowNanos) {
    LocatedExtent located = lease.isValid(nowNanos) ? locator().find(position, nowNanos) : null;
    return located == null ? null : new LocatedExtent(located.extent(), lease.validUntilNanos());
  }

  @Override
  void operationEnded(StreamOperation operation, CrailException cause) {
    synchronized (this) {
      if (cause != null) {
        if (failure == null) {
          failure = cause;
        }
        transferFailed |= operation.transferFailed();
      } else if (operation.start() == written) {
        written = operation.end();
        while (!writtenApart.isEmpty() && writtenApart.firstKey() == written) {
          written = writtenApart.pollFirstEntry().getValue();
        }
        file().grownTo(written);
        if (held != null && !holding && written >= held.length) {
          held = null;
        }
      } else {
        writtenApart.put(operation.start(), operation.end());
      }
    }
    operationGone();
  }

  private void operationGone() {
    if (inFlight.decrementAndGet() == 0 && whenIdle.get() != null) {
      runWhenIdle();
    }
  }

  private void runWhenIdle() {
    Runnable callback = whenIdle.getAndSet(null);
    if (callback != null) {
      callback.run();
    }
  }

  /**
   * Refuses further writes and gives the lease back when those in flight have ended. For the store,
   * when the node was deleted or the store is closed.
   *
   * @param why what writes and syncs fail with from now on
   * @param then runs when nothing of this stream is under way any more; it must not block
   */
  public void end(CrailException why, Runnable then) {
    synchronized (this) {
      if (ended == null) {
        ended = why;
      }
    }
    // Behind what an earlier end left to be done, a delete that waits for example.
    whenIdle.accumulateAndGet(
        () -> farewell(false).giveUpValue(then),
        (before, added) ->
            before == null
                ? added
                : () -> {
                  before.run();
                  added.run();
                });
    if (inFlight.get() == 0) {
      runWhenIdle();
    }
  }

  /** As {@link #end}, for a node that this store has removed. */
  public void nodeRemoved(CrailException why, Runnable then) {
    // Its space rests as long as the lease was good for when the node went, and no longer.
    lease.close();
    end(why, then);
  }

  /** By the node, so that whoever repeats a run meets streams in the same order. */
  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }

  /** The node. */
  public long id() {
    return id;
  }

  /** True when the store has ended the stream. */
  public boolean isEnded() {
    return ended != null;
  }

  /**
   * What gives the lease back; the same for whoever asks.
   *
   * @param unfinished whether writes are under way, whose bytes may arrive later
   */
  private synchronized LeaseReturn farewell(boolean unfinished) {
    if (farewell == null) {
      SmallValue value = holdsMore() ? SmallValue.of(held) : SmallValue.NONE;
      farewell =
          new LeaseReturn(
              context(),
              file().getPath(),
              null,
              id,
              token,
              written,
              transferFailed || unfinished ? SetSize.EXPIRE : SetSize.END,
              value,
              handle::returned);
    }
    return farewell;
  }

  private OperationCall<SetSize.Request, SetSize.Response> newSizeCall(long size, int close) {
    OperationCall<SetSize.Request, SetSize.Response> call =
        new OperationCall<>(NameNodeOperations.SET_SIZE);
    SetSize.Request request = new SetSize.Request(id, token, size, close);
    call.prepare(
        context().namenodes().route(NameNodeOperations.SET_SIZE, request),
        request,
        context().namenodes().newDeadlineNanos());
    return call;
  }

  /** Why not all bytes are written that were issued; null when they are, or are under way. */
  CrailException writeFailure() {
    return ended != null ? ended : failure;
  }

  /**
   * Why bytes that were taken may be lost, once nothing is under way any more: a write has failed,
   * or the lease has, and with it what was held back. Null when they lie at the datanodes, and are
   * safe there as long as the lease lasts.
   */
  CrailException bytesLost() {
    CrailException cause = writeFailure();
    return cause == null ? lossAt(context().nanoTime()) : cause;
  }

  @Override
  public Future<Void> sync() throws IOException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("output stream of " + file().getPath());
    }
    streams().checkOpen();
    sendHeld();
    Sync sync = new Sync(position);
    sync.begin();
    return sync;
  }

  /** Waits for the writes before it, then for the namenode. */
  private final class Sync extends WriteBarrier<Void> {
    private final long size;

    Sync(long size) {
      super(DirectOutput.this);
      this.size = size;
    }

    @Override
    void writesEnded() {
      CrailException cause = bytesLost();
      boolean nothingNew;
      synchronized (DirectOutput.this) {
        nothingNew = size <= visible;
      }
      if (cause != null) {
        fail(cause);
      } else if (nothingNew) {
        succeed();
      } else {
        OperationCall<SetSize.Request, SetSize.Response> call = newSizeCall(size, SetSize.KEEP);
        call.whenComplete(() -> answered(call));
        call.submit();
      }
    }

    private void answered(OperationCall<SetSize.Request, SetSize.Response> call) {
      CrailException cause = call.failure();
      if (cause != null) {
        fail(cause);
        return;
      }
      synchronized (DirectOutput.this) {
        visible = Math.max(visible, size);
      }
      file().info(call.response().node());
      succeed();
    }

    @Override
    public long deadlineNanos() {
      return super.deadlineNanos() + context().rpcTimeoutNanos();
    }

    @Override
    Void result() {
      return null;
    }

    @Override
    public String toString() {
      return "sync of " + file().getPath();
    }
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
  public void close() throws Exception {
    if (closed) {
      return;
    }
    closed = true;
    CrailException cause;
    try {
      awaitOperations();
      cause = giveLeaseBack();
      if (isFull(cause)) {
        // The namenode has no memory for it.
        context().smallValuesFull(id);
        writeHeld(context().nanoTime());
        awaitOperations();
        cause = giveLeaseBack();
      }
    } catch (CrailException e) {
      cause = e;
    } finally {
      lease.close();
      LeaseReturn last = farewell(inFlight.get() > 0);
      last.begin();
      // Nobody puts it anywhere else any more.
      last.giveUpValue();
      ended(last);
    }
    CrailException first = failure;
    // That a write missed a node which this store has removed is what was asked for.
    if (first != null && !(isEnded() && first.code() == ErrorCode.STALE_NODE)) {
      throw first.rethrown();
    }
    if (cause != null) {
      throw cause.rethrown();
    }
  }

  /**
   * Closes as {@link #close} does, but waits for nobody. Only when no write is in flight.
   *
   * @param then gets the first error, or null, in the thread that learns of the end; it must not
   *     block
   */
  public void closeBehind(Consumer<CrailException> then) {
    closed = true;
    CrailException lost = lossAt(context().nanoTime());
    LeaseReturn last = farewell(false);
    LeaseReturn.Try tried = last.tried();
    tried.whenComplete(
        () -> {
          ended(last);
          CrailException first = failure;
          if (first == null) {
            first = tried.isFailed() ? tried.failure() : lost;
          }
          if (!tried.isFailed()) {
            file().info(tried.response().node());
          }
          then.accept(first);
        });
  }

  private void ended(LeaseReturn last) {
    lease.close();
    streams().closed(this);
    file().writerClosed();
    handle.endUse(last);
    if (file().getType() == CrailNodeType.KEYVALUE) {
      streams().valueWritten(position);
    }
    streams().statistics().outputClosed(counters());
  }

  /** True for the error of a namenode that does not take what is held back. */
  private boolean isFull(CrailException cause) {
    return cause != null && cause.code() == ErrorCode.NO_SPACE && holdsMore();
  }

  /** Gives the lease back, or waits for whoever has begun that; the error of the former. */
  private CrailException giveLeaseBack() throws CrailException, InterruptedException {
    boolean isFirst;
    synchronized (this) {
      isFirst = farewell == null;
    }
    boolean unfinished = inFlight.get() > 0;
    CrailException lost = lossAt(context().nanoTime());
    LeaseReturn giving = farewell(unfinished);
    LeaseReturn.Try last = giving.tried();
    last.awaitEnd();
    if (unfinished) {
      return ErrorCode.TIMED_OUT.exception("writes of " + file().getPath());
    }
    if (!isFirst) {
      // The store has ended the stream, and tells no one when bytes are lost with it.
      return giving.refusal();
    }
    if (last.isFailed()) {
      return last.failure();
    }
    file().info(last.response().node());
    return lost;
  }
}
