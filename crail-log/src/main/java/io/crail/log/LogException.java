/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import java.io.IOException;

/** Why an operation of a log has changed or read nothing, although the store works. */
public abstract sealed class LogException extends IOException
    permits AlreadyWrittenException,
        LostPartException,
        NotWrittenException,
        NoEntryException,
        StaleEpochException {
  private static final long serialVersionUID = 1L;

  LogException(String message) {
    super(message);
  }
}
