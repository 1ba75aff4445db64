/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

/**
 * Any number of bytes at datanodes that no reader sees, until a list of steps makes them the
 * content of their key; see {@link CompoundOperation.Builder#writeFull(StagedBytes)} and {@link
 * CompoundOperation.Builder#append(StagedBytes)}. A list that fails leaves them as they are, for
 * the next one. A list that links them uses them up. They end with their {@link #close}, and when
 * the store that has staged them is closed or gone. Thread-safe.
 */
public interface StagedBytes extends AutoCloseable {
  /** {@return the id of their node} */
  long id();

  /** {@return the number without which no list may link them} */
  long token();

  /** {@return how many bytes they are} */
  long length();

  /**
   * Gives their space back, unless a list has linked them. It has no effect on a key that has them.
   * If the namenode cannot be reached, they end a lease later.
   */
  @Override
  void close();
}
