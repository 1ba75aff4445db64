/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

/**
 * An answer that may say nothing that a change has brought. Then it does not wait until changes are
 * committed, and comes also while a server cannot commit any.
 */
@FunctionalInterface
public interface Independent {
  /** True if it says nothing that a change has brought. */
  boolean isIndependent();
}
