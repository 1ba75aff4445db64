/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/** Another client has taken the log over meanwhile, so that an older epoch changes nothing. */
public final class StaleEpochException extends LogException {
  private static final long serialVersionUID = 1L;

  StaleEpochException(long epoch) {
    super("taken over by another client: epoch " + epoch);
  }
}
