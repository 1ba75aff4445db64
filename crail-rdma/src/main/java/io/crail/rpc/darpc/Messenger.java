/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.CommitQueue;
import io.crail.rpc.Frame;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaException;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One end of a connection. It receives messages into its own memory, which has one place for each
 * receive request. It passes their frames to its user, and sends what the user has written. Used
 * only by the thread of its queue pair.
 */
abstract class Messenger implements QueuePair.Handler, Outgoing.Wire, Incoming.Sink {
  private final MessagePort port;
  private final SendChunk.Pool pool;
  private final DarpcSettings settings;
  private final ByteBuffer memory;

  // Received messages that were not taken yet, in their order: a ring of places and lengths.
  private final int[] heldPlaces;
  private final int[] heldLengths;
  private int firstHeld;
  private int held;
  private int taken;

  // Places whose receive requests are to be posted again.
  private final int[] free;
  private int freeCount;

  // Places whose messages were taken but may still be needed.
  private final int[] used;
  private int usedCount;

  private Dialect dialect;
  private Outgoing outgoing;
  private Incoming incoming;
  private long arrivals;
  private String failure;
  private boolean closed;

  /** Posts the receive requests of a queue pair that is not connected yet. */
  Messenger(MessagePort port, SendChunk.Pool pool, DarpcSettings settings) throws IOException {
    this.port = port;
    this.pool = pool;
    this.settings = settings;
    this.memory = port.memory();
    int receives = settings.receives();
    this.heldPlaces = new int[receives];
    this.heldLengths = new int[receives];
    this.free = new int[receives];
    this.used = new int[receives];
    for (int place = 0; place < receives; place++) {
      free[freeCount++] = place;
    }
    int result = postReceives();
    if (result < 0) {
      port.release();
      throw new RdmaException("no receive requests: " + Verbs.errorText(result));
    }
  }

  /**
   * Begins to talk.
   *
   * @param greeting the peer's greeting; null when the peer is not Crail's
   * @param kind the kind of frames to expect
   */
  final void open(Greeting greeting, int kind) {
    dialect =
        greeting == null
            ? new Tickets(settings, kind == Frame.KIND_REQUEST)
            : new Dialect.Stream(
                new Credits(free.length, greeting.receives()), greeting.messageSize());
    outgoing =
        new Outgoing(
            pool, dialect, this, settings.sends(), port.inlineBytes(), commits(), this::committed);
    incoming = new Incoming(pool, kind, dialect.spans(), this);
    // Messages that came before the dialect was known are counted now, in their order.
    int early = held;
    held = 0;
    for (int i = 0; i < early && !closed; i++) {
      arrived(heldPlaces[i], heldLengths[i]);
    }
  }

  /** The output; null before {@link #open}. */
  final Outgoing outgoing() {
    return outgoing;
  }

  /** The longest frame that can be sent. */
  public final int maxFrameLength() {
    return dialect.maxFrameLength();
  }

  /** True when a frame has begun to arrive and is not complete. */
  final boolean isPartial() {
    return incoming != null && incoming.isPartial();
  }

  /** Messages received so far. */
  final long arrivals() {
    return arrivals;
  }

  /** True when messages wait that {@link #holdsBack} keeps from being taken. */
  final boolean isHolding() {
    return held > 0;
  }

  final boolean isClosed() {
    return closed;
  }

  final DarpcSettings settings() {
    return settings;
  }

  /** The device's error when the connection has failed; otherwise null. */
  final String failure() {
    return failure;
  }

  /** The memory that holds received messages, little-endian. */
  final ByteBuffer memory() {
    return memory;
  }

  // What the user decides, and what it learns.

  /** True when no more messages may be taken now. */
  abstract boolean holdsBack();

  /**
   * Called after the frames of some messages were given. Their memory is reused after this call,
   * unless {@link #keptFrames} says otherwise.
   */
  abstract void taken() throws IOException;

  /** The number of frames, of those given last, that are still needed in place. */
  abstract int keptFrames();

  /** Called when output may have left. */
  abstract void progressed();

  /** Decides when frames may leave. */
  CommitQueue commits() {
    return CommitQueue.NONE;
  }

  private void committed() {
    if (closed) {
      return;
    }
    if (commits().hasFailed()) {
      refuse("what its answers rest on cannot be committed");
    } else {
      advance();
    }
  }

  /** Ends the connection because the peer or this side cannot continue. */
  abstract void refuse(String why);

