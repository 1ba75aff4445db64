/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

/** The account of the memory that remembered answers take. Thread-safe. */
public interface ReplyMemory {
  /** Takes bytes; false when there are not enough. */
  boolean take(long bytes);

  /** As {@link #take}, also from what is reserved for requests that free memory. */
  boolean takeReserved(long bytes);

  /** Takes bytes, in any case. */
  void add(long bytes);

  /** Gives bytes back. */
  void give(long bytes);
}
