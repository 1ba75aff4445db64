/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.rpc.login.Principal;

/** A peer whose answers are remembered, as a log knows it. Thread-safe. */
public final class ReplyPeer {
  private final Principal principal;
  private final long client;
  private final long peer;
  private volatile long patienceNanos;
  private volatile int logNumber;

  ReplyPeer(Principal principal, long client, long peer) {
    this.principal = principal;
    this.client = client;
    this.peer = peer;
  }

  /** Who the peer is. */
  public Principal principal() {
    return principal;
  }

  /** The random number of the client. */
  public long client() {
    return client;
  }

  /** Which of the client's peers it is. */
  public long peer() {
    return peer;
  }

  /** How long after the loss of its connection the peer may send a request again. */
  public long patienceNanos() {
    return patienceNanos;
  }

  void patienceNanos(long nanos) {
    patienceNanos = nanos;
  }

  /** The number by which a log names the peer; 0 if it does not. Changes under the monitor. */
  public int logNumber() {
    return logNumber;
  }

  /** Sets the number by which a log names the peer. Under the monitor. */
  public void logNumber(int number) {
    logNumber = number;
  }
}
