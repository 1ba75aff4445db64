/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.client.loop.IoWait;
import io.crail.client.statistics.StreamCounters;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.Future;

/** A buffered stream that appends to a file. */
public final class BufferedFileOutput extends CrailBufferedOutputStream {
  private final DirectOutput output;
  private final StreamContext streams;
  private final SliceMemory memory;
  private final StreamCounters counters = new StreamCounters();

  private final UnclosedStreams.Entry entry;

  /** Writes of slices that may be in flight, oldest first. Each has its slice until its end. */
  private final ArrayDeque<StreamOperation> sent = new ArrayDeque<>();

  private StreamMemory.Piece current;

  /** A write in flight from the memory of the caller, who waits for its end; or null. */
  private StreamOperation straight;

  private boolean closed;

  /** Writes to a direct stream, which is closed with this. */
  public BufferedFileOutput(DirectOutput output) {
    this.output = output;
    this.streams = output.streams();
    this.memory = new SliceMemory(streams.memory(), streams.sliceCount());
    this.entry =
        streams.unclosed().add(this, output.file().getPath(), giveBack(output, memory, counters));
  }

  /** What is done for a stream that was dropped. Static, so that it does not refer to it. */
  private static Runnable giveBack(
      DirectOutput output, SliceMemory memory, StreamCounters counters) {
    return () -> {
      memory.close();
      output.abandon();
      output.streams().statistics().bufferedOutputClosed(counters);
    };
  }

  @Override
  protected ByteBuffer room() throws IOException {
    if (current != null && !current.memory().hasRemaining()) {
      // The slice could not be sent before.
      send();
    }
    if (current == null) {
      checkOpen();
      current = IoWait.of(this::freeSlice);
      int fileOffset = (int) (output.position() % current.length());
      // So that the next slices begin at multiples of their size in the file.
      current.memory().limit(current.length() - fileOffset);
    }
    return current.memory();
  }

  @Override
  protected void filled() throws IOException {
    if (!current.memory().hasRemaining()) {
      send();
    }
    // The memory of this must not go to others while bytes are copied into it.
    Reference.reachabilityFence(this);
  }

  @Override
  protected int leastStraight() {
    return streams.sliceBytes();
  }

  @Override
  protected boolean writeStraight(ByteBuffer source) throws IOException {
    boolean pending = current != null && current.memory().position() > 0;
    if (pending) {
      return false;
    }
    checkOpen();
    int length = (int) Math.min(output.localBytes(output.position()), source.remaining());
    if (length == 0) {
      return sendStraight(source);
    }
    if (current != null) {
      // The limit of this slice belongs to the position before this write.
      memory.release(current);
      current = null;
    }
    StreamOperation operation =
        IoWait.of(() -> output.write(source, source, source.position(), length));
    source.position(source.position() + length);
    counters.operation(length, operation.isComplete());
    operation.awaitEnd();
    return true;
  }

  /**
   * Sends the caller's bytes from the caller's memory, except for the last ones. These go through a
   * slice, so that the network is busy until the next call.
   */
  private boolean sendStraight(ByteBuffer source) throws IOException {
    long begin = output.position();
    // So that the next slice begins at a multiple of its size in the file.
    long last = begin + source.remaining() - 1;
    int length = (int) (last - last % streams.sliceBytes() - begin);
    if (length < streams.sliceBytes()
        || straight != null
        || !source.isDirect()
        || !output.takesAnyMemory(begin)) {
      return false;
    }
    if (current != null) {
      memory.release(current);
      current = null;
    }
    straight = IoWait.of(() -> output.write(source, source, source.position(), length));
    source.position(source.position() + length);
    counters.operation(length, straight.isComplete());
    return true;
  }

  @Override
  protected void awaitStraight(boolean written) throws IOException {
    StreamOperation operation = straight;
    straight = null;
    if (operation == null) {
      return;
    }
    try {
      operation.awaitEnd();
    } catch (CrailException e) {
      if (written) {
        throw e;
      }
    }
  }

  private StreamMemory.Piece freeSlice() throws CrailException, InterruptedException {
    while (!sent.isEmpty() && sent.peekFirst().isComplete()) {
      forgetOldest();
    }
    StreamMemory.Piece free = takeFree();
    while (free == null) {
      if (sent.isEmpty()) {
        // The thread that has ended the last write is about to give its slice back.
        Thread.onSpinWait();
      } else {
        sent.peekFirst().await();
        forgetOldest();
      }
      free = takeFree();
    }
    return free;
  }

  /** A slice to fill; null when none is free, but some are in flight. */
  private StreamMemory.Piece takeFree() throws CrailException, InterruptedException {
    try {
      return memory.take(streams.sliceBytes());
    } catch (LimitExceededException e) {
      // Fewer slices are enough, but at least one is needed.
      return sent.isEmpty() ? streams.awaitMemory(() -> memory.take(streams.sliceBytes())) : null;
    }
  }

  /** Forgets the oldest write, which has ended. */
  private void forgetOldest() throws CrailException {
    CrailException failure = sent.pollFirst().failure();
    if (failure != null) {
      throw failure.rethrown();
    }
  }

  /** Sends what is in the current slice, which goes back when the bytes have arrived. */
  private void send() throws IOException {
    if (current == null || current.memory().position() == 0) {
      return;
    }
    StreamMemory.Piece full = current;
    StreamOperation operation =
        IoWait.of(() -> output.write(full.memory(), full.root(), 0, full.memory().position()));
    current = null;
    full.usedBy(operation);
    sent.addLast(operation);
    counters.operation((int) operation.getLen(), operation.isComplete());
    memory.releaseUsed(full);
    Reference.reachabilityFence(this);
  }

  private void checkOpen() throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("output stream of " + output.file().getPath());
    }
  }

  @Override
  public Future<CrailResult> purge() throws IOException {
    checkOpen();
    send();
    output.sendHeld();
    long bytes = 0;
    for (StreamOperation write : sent) {
      bytes += write.getLen();
    }
    Purge purge = new Purge(bytes);
    purge.begin();
    return purge;
  }

  /** Ends with all the writes in flight. */
  private final class Purge extends WriteBarrier<CrailResult> implements CrailResult {
    private final long bytes;

    Purge(long bytes) {
      super(output);
      this.bytes = bytes;
    }

    @Override
    void writesEnded() {
      CrailException failure = output.bytesLost();
      if (failure == null) {
        succeed();
      } else {
        fail(failure);
      }
    }

    @Override
    public CrailResult result() {
      return this;
    }

    @Override
    public long getLen() {
      return bytes;
    }

    @Override
    public String toString() {
      return "purge of " + output.file().getPath();
    }
  }

  @Override
  public Future<Void> sync() throws IOException {
    checkOpen();
    send();
    return output.sync();
  }

  @Override
  public long position() {
    return output.position();
  }

  @Override
  public CrailNode getFile() throws IOException {
    return output.getFile();
  }

  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    entry.closed();
    IOException first = null;
    try {
      send();
    } catch (IOException e) {
      first = e;
    }
    closed = true;
    try {
      output.close();
    } catch (IOException e) {
      first = first == null ? e : first;
    } catch (InterruptedException e) {
      first = first == null ? IoWait.interrupted(e) : first;
    } catch (Exception e) {
      first = first == null ? new IOException(e) : first;
    } finally {
      // A write that was not waited for may still read from its slice.
      memory.close();
      streams.statistics().bufferedOutputClosed(counters);
    }
    if (first != null) {
      throw first;
    }
  }
}
