/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import java.io.IOException;

/** The bytes of a key are not a record. */
final class CorruptRecordException extends IOException {
  private static final long serialVersionUID = 1L;

  CorruptRecordException(String what) {
    super("corrupt record: " + what);
  }
}
