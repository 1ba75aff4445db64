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

  private final Chunk.Pool outputs;
  private final Chunk.Pool inputs;

  LoopMemory(ByteBufAllocator memory) {
    this.outputs = new Chunk.Pool(memory, OUTPUT_CAPACITY, MOST_IDLE_OUTPUTS);
    this.inputs = new Chunk.Pool(memory, Frame.MAX_LENGTH, MOST_IDLE_INPUTS);
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
