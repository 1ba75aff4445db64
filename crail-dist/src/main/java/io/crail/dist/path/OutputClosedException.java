/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.path;

import java.io.IOException;

/** Nobody reads the standard output any more. */
final class OutputClosedException extends IOException {
  private static final long serialVersionUID = 1L;

  OutputClosedException() {
    super("nobody reads the output any more");
  }
}
