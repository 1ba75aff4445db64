/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The client's end of one connection. Used only by the thread that drives its {@link ClientLoop}.
 */
public interface Connection {
  /** Handles the events of a connection. Called by the thread that drives the loop. */
  interface Handler {
    /** The connection is established. */
    void connected(Connection connection);

    /**
     * A whole, checked response frame has arrived.
     *
     * @param buffer little-endian; valid only during the call
     */
    void received(ByteBuffer buffer, int offset, int frameLength);

    /** There is room again for output that {@link Connection#reserve} refused. */
    void writable();

    /**
     * The connection could not be established, or is gone. The last call on this handler.
     *
     * @param cause a sentence for people
     */
    void closed(String cause);
  }

  /**
   * Makes room for one frame in the connection's output.
   *
   * @return where the frame begins in {@link #output()}, or -1 when the peer does not keep up;
   *     {@link Handler#writable} is called when there is room again
   */
  int reserve(int frameLength);

  /**
   * The buffer that holds the reserved frame, little-endian. It may be another one after each
   * reserve.
   */
  ByteBuffer output();

  /** The reserved frame is written; it leaves with the next flush. */
  void commit(int frameLength);

  /** Hands all committed frames to the network in one write. */
  void flush();

  /** The longest frame that the other side accepts. */
  default int maxFrameLength() {
    return Frame.MAX_LENGTH;
  }

  /** The other side. */
  InetSocketAddress address();

  /** Closes at once; {@link Handler#closed} is called before this returns, or soon after. */
  void close(String cause);
}
