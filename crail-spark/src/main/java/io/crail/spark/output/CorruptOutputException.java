/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.io.IOException;

/** A map output whose bytes are not those that were written. */
public final class CorruptOutputException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates it.
   *
   * @param message what is wrong with which output
   */
  public CorruptOutputException(String message) {
    super(message);
  }
}
