/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

/** One connection as a server sees it. Used only by the thread that owns the connection. */
public final class Session {
  private final String peer;
  private Object attachment;

  /** Creates the session of a new connection. Messages name the other side with {@code peer}. */
  public Session(String peer) {
    this.peer = peer;
  }

  /** The name of the other side, for messages. */
  public String peer() {
    return peer;
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
