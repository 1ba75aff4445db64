/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.rpc.login.Caller;
import io.crail.rpc.login.ServerLogin;
import io.crail.rpc.reply.Replies;
import io.crail.rpc.reply.Reply;

/** One connection as a server sees it. Used only by the thread that owns the connection. */
public final class Session {
  private final String peer;
  private final HeldAnswers.OfConnection held;
  private boolean needsCaller;
  private ServerLogin login;
  private Caller caller;
  private Object attachment;
  private Replies replies;
  private boolean waitsForAnswer;

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
    hold(correlationId, answer, null, responses);
  }

  /**
   * As {@link #hold(long, HeldAnswer, ResponseWriter)}, for an answer that is remembered.
   *
   * @param reply what remembers it, claimed for the request; {@linkplain Reply#isHeld says after
   *     this call} whether the claim lasts until the answer leaves. Null for none
   */
  public void hold(long correlationId, HeldAnswer answer, Reply reply, ResponseWriter responses) {
    if (held == null) {
      throw new UnsupportedOperationException("this connection holds no answers");
    }
    held.hold(correlationId, answer, reply, responses);
    if (held.isFull()) {
      responses.setFull(true);
    }
  }

  /**
   * Notes that the first request which is given back waits for an answer that another connection
   * holds. The connection offers it again now and then, rather than at once.
   */
  public void waitForAnswer() {
    waitsForAnswer = true;
  }

  /** Whether {@link #waitForAnswer} was called since this was asked last. */
  public boolean takeWaitsForAnswer() {
    boolean waits = waitsForAnswer;
    waitsForAnswer = false;
    return waits;
  }

  /** The login of this connection; null before its first message. */
  public ServerLogin login() {
    return login;
  }

  /** Begins the login; there must be none yet. */
  public void begin(ServerLogin newLogin) {
    if (login != null) {
      throw new IllegalStateException("a second login");
    }
    this.login = newLogin;
  }

  /** The login has succeeded. */
  public void accept(Caller accepted) {
    this.caller = accepted;
  }

  /** Who asks; null until the login has succeeded. */
  public Caller caller() {
    return caller;
  }

  /** The service serves nothing but a handshake until there is a caller. */
  public void needCaller() {
    this.needsCaller = true;
  }

  /**
   * True when the handshake has begun and has not succeeded. A transport ends a connection that is
   * still in this state when its deadline for handshakes has passed.
   */
  public boolean isInHandshake() {
    return needsCaller && caller == null;
  }

  /** The remembered answers to the peer; null if its requests change nothing. */
  public Replies replies() {
    return replies;
  }

  /** Remembers the answers to requests that change something from now on. */
  public void remember(Replies newReplies) {
    this.replies = newReplies;
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
