/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import org.apache.hadoop.fs.PathIOException;

/** A directory was to be moved to a place below itself. */
final class PathIntoItselfException extends PathIOException {
  private static final long serialVersionUID = 1L;

  PathIntoItselfException(String path, Throwable cause) {
    super(path, cause);
  }
}
