/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import java.nio.ByteBuffer;

/** Memory that a buffered stream has for a while. */
final class Piece {
  private final ByteBuffer memory;
  private final StreamMemory.Slab slab;

  /** What moves its bytes, if that may be under way; else null. */
  private volatile StreamOperation operation;

  Piece(ByteBuffer memory, StreamMemory.Slab slab) {
    this.memory = memory;
    this.slab = slab;
  }

  /** The bytes. */
  ByteBuffer memory() {
    return memory;
  }

  /** The memory that it was cut from, as the pool allocated it: the same object each time. */
  ByteBuffer root() {
    return slab.root();
  }

  /** Bytes of the memory. */
  int length() {
    return memory.capacity();
  }

  StreamMemory.Slab slab() {
    return slab;
  }

  /** An operation uses the memory until it ends. */
  void usedBy(StreamOperation user) {
    operation = user;
  }

  /** What may use the memory now; null for nothing. */
  StreamOperation user() {
    StreamOperation user = operation;
    return user == null || user.isComplete() ? null : user;
  }
}
