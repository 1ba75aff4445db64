/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/**
 * One side's account of receive requests. With it, neither side ever sends a message for which no
 * receive request is posted. Every message costs a credit and returns all credits that its sender
 * owes. The last credit is kept for a message without content. Such a message is sent when a side
 * owes at least {@code T} credits, half of its own depth, and no message with content can return
 * them. Messages without content are always consumed at once. The client never holds back, so it
 * also consumes messages with content at once. The server does so too, unless its own output waits,
 * or requests wait for their turn; that turn comes whatever the peer does.
 *
 * <p><b>No deadlock.</b> Assume that no message is in flight, and let a, b be the credits of two
 * sides A, B.
 *
 * <ul>
 *   <li>a = 0: A's last message had no content and returned at least T &gt;= 2 credits. Since then
 *       B owes a credit for it. Every message returns what is owed, so B has sent nothing since,
 *       and b &gt;= 2. So B may send content if it has any. If it has none, it holds nothing back,
 *       so it owes its whole depth and sends a message without content.
 *   <li>a = 1, and A has content: if B holds nothing back, it owes all credits but one, which is at
 *       least T. It sends, as b &gt; 0 (b = 0 is the case above with the sides exchanged). If B
 *       holds back, it has output. With b &gt;= 2 it sends. With b = 1, A holds nothing back, owes
 *       all credits but one, and sends.
 *   <li>a &gt;= 2: A may send.
 * </ul>
 *
 * <p><b>No endless exchange.</b> A side sends a message without content only after T &gt;= 2
 * messages have come since its last one. So in both directions together there are never more of
 * them than there are other messages.
 *
 * <p>Not thread-safe.
 */
final class Credits {
  /** The smallest depth: half of it is two. */
  static final int LEAST_RECEIVES = 4;

  private final int peerReceives;
  private final int threshold;
  private int credits;
  private int owed;

  /**
   * Opens an account.
   *
   * @param ownReceives number of receive requests that this side has posted
   * @param peerReceives number of receive requests that the other side has posted
   */
  Credits(int ownReceives, int peerReceives) {
    if (ownReceives < LEAST_RECEIVES || peerReceives < LEAST_RECEIVES) {
      throw new IllegalArgumentException("fewer than " + LEAST_RECEIVES + " receive requests");
    }
    this.threshold = ownReceives / 2;
    this.peerReceives = peerReceives;
    this.credits = peerReceives;
  }

  /** Messages with content that may be sent now. */
  int room() {
    return Math.max(0, credits - 1);
  }

  /** True when a message without content must be sent, unless a message with content is sent. */
  boolean owes() {
    return owed >= threshold && credits > 0;
  }

  /** Counts a message that is sent. Returns the credits that it returns to the peer. */
  int send() {
    int returned = owed;
    credits--;
    owed = 0;
    return returned;
  }

  /** Counts the credits that an incoming message has returned. */
  void received(int returned) throws CrailException {
    if (returned < 0 || returned > peerReceives - credits) {
      throw ErrorCode.PROTOCOL.exception(
          "returns " + returned + " credits of " + (peerReceives - credits));
    }
    credits += returned;
  }

  /** Counts receive requests that were posted again. */
  void posted(int count) {
    owed += count;
  }
}
