/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailNode;
import io.crail.client.space.ReadLocator;
import io.crail.protocol.part.NodeInfo;

/**
 * The file whose bytes a stream moves, as the stream knows it: the handle that it was opened on.
 */
public interface StreamFile extends CrailNode, ReadLocator.Source {
  /** The id of the node. */
  long id();

  /** Reports that the bytes up to {@code newSize} are written. */
  void grownTo(long newSize);

  /** Passes on what the namenode has returned about the node. */
  void info(NodeInfo newInfo);

  /** The bytes that the open output stream of this handle holds back, or null. */
  byte[] heldByWriter();

  /**
   * All bytes of a small value, if they may be read without asking the namenode; else null. A call
   * may use the bytes up.
   */
  byte[] knownValue(long nowNanos);

  /** Reports that the output stream of this handle has ended. */
  void writerClosed();
}
