/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import io.crail.client.datanode.Endpoints;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.rpc.ClientLoop;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * What belongs to one loop of a store: its connections to namenodes and datanodes. Threads that
 * share a loop share this. Thread-safe.
 */
public final class LoopContext {
  private static final int USUAL_BLOCK_BYTES = 1 << 20;
  private static final long THROTTLE_PAUSE_NANOS = 20_000;

  /** A datanode that takes a megabyte a second does not count as silent. */
  private static final long SLOWEST_NANOS_PER_BYTE = 1000;

  /** How long a store sends no small values to a namenode that has no memory for them. */
  private static final long FULL_NANOS = 1_000_000_000L;

  /** Most bytes that go to a namenode whose memory was full lately. */
  private static final int MOST_IN_VAIN = Extent.MIN_LENGTH;

  private final ClientLoop loop;
  private final NameNodeClient namenodes;
  private final Endpoints endpoints;
  private final int maxOutstanding;
  private final long rpcTimeoutNanos;
  private final long silenceNanos;
  private final SpaceWaits spaceWaits;

  /**
   * For each namenode, until when it is assumed to have no memory for small values; 0 if it has
   * some.
   */
  private final AtomicLongArray fullUntilNanos;

  /**
   * Creates it, without connections.
   *
   * @param maxOutstanding most operations outstanding
   * @param rpcTimeoutNanos how long a metadata operation may take
   * @param silenceNanos how long a datanode may leave a short write unanswered
   * @param spaceWaits the waits for space of all loops of the store
   */
  public LoopContext(
      ClientLoop loop,
      NameNodeClient namenodes,
      Endpoints endpoints,
      int maxOutstanding,
      long rpcTimeoutNanos,
      long silenceNanos,
      SpaceWaits spaceWaits) {
    this.loop = loop;
    this.namenodes = namenodes;
    this.endpoints = endpoints;
    this.maxOutstanding = maxOutstanding;
    this.rpcTimeoutNanos = rpcTimeoutNanos;
    this.silenceNanos = silenceNanos;
    this.spaceWaits = spaceWaits;
    this.fullUntilNanos = new AtomicLongArray(namenodes.count());
  }

  /** The loop. */
  public ClientLoop loop() {
    return loop;
  }

  /** Its connections to namenodes. */
  public NameNodeClient namenodes() {
    return namenodes;
  }

  /** Makes a call ready to be submitted to the namenode of its request, with the usual deadline. */
  public <Q, R> void prepare(OperationCall<Q, R> call, Q request) {
    Q routed = namenodes.routed(call.operation(), request);
    call.prepare(namenodes.route(call.operation(), routed), routed, namenodes.newDeadlineNanos());
  }

  /** Its connections to datanodes. */
  public Endpoints endpoints() {
    return endpoints;
  }

  /** The time, by the clock of the loop. */
  public long nanoTime() {
    return loop.clock().nanoTime();
  }

  /** The time that the loop read last; never later than the true time. */
  public long roughNanos() {
    return loop.roughNanos();
  }

  /** How long a metadata operation may take. */
  public long rpcTimeoutNanos() {
    return rpcTimeoutNanos;
  }

  /** How long a datanode may leave a write unanswered before its part goes elsewhere. */
  public long silenceNanos(int length) {
    return silenceNanos + length * SLOWEST_NANOS_PER_BYTE;
  }

  /** How long a write waits for space that is known to come. */
  public long spacePatienceNanos() {
    return spaceWaits.patienceNanos();
  }

  /** The waits for space of the store. */
  public SpaceWaits spaceWaits() {
    return spaceWaits;
  }

  /**
   * How long a location or a write lease is good for that the namenode of a node gave.
   *
   * @param id a node of a namenode that has answered on this loop
   */
  public long leaseNanos(long id) {
    // This loop has no handshake yet, since the answer came over another loop. Ask again rather
    // than guess.
    Hello.Response hello = namenodes.hello(owner(id));
    return hello == null ? 0 : hello.leaseMillis() * 1_000_000L;
  }

