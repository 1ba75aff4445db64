/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.io.IOException;
import java.nio.file.Path;

/** A file or directory belongs to another user of this host, so this process does not use it. */
public final class OtherUserException extends IOException {
  private static final long serialVersionUID = 1;

  /** Names what it is, and both users. */
  public OtherUserException(Path path, int owner) {
    super(
        path
            + " belongs to user "
            + Integer.toUnsignedString(owner)
            + ", and this process runs as user "
            + ProcessUser.idText());
  }
}
