/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/** The position was filled or trimmed: there is no entry, and none will come. */
public final class NoEntryException extends LogException {
  private static final long serialVersionUID = 1L;

  NoEntryException(long position) {
    super("filled or trimmed: position " + position);
  }
}
