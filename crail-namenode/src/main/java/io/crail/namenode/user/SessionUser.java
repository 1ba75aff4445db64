/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.login.Caller;

/**
 * The caller of a connection as the owner of nodes. The name takes a slot of {@link UserNames} only
 * when the user creates a node, since slots are few and a handshake alone must not use one up. Used
 * by the thread of the connection.
 */
public final class SessionUser {
  /** The most names that one connection brings that the namenode does not know. */
  private static final int MOST_NEW_NAMES = 4096;

  private final UserNames users;
  private final Caller caller;
  private final Utf8 name;
  private UserName known;
  private int newNames;

  /**
   * Creates the user of a connection.
   *
   * @param caller whose name it has; an empty one is that of the namenode's own user
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when the name is not valid
   */
  public SessionUser(UserNames users, Caller caller) throws CrailException {
    Utf8 name = caller.principal().name();
    String wrong = name.length() == 0 ? null : TextLimits.checkUser(name);
    if (wrong != null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "name of a user or group '" + name + "': " + wrong);
    }
    this.users = users;
    this.caller = caller;
    this.name = name;
    this.known = name.length() == 0 ? users.own() : null;
  }

  /** Who asks. */
  public Caller caller() {
    return caller;
  }

  /**
   * The user's own name, held for a node that is going to have it.
   *
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when nodes have all numbers
   */
  public UserName hold() throws CrailException {
    known = users.hold(name, known, true);
    return known;
  }

  /**
   * A name from a request, held for a node that is going to have it.
   *
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when nodes have all numbers, or
   *     this connection has brought too many names
   */
  public UserName hold(Utf8 other) throws CrailException {
    boolean isNew = !users.knows(other);
    if (isNew && newNames == MOST_NEW_NAMES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "'" + other + "': this connection has brought " + newNames + " new users and groups");
    }
    UserName held = users.hold(other, null, false);
    newNames += isNew ? 1 : 0;
    return held;
  }
}
