/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.rpc.Frame;
import io.netty.buffer.ByteBufAllocator;

/** The memory that the connections of one loop share. Used only by the loop's thread. */
final class LoopMemory {
  /** The length of an output chunk in bytes, enough for two of the longest frames. */
  static final int OUTPUT_CAPACITY = 2 * Frame.MAX_LENGTH;

  /** The length of a chunk for a few short answers that wait for a commit. */
  static final int SMALL_CAPACITY = 1024;

  private static final int MOST_IDLE_OUTPUTS = 64;
  private static final int MOST_IDLE_INPUTS = 16;
  private static final int MOST_IDLE_SMALL = 4096;

  /** This many are in use at once while all peers keep pace. */
  private static final int LEAST_IDLE = 2;

  private final Chunk.Pool outputs;
  private final Chunk.Pool inputs;
  private final Chunk.Pool small;

  /**
   * Creates the memory; nothing is taken yet.
   *
   * @param mostIdleBytes the most bytes of idle chunks of each kind that are kept for the next use;
   *     at least {@link #LEAST_IDLE} chunks are always kept
   */
  LoopMemory(ByteBufAllocator memory, long mostIdleBytes) {
    this.outputs = newPool(memory, OUTPUT_CAPACITY, mostIdleBytes, MOST_IDLE_OUTPUTS);
    this.inputs = newPool(memory, Frame.MAX_LENGTH, mostIdleBytes, MOST_IDLE_INPUTS);
    this.small = newPool(memory, SMALL_CAPACITY, mostIdleBytes, MOST_IDLE_SMALL);
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

  /** Chunks of {@link #SMALL_CAPACITY}. */
  Chunk.Pool small() {
    return small;
  }

  /** Chunks to receive into, each as long as the longest frame. */
  Chunk.Pool inputs() {
    return inputs;
  }

  /** Frees the idle chunks now, and the other chunks when they are given back. */
  void close() {
    outputs.close();
    inputs.close();
    small.close();
  }
}
