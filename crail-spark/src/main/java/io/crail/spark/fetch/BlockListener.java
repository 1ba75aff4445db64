/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

/** Hears of each block once, by a thread of the fetcher, as long as it wants to. */
public interface BlockListener {
  /** {@return whether blocks are still of use; asked before each attempt, by any thread} */
  default boolean isWanted() {
    return true;
  }

  /**
   * A block is there.
   *
   * @param data its bytes, which the listener has to release
   */
  void fetched(BlockRange block, BlockData data);

  /** A block cannot be fetched. */
  void failed(BlockRange block, Exception cause);
}
