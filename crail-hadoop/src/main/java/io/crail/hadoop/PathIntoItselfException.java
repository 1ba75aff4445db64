/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import org.apache.hadoop.fs.PathIOException;

/** A rename would move a directory to a place below itself. */
final class PathIntoItselfException extends PathIOException {
  private static final long serialVersionUID = 1L;

  PathIntoItselfException(String path, Throwable cause) {
    super(path, cause);
  }
}
