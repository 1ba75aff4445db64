/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** There is no node of that name; see {@link ErrorCode#NODE_NOT_FOUND}. */
public final class NodeNotFoundException extends CrailException {
  private static final long serialVersionUID = 1L;

  NodeNotFoundException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
