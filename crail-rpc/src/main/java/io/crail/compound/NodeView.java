/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.error.CrailException;

/** A node as a {@link NodeClass} sees it: with what the steps before the call have done. */
public interface NodeView {
  /** {@return whether there is a node} */
  boolean exists();

  /** {@return its bytes; 0 for no node} */
  long size();

  /** {@return its version; 0 for no node} */
  long version();

  /** {@return its epoch; 0 for no node} */
  long epoch();

  /**
   * The value of an attribute.
   *
   * @param name its name
   * @return a copy; null when there is none
   */
  byte[] attribute(String name);

  /**
   * Bytes of the node, as many as are asked for or as there are.
   *
   * @param position of the first byte
   * @param length the most bytes
   * @return a copy
   * @throws CrailException with {@code NOT_KEPT} when they are at datanodes
   */
  byte[] read(long position, int length) throws CrailException;
}
