/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import java.io.IOException;

/** An RDMA operation failed. The message is a sentence for people. */
public final class RdmaException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception. */
  public RdmaException(String message) {
    super(message);
  }

  /** Creates an exception with the failed call as its cause. */
  public RdmaException(String message, Throwable cause) {
    super(message, cause);
  }
}
