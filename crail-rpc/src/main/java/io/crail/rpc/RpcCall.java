/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.LoopTask;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * One request and its answer. A subclass writes the body of the request and reads that of the
 * answer; both run in the loop, straight on the buffers of the connection. May be used again after
 * it has ended, through {@link #prepare}.
 */
public abstract class RpcCall extends Completion implements LoopTask {
  /** The server at the other end, as a call sees it. */
  public abstract static class Peer {
    /** The loop that all calls to this peer run in. */
    public abstract ClientLoop loop();

    /** The server's address. */
    public abstract InetSocketAddress address();

    /** Begins a call. In the loop. */
    abstract void begin(RpcCall call);

    /** A call is about to end; {@code failure} is null when it has its answer. In the loop. */
    abstract void ended(RpcCall call, CrailException failure);
  }

  static final int NO_SLOT = -1;

  private Peer peer;
  private long deadlineNanos;

  /**
   * The slot of the peer that belongs to this call, or {@link #NO_SLOT}. The peer keeps the id
   * under which the request is sent, so that calls stay small. In the loop.
   */
  int slot = NO_SLOT;

  /** The next call in the peer's queue of calls that wait for a slot. In the loop. */
  RpcCall next;

  /** Creates a call; {@link #prepare} must follow before it is submitted. */
  protected RpcCall() {}

  /**
   * Names the peer and the deadline of the next use.
   *
   * @param newPeer where the request goes
   * @param newDeadlineNanos when the call fails with {@link ErrorCode#TIMED_OUT}, by the loop's
   *     clock
   */
  protected final void prepare(Peer newPeer, long newDeadlineNanos) {
    reset();
    this.peer = newPeer;
    this.deadlineNanos = newDeadlineNanos;
  }

  /** The opcode of the request. */
  protected abstract int opcode();

  /**
   * True when the request changes something. The server remembers the answers to such requests. So
   * they can be sent again after their connection was lost, as long as it is the same server.
   */
  protected abstract boolean changes();

  /** The exact length of the request's body in bytes. */
  protected abstract int bodyLength();

  /** Writes the request's body; {@code out} is little-endian. */
  protected abstract void encode(ByteBuffer out, int offset);

  /**
   * Reads the body of a successful answer; {@code in} is little-endian and valid only now.
   *
   * @throws CrailException when the bytes are not a valid answer
   */
  protected abstract void decode(ByteBuffer in, int offset, int length) throws CrailException;

  /** The peer of the present use. */
  public final Peer peer() {
    return peer;
  }

  /** The deadline of the present use. */
  public final long deadlineNanos() {
    return deadlineNanos;
  }

  /**
   * True when the call must not be written any more because its deadline has passed. Waiting calls
   * normally end at their deadline, but not while the driving thread gets no processor. This
   * matters only to calls that are written from memory which the caller may reuse after the
   * deadline.
   */
  protected boolean isOverdue() {
    return false;
  }

  /** Sends the call, from any thread. */
  public final void submit() {
    peer.loop().submit(this);
  }

  /** For the loop: hands the call to its peer. */
  @Override
  public final void runInLoop() {
    peer.begin(this);
  }

  /** For the loop: fails the call, since the loop was closed before the call could be sent. */
  @Override
  public final void rejected() {
    fail(ErrorCode.CLOSED.exception("connection to " + Addresses.text(peer.address())));
  }

  /** Ends the call with the bytes of the answer. In the loop. */
  final boolean answer(ByteBuffer in, int offset, int length) {
    try {
      decode(in, offset, length);
    } catch (CrailException e) {
      end(e);
      return false;
    } catch (RuntimeException e) {
      CrailException malformed =
          ErrorCode.PROTOCOL.exception("answer of " + Addresses.text(peer.address()));
      malformed.initCause(e);
      end(malformed);
      return false;
    }
    peer.ended(this, null);
    succeed();
    return true;
  }

  /** Sends a refused call to another peer of its loop. In the loop. */
  final void moveTo(Peer other, CrailException refusal) {
    peer.ended(this, refusal);
    peer = other;
    other.begin(this);
  }

  /** Ends the call with an error. In the loop. */
  final void end(CrailException cause) {
    peer.ended(this, cause);
    fail(cause);
  }
}
