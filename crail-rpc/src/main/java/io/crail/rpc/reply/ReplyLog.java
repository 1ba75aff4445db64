/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import java.nio.ByteBuffer;

/**
 * Where a server notes answers, so that it remembers them at its next start. A request may be noted
 * as one whose answer is lost before it has its answer. Thread-safe.
 */
public interface ReplyLog {
  /** An answer. Under the claim to its request. */
  interface Answer {
    /** True while the answer is held, and is not known. */
    boolean isHeld();

    /** True when the request was served, and the answer is not known. */
    boolean isLost();

    /** The number of its error code. */
    int code();

    /** Bytes of the answer. */
    int length();

    /** Copies the answer. */
    void copyTo(ByteBuffer out, int offset);
  }

  /** Notes nothing. */
  ReplyLog NONE =
      new ReplyLog() {
        @Override
        public void begin(ReplyPeer peer, int slot, long number) {}

        @Override
        public void end() {}

        @Override
        public void answered(ReplyPeer peer, int slot, long number, Answer answer) {}

        @Override
        public void forgotten(ReplyPeer peer) {}
      };

  /** The calling thread begins to serve a request, under the claim to it. {@link #end} follows. */
  void begin(ReplyPeer peer, int slot, long number);

  /** The calling thread has served a request, or given it back. */
  void end();

  /**
   * A request has its answer, or is known not to get one yet, see {@link Answer#isLost}. Under the
   * claim to the request.
   */
  void answered(ReplyPeer peer, int slot, long number, Answer answer);

  /** A peer does not come back. */
  void forgotten(ReplyPeer peer);
}
