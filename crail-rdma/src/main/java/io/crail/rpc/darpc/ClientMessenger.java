/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.crail.rpc.rdma.RdmaLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The client's end of a connection. Used only by the thread that drives its loop. */
final class ClientMessenger extends Messenger implements Connection {
  private final InetSocketAddress address;
  private final Handler handler;
  private final RdmaLoop rdma;
  private int underway;
  private boolean refused;
  private boolean connected;

  ClientMessenger(
      MessagePort port,
      SendChunk.Pool pool,
      DarpcSettings settings,
      RdmaLoop rdma,
      InetSocketAddress address,
      Handler handler)
      throws IOException {
    super(port, pool, settings);
    this.address = address;
    this.handler = handler;
    this.rdma = rdma;
  }

  /**
   * The connection is established.
   *
   * @param greeting the server's greeting; null when the server is not Crail's
   */
  void connected(Greeting greeting) {
    connected = true;
    open(greeting, Frame.KIND_RESPONSE);
    handler.connected(this);
    if (!isClosed()) {
      advance();
    }
  }

  // What the client does.

  @Override
  public int reserve(int frameLength) {
    if (isClosed() || outgoing().pendingBytes() >= settings().outputLimit()) {
      refused = true;
      return -1;
    }
    try {
      return outgoing().room(frameLength).written;
    } catch (IOException e) {
      close(e.getMessage());
      return -1;
    }
  }

  @Override
  public ByteBuffer output() {
    return outgoing().filling().view();
  }

  @Override
  public void commit(int frameLength) {
    outgoing().written(outgoing().filling().written + frameLength, false);
    underway++;
    rdma.begun();
  }

  @Override
  public void flush() {
    if (!isClosed()) {
      outgoing().flush();
    }
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close(String cause) {
    end(cause);
  }

  // What happens.

  @Override
  boolean holdsBack() {
    return false;
  }

  @Override
  int keptFrames() {
    return 0;
  }

  @Override
  public boolean together(ByteBuffer buffer, int length) {
    return frame(buffer, 0, length);
  }

  @Override
  public boolean frame(ByteBuffer buffer, int offset, int length) {
    if (underway > 0) {
      underway--;
      rdma.ended();
    }
    handler.received(buffer, offset, length);
    return !isClosed();
  }

  @Override
  void taken() {}

  @Override
  void progressed() {
    if (refused && outgoing().pendingBytes() < settings().outputLimit()) {
      refused = false;
      handler.writable();
    }
  }

  @Override
  void refuse(String why) {
    close(why);
  }

  @Override
  void ended(String cause) {
    for (; underway > 0; underway--) {
      rdma.ended();
    }
    if (connected) {
      handler.closed(failure() == null ? cause : failure());
    }
  }
}
