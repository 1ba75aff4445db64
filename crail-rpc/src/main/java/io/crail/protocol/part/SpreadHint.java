/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/**
 * The detail of {@link ErrorCode#SPREAD}, {@link ErrorCode#NO_SHARE} and, from a share, {@link
 * ErrorCode#BEING_REMOVED}: the directory that a path goes through, as its id, a space, and its
 * path.
 *
 * @param id the id of the directory
 * @param path its path
 */
public record SpreadHint(long id, Utf8 path) {
  /** Reads a detail; null when it is none. */
  public static SpreadHint of(String detail) {
    int space = detail.indexOf(' ');
    try {
      Utf8 path = Utf8.of(detail.substring(space + 1));
      return NodePath.parse(path.toString()).equals(path)
          ? new SpreadHint(Long.parseLong(detail.substring(0, Math.max(space, 0))), path)
          : null;
    } catch (NumberFormatException | CrailException e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return id + " " + path;
  }
}
