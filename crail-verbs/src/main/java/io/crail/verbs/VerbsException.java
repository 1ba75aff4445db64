/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.IOException;

/** A failed call of libibverbs or librdmacm. The message is "call: text (errno number)". */
public final class VerbsException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int errno;

  /**
   * Made by the native library.
   *
   * @param call the C function, such as "rdma_resolve_addr"
   * @param errno its error number, positive
   * @param text the C library's text for that number
   */
  public VerbsException(String call, int errno, String text) {
    super(call + ": " + text + " (errno " + errno + ")");
    this.call = call;
    this.errno = errno;
  }

  /** The C function that failed. */
  public String call() {
    return call;
  }

  /** Its error number as in errno.h, such as 111 for a refused connection. Always positive. */
  public int errno() {
    return errno;
  }
}
