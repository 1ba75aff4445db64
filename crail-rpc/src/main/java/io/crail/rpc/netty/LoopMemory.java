/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.rpc.Frame;
import io.netty.buffer.ByteBufAllocator;

/** The memory that the connections of one loop share. Used only by the loop's thread. */
final class LoopMemory {
  /** Bytes of a chunk that is written into, enough for two of the longest frames. */
  static final int OUTPUT_CAPACITY = 2 * Frame.MAX_LENGTH;

  private static final int MOST_IDLE_OUTPUTS = 64;
  private static final int MOST_IDLE_INPUTS = 16;

  /** As many are in use at once while all peers keep pace. */
  private static final int LEAST_IDLE = 2;

  private final Chunk.Pool outputs;
  private final Chunk.Pool inputs;

  /**
   * Nothing is taken yet.
   *
   * @param mostIdleBytes the most bytes of chunks of each kind that are kept for the next use, but
   *     {@link #LEAST_IDLE} of them always
   */
  LoopMemory(ByteBufAllocator memory, long mostIdleBytes) {
    this.outputs = newPool(memory, OUTPUT_CAPACITY, mostIdleBytes, MOST_IDLE_OUTPUTS);
    this.inputs = newPool(memory, Frame.MAX_LENGTH, mostIdleBytes, MOST_IDLE_INPUTS);
  }

  private static Chunk.Pool newPool(
      ByteBufAllocator memory, int capacity, long mostIdleBytes, int mostIdle) {
    long idle = Math.max(LEAST_IDLE, Math.min(mostIdle, mostIdleBytes / capacity));
    return new Chunk.Pool(memory, capacity, (int) idle);
  }

  /** Chunks to write into. */
  Chunk.Pool outputs() {
    return outputs;
  }

  /** Chunks to receive into, each as long as the longest frame. */
  Chunk.Pool inputs() {
    return inputs;
  }

  /** Lets go of what is idle now, and of the rest when it is given back. */
  void close() {
    outputs.close();
    inputs.close();
  }
}
