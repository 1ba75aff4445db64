/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/**
 * One side's account of receive requests, by which neither side ever sends a message that finds no
 * receive request. Every message costs a credit and returns all that is owed. The last credit is
 * kept for a message without content, which is sent when at least half of the own depth, {@code T},
 * is owed and no content takes it along. Messages without content are consumed at once, always;
 * those with content as well by the side that never holds back (the client), and by the other (the
 * server) unless output of its own waits, or requests wait for their turn, which comes whatever the
 * peer does.
 *
 * <p><b>No deadlock.</b> Say nothing is under way, and let a, b be the credits of two sides A, B.
 *
 * <ul>
 *   <li>a = 0: A's last message had no content and returned at least T &gt;= 2. B owes its receive
 *       request since then, and every message returns what is owed, so B has sent nothing since and
 *       b &gt;= 2: B may send content if it has any. If it has none it holds nothing back, so it
 *       owes its whole depth and sends a message without content.
 *   <li>a = 1, and A has content: if B holds nothing back it owes all but one, at least T, and as b
 *       &gt; 0 (else the case above, sides exchanged) it sends. If B holds back it has output; with
 *       b &gt;= 2 it sends; with b = 1 the other side, which holds nothing back, owes all but one
 *       and sends.
 *   <li>a &gt;= 2: A may send.
 * </ul>
 *
 * <p><b>No endless exchange.</b> Each message without content is paid for by T &gt;= 2 messages
 * that came since the last one, so there are never more of them in both directions together than
 * there are other messages.
 *
 * <p>Not thread-safe.
 */
final class Credits {
  /** The least depth with which half of it is two. */
  static final int LEAST_RECEIVES = 4;

  private final int peerReceives;
  private final int threshold;
  private int credits;
  private int owed;

  /**
   * Opens an account.
   *
   * @param ownReceives receive requests that this side has posted
   * @param peerReceives those of the other side
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

  /** True when a message without content has to be sent, unless one with content is. */
  boolean owes() {
    return owed >= threshold && credits > 0;
  }

  /** Counts a message that is sent; gives what it returns. */
  int send() {
    int returned = owed;
    credits--;
    owed = 0;
    return returned;
  }

  /** Counts what a message that came returned. */
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
