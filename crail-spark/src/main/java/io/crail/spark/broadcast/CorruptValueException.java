/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import java.io.IOException;

/** A value whose bytes in the store are not those that were written. */
public final class CorruptValueException extends IOException {
  private static final long serialVersionUID = 1L;

  CorruptValueException(String message) {
    super(message);
  }
}