  /** Called when the connection is gone and all memory was given back. */
  abstract void ended(String cause);

  // The queue pair.

  @Override
  public final void completed(int request, int opcode, int bytes) {
    if (closed) {
      return;
    }
    if ((request & MessagePort.SEND) != 0) {
      outgoing.ended(request & ~MessagePort.SEND);
      return;
    }
    arrivals++;
    if (dialect == null) {
      heldPlaces[held] = request;
      heldLengths[held++] = bytes;
    } else {
      arrived(request, bytes);
    }
  }

  private void arrived(int place, int bytes) {
    if (bytes < Dialect.HEADER_LENGTH) {
      refuse("a message of " + bytes + " bytes");
      return;
    }
    int at = port.offset(place);
    int header = Integer.reverseBytes(memory.getInt(at));
    int length = bytes - Dialect.HEADER_LENGTH;
    try {
      dialect.received(header, memory, at + Dialect.HEADER_LENGTH, length);
    } catch (IOException e) {
      refuse(e.getMessage());
      return;
    }
    if (length == 0) {
      // Never held back or kept, since its sender may have spent its last credit on it.
      free[freeCount++] = place;
    } else {
      int last = (firstHeld + held++) % heldPlaces.length;
      heldPlaces[last] = place;
      heldLengths[last] = length;
    }
  }

  @Override
  public final void batchEnded() {
    if (dialect != null && !closed) {
      advance();
    }
  }

  /** Takes received messages and sends the messages that may leave. */
  final void advance() {
    do {
      takeAll();
      if (!closed) {
        send();
      }
      // If the waiting output has just left, this side may take more messages.
    } while (held > 0 && !closed && !holdsBack());
    if (!closed) {
      progressed();
    }
  }

  private void takeAll() {
    try {
      while (held > 0 && !closed && !holdsBack()) {
        takeOne();
      }
      if (!closed) {
        taken();
      }
    } catch (IOException e) {
      refuse(e.getMessage());
    }
  }

  private void send() {
    freeUsed();
    int count = freeCount;
    if (count > 0) {
      int result = postReceives();
      if (result < 0) {
        refuse("no receive requests: " + Verbs.errorText(result));
        return;
      }
      dialect.posted(count);
    }
    outgoing.flush();
  }

  private void freeUsed() {
    int kept = keptFrames();
    if (kept > 0) {
      // In plain DaRPC each frame is a message, and after an answer the peer expects that the
      // receive request of its message is posted again. So only the places of unanswered frames are
      // kept.
      kept = dialect.spans() ? usedCount : Math.min(kept, usedCount);
    }
    int some = usedCount - kept;
    System.arraycopy(used, 0, free, freeCount, some);
    System.arraycopy(used, some, used, 0, kept);
    freeCount += some;
    usedCount = kept;
  }

  private void takeOne() throws IOException {
    int place = heldPlaces[firstHeld];
    int length = heldLengths[firstHeld];
    int from = port.offset(place) + Dialect.HEADER_LENGTH + taken;
    int some = incoming.take(memory, from, length - taken);
    if (closed) {
      return;
    }
    taken += some;
    if (taken == length) {
      taken = 0;
      firstHeld = (firstHeld + 1) % heldPlaces.length;
      held--;
      used[usedCount++] = place;
    }
  }

  private int postReceives() {
    int count = freeCount;
    freeCount = 0;
    return port.postReceives(free, count);
  }

  /** Ends the connection at once. */
  final void end(String cause) {
    port.close(cause);
  }

  // The wire.

  @Override
  public final void add(
      int slot, int header, SendChunk chunk, int from, int length, boolean inline) {
    port.addSend(slot, header, chunk, from, length, inline);
  }

  @Override
  public final void post(boolean signalled) {
    int result = port.postSends(signalled);
    if (result < 0) {
      refuse("cannot send: " + Verbs.errorText(result));
    }
  }

  @Override
  public final void probe(int slot) {
    int result = port.postProbe(slot);
    if (result < 0) {
      refuse("cannot send: " + Verbs.errorText(result));
    }
  }

  @Override
  public final void failed(int request, int status, String text) {
    if (failure == null) {
      failure = text;
    }
  }

  @Override
  public final void closed(String cause) {
    if (closed) {
      return;
    }
    closed = true;
    if (outgoing != null) {
      outgoing.close();
      incoming.close();
    }
    port.release();
    ended(cause);
  }
}
