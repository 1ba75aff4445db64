/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The node was removed or replaced; see {@link ErrorCode#STALE_NODE}. */
public final class StaleNodeException extends CrailException {
  private static final long serialVersionUID = 1L;

  StaleNodeException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
