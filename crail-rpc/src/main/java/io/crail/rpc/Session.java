/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

/** One connection as a server sees it. Used only by the thread that owns the connection. */
public final class Session {
  private final String peer;
  private Object attachment;

  /** Creates the session of a new connection; {@code peer} names the other side in messages. */
  public Session(String peer) {
    this.peer = peer;
  }

  /** The other side, for messages. */
  public String peer() {
    return peer;
  }

  /** What the service keeps with this connection; null until its handshake. */
  public Object attachment() {
    return attachment;
  }

  /** Sets what the service keeps with this connection. */
  public void attach(Object newAttachment) {
    this.attachment = newAttachment;
  }
}
