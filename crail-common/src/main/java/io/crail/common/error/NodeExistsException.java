/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The name is taken; see {@link ErrorCode#NODE_EXISTS}. */
public final class NodeExistsException extends CrailException {
  private static final long serialVersionUID = 1L;

  NodeExistsException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