  /**
   * The start (incarnation) of the namenode that an answer came from: that of the present
   * connection. Only for the thread of the loop that brings the answer.
   *
   * @param id a node of a namenode that has answered on this loop
   */
  public long incarnation(long id) {
    return namenodes.hello(owner(id)).incarnation();
  }

  /** Bytes of a block at a namenode that has answered on this loop; else 0. */
  public int blockBytesAt(int namenode) {
    Hello.Response hello = namenodes.hello(namenode);
    return hello == null ? 0 : hello.blockSize();
  }

  private int owner(long id) {
    // Nearly always one namenode, and a division for each lookup is expensive.
    int count = namenodes.count();
    return count == 1 ? 0 : (int) Long.remainderUnsigned(id, count);
  }

  /** Bytes of a block at the namenode of a node. */
  public int blockBytes(long id) {
    Hello.Response hello = namenodes.hello(owner(id));
    return hello == null ? USUAL_BLOCK_BYTES : hello.blockSize();
  }

  /**
   * Most bytes of a node that its namenode holds itself; 0 when it holds none of this type, when
   * the limit is not known, or the namenode has no memory.
   */
  public int smallValue(long id, boolean isFile) {
    int namenode = owner(id);
    int most = smallValueAt(namenode);
    return most > 0 && isFile && !namenodes.hello(namenode).smallFiles() ? 0 : most;
  }

  /** Most bytes of a value that a namenode holds itself, as {@link #smallValue} does. */
  public int smallValueAt(int namenode) {
    Hello.Response hello = namenodes.hello(namenode);
    return hello == null || isFull(namenode) ? 0 : hello.smallValue();
  }

  /**
   * Most bytes of a value that go with its create. Before the namenode has announced its limit,
   * this is the largest possible limit: the answer says whether the namenode has kept the bytes.
   * While it has no memory, shorter values still try.
   */
  public int mostWithCreateAt(int namenode) {
    Hello.Response hello = namenodes.hello(namenode);
    int most = hello == null ? SmallValue.MAX_LENGTH : hello.smallValue();
    return isFull(namenode) ? Math.min(most, MOST_IN_VAIN) : most;
  }

  private boolean isFull(int namenode) {
    long full = fullUntilNanos.get(namenode);
    return full != 0 && full - nanoTime() > 0;
  }

  /** The namenode of a node has no memory for more small values. */
  public void smallValuesFull(long id) {
    int namenode = (int) Long.remainderUnsigned(id, namenodes.count());
    fullUntilNanos.set(namenode, nanoTime() + FULL_NANOS | 1);
  }

  /**
   * Waits while too many operations are outstanding. In a callback, which must not wait, it returns
   * at once.
   *
   * @throws CrailException with LIMIT_EXCEEDED when none ends for longer than the deadline of a
   *     metadata operation
   */
  public void throttle() throws CrailException, InterruptedException {
    if (loop.outstandingOrQueued() >= maxOutstanding && !loop.isDriver()) {
      throttleSlowly();
    }
  }

  private void throttleSlowly() throws CrailException, InterruptedException {
    long least = loop.outstandingOrQueued();
    long deadlineNanos = nanoTime() + patienceNanos();
    while (loop.outstandingOrQueued() >= maxOutstanding) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      boolean drove = loop.pollOnce();
      long outstanding = loop.outstandingOrQueued();
      if (outstanding < least) {
        least = outstanding;
        deadlineNanos = nanoTime() + patienceNanos();
      } else if (nanoTime() - deadlineNanos >= 0) {
        throw ErrorCode.LIMIT_EXCEEDED.exception(outstanding + " operations outstanding");
      } else if (!drove || outstanding >= maxOutstanding) {
        LockSupport.parkNanos(this, THROTTLE_PAUSE_NANOS);
      }
    }
  }

  private long patienceNanos() {
    return rpcTimeoutNanos + Awaitable.GRACE_NANOS;
  }

  /** Fails what is outstanding, closes all connections, and the loop. */
  void close() {
    endpoints.close();
    namenodes.close();
    loop.close();
  }
}
