/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import java.io.IOException;

/** Bytes under a key that are no record. */
final class CorruptRecordException extends IOException {
  private static final long serialVersionUID = 1L;

  CorruptRecordException(String what) {
    super("corrupt record: " + what);
  }
}
