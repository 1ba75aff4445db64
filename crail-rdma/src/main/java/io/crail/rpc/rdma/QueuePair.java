/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues of one reliable connection. The user lays out requests as in {@link Layouts}, with
 * {@link #wrId} as their id. Only the thread of its {@link RdmaQueues} uses it.
 */
public final class QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(QueuePair.class);

  /**
   * The size of a connection.
   *
   * @param sends requests on the send queue that are not known to have ended
   * @param receives requests on the receive queue
   * @param elements most elements of a request
   * @param inlineBytes most bytes of an inline request; the device may allow fewer
   * @param reads most reads in progress in each direction, 0 to {@link Verbs#MOST_READS}
   */
  public record Options(int sends, int receives, int elements, int inlineBytes, int reads) {}

  /** The user of a queue pair. Called by its thread. */
  public interface Handler {
    /**
     * A request has ended successfully.
     *
     * @param request the number given to {@link #wrId}
     * @param opcode one of {@code Layouts.WC_OPCODE_...}
     * @param bytes bytes that were received or read
     */
    void completed(int request, int opcode, int bytes);

    /**
     * A request has ended with an error, which is the first one of this queue pair. {@link #closed}
     * follows.
     *
     * @param status one of {@code Layouts.WC_...}
     * @param text the meaning of the status
     */
    void failed(int request, int status, String text);

    /** Called after a batch of completions in which this queue pair had some. */
    default void batchEnded() {}

    /**
     * The connection is gone. This is the last call. The device does not access the memory of
     * requests any more, and no request completes any more.
     *
     * @param cause a sentence for people
     */
    void closed(String cause);
  }

  private final Consumer<QueuePair> closing;
  private final RdmaDevice device;
  private final long id;
  private final LongConsumer destroyId;
  private final InetSocketAddress peer;
  private final int sends;
  private final int receives;
  private final int inlineBytes;
  private final long handle;
  private long slot;
  private Handler handler;
  private boolean inBatch;
  private boolean closed;
  private boolean ended;

  /**
   * Creates the queue pair of an id.
   *
   * @param closing called before the queue pair is destroyed
   * @param destroyId destroys the id after its queue pair
   */
  QueuePair(
      RdmaDevice device,
      long cq,
      long id,
      Options options,
      Consumer<QueuePair> closing,
      LongConsumer destroyId)
      throws VerbsException {
    this.device = device;
    this.id = id;
    this.closing = closing;
    this.destroyId = destroyId;
    this.peer = Verbs.peerAddress(id);
    ByteBuffer caps =
        ByteBuffer.allocateDirect(Layouts.QP_CAPS_SIZE).order(ByteOrder.nativeOrder());
    caps.putInt(Layouts.QP_CAPS_SEND_WRS, options.sends);
    caps.putInt(Layouts.QP_CAPS_RECV_WRS, options.receives);
    caps.putInt(Layouts.QP_CAPS_SEND_SGES, options.elements);
    caps.putInt(Layouts.QP_CAPS_RECV_SGES, options.elements);
    this.handle = create(cq, caps, options.inlineBytes);
    this.sends = options.sends;
    this.receives = options.receives;
    // Devices round up. A larger value than requested costs nothing.
    this.inlineBytes = caps.getInt(Layouts.QP_CAPS_INLINE_BYTES);
  }

  private long create(long cq, ByteBuffer caps, int inlineBytes) throws VerbsException {
    // No call returns the device's limit of inline bytes, so this tries smaller and smaller values.
    for (int bytes = inlineBytes; ; bytes /= 2) {
      caps.putInt(Layouts.QP_CAPS_INLINE_BYTES, bytes);
      try {
        return Verbs.createQp(id, device.pd(), cq, cq, false, Verbs.addressOf(caps));
      } catch (VerbsException e) {
        if (bytes == 0) {
          throw e;
        }
      }
    }
  }

  void open(long newSlot) {
    this.slot = newSlot;
  }

  void handler(Handler newHandler) {
    this.handler = newHandler;
  }

  long slot() {
    return slot;
  }

  /** The device. */
  public RdmaDevice device() {
    return device;
  }

  /** The connection manager's handle of the connection. */
  public long id() {
    return id;
  }

  /** The other side. */
  public InetSocketAddress peer() {
    return peer;
  }

  /** Most bytes of an inline request. */
  public int inlineBytes() {
    return inlineBytes;
  }

  /** The size of the send queue. */
  public int sends() {
    return sends;
  }

  /** The size of the receive queue. */
  public int receives() {
    return receives;
  }

  /** True after {@link #close}. */
  public boolean isClosed() {
    return closed;
  }

  /** The id of a request for the memory layout, from a number of the user's choice. */
  public long wrId(int request) {
    return slot << 32 | request & 0xffffffffL;
  }

  /**
   * Posts a chain of send requests.
   *
   * @return 0, or a negative error number, after which the connection should be closed
   */
  public int post(long firstAddress) {
    return Verbs.postSend(handle, firstAddress, 0);
  }

  /** Posts a chain of receive requests. The result is that of {@link #post}. */
  public int postReceive(long firstAddress) {
    return Verbs.postRecv(handle, firstAddress, 0);
  }

  /**
   * Ends the connection at once. When this returns, the queue pair is destroyed, and {@link
   * Handler#closed} was called.
   *
   * @return false when the device refused to destroy the queue pair, so that the peer may still use
   *     it
   */
  public boolean close(String cause) {
    if (closed) {
      return ended;
    }
    closed = true;
    closing.accept(this);
    try {
      Verbs.disconnect(id);
    } catch (VerbsException e) {
      // It was never connected, or is not connected any more.
    }
    try {
      Verbs.destroyQp(id);
      ended = true;
    } catch (VerbsException e) {
      LOG.warn("cannot destroy the queue pair of a connection with {}: {}", peer, e.getMessage());
    }
    destroyId.accept(id);
    if (handler != null) {
      handler.closed(cause);
    }
    return ended;
  }

  // For RdmaQueues, called in the order of a batch.

  /** Reports a completion. Returns true for the first one of this batch. */
  boolean dispatch(int request, int status, int opcode, int bytes) {
    boolean first = !inBatch;
    inBatch = true;
    if (status == Layouts.WC_SUCCESS) {
      handler.completed(request, opcode, bytes);
    } else {
      String text = Verbs.completionText(status);
      handler.failed(request, status, text);
      close(text);
    }
    return first;
  }

  void endBatch() {
    inBatch = false;
    if (!closed) {
      handler.batchEnded();
    }
  }
}
