/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailNode;
import io.crail.client.space.ReadLocator;
import io.crail.protocol.part.NodeInfo;

/** What a stream knows of the file whose bytes it moves: the handle that it was opened on. */
public interface StreamFile extends CrailNode, ReadLocator.Source {
  /** The node. */
  long id();

  /** Tells that the bytes up to {@code newSize} are written. */
  void grownTo(long newSize);

  /** Tells what the namenode has said of the node. */
  void info(NodeInfo newInfo);

  /** What the open output stream of this handle holds back, or null. */
  byte[] heldByWriter();

  /**
   * All bytes of a small value, as far as they may be read without asking anybody; else null.
   * Asking for them may be what uses them up.
   */
  byte[] knownValue(long nowNanos);

  /** Tells that the output stream of this handle has ended. */
  void writerClosed();
}
