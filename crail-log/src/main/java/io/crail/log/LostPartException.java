/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/**
 * A part of the log is gone: its namenode was started again, or somebody has removed it. Nothing
 * more can be appended; what is left can be read.
 */
public final class LostPartException extends LogException {
  private static final long serialVersionUID = 1L;

  LostPartException(String key) {
    super("a part of the log is gone, since its namenode was started again: " + key);
  }
}
