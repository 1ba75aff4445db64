/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.IOException;

/**
 * A file is not the one any more that was opened: the source has another length, time or mark for
 * it. The stream ends here, since its bytes would be those of two files. To open the file again
 * gives the present one.
 */
public final class SourceChangedException extends IOException {
  private static final long serialVersionUID = 1;

  SourceChangedException(String message) {
    super(message);
  }
}
