/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.tree.UserNames;
import io.crail.protocol.part.TextLimits;

/**
 * The user of a connection. The name gets a number of {@link UserNames} only when the user creates
 * a node. Numbers are few and never given back, so a handshake alone must not use one up. Used by
 * the thread of the connection.
 */
final class SessionUser {
  private static final int NONE = -1;

  private final UserNames users;
  private final Utf8 name;
  private int number;

  /**
   * Creates the user of a connection.
   *
   * @param name name of the user; empty for the namenode's own user
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when the name is not valid
   */
  SessionUser(UserNames users, Utf8 name) throws CrailException {
    String wrong = name.length() == 0 ? null : TextLimits.checkUser(name);
    if (wrong != null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "name of a user or group '" + name + "': " + wrong);
    }
    this.users = users;
    this.name = name;
    this.number = name.length() == 0 ? UserNames.OWN : NONE;
  }

  /**
   * The number of the user.
   *
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when all numbers are used
   */
  int number() throws CrailException {
    if (number == NONE) {
      number = users.number(name);
    }
    return number;
  }
}
