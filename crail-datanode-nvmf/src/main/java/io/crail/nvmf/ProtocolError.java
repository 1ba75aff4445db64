/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

/** The target breaks the protocol, so the connection ends. */
public final class ProtocolError extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates an error of a sentence's rest. */
  public ProtocolError(String what) {
    super("the target breaks the protocol: " + what);
  }
}
