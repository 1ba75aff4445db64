/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

/** One connection as a server sees it. Used only by the thread that owns the connection. */
public final class Session {
  private final String peer;
  private final HeldAnswers.OfConnection held;
  private Object attachment;

  /** Creates the session of a new connection that holds no answers back. */
  public Session(String peer) {
    this(peer, null);
  }

  /**
   * Creates the session of a new connection.
   *
   * @param peer names the other side in messages
   * @param held the answers that the connection holds back
   */
  public Session(String peer, HeldAnswers.OfConnection held) {
    this.peer = peer;
    this.held = held;
  }

  /** The name of the other side, for messages. */
  public String peer() {
    return peer;
  }

  /**
   * Holds the answer to a request back until it is released or its time is over. Other requests may
   * be answered before it. After this call, {@link ResponseWriter#isFull} says whether one more
   * answer may be held.
   */
  public void hold(long correlationId, HeldAnswer answer, ResponseWriter responses) {
    if (held == null) {
      throw new UnsupportedOperationException("this connection holds no answers");
    }
    held.hold(correlationId, answer, responses);
    if (held.isFull()) {
      responses.setFull(true);
    }
  }

  /** The service's own data for this connection; null until its handshake. */
  public Object attachment() {
    return attachment;
  }

  /** Sets the service's own data for this connection. */
  public void attach(Object newAttachment) {
    this.attachment = newAttachment;
  }
}
