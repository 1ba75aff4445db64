/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

/** The target breaks the protocol, so the connection ends. */
final class ProtocolError extends Exception {
  private static final long serialVersionUID = 1;

  ProtocolError(String what) {
    super("the target breaks the protocol: " + what);
  }
}
