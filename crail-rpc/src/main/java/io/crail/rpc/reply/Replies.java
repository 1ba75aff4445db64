/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import java.util.Arrays;
import java.util.Objects;

/**
 * The remembered answers to one peer, over all its connections. Thread-safe.
 *
 * <p>A peer numbers its requests over all connections, and sends at most one at a time in a slot.
 * Slots are taken from the lowest on, so a peer with few requests in flight takes little memory.
 */
public final class Replies {
  /** Slots are in chunks, so that a high one does not cost the memory of all below. */
  private static final int CHUNK_BITS = 6;

  private static final int CHUNK = 1 << CHUNK_BITS;

  /** Bytes of heap of a peer without answers, of a chunk and of a slot, with all references. */
  static final long FOOTPRINT = 160;

  private static final long CHUNK_FOOTPRINT = 16 + 4 * CHUNK;
  private static final long SLOT_FOOTPRINT = 40 + 16;

  private final ReplyCache.Memory memory;
  private final long client;
  private final long peer;
  private volatile Reply[][] chunks = {};
  private long footprint = FOOTPRINT;

  // Guarded by the cache.
  private int connections;
  private long keptUntilNanos;
  private long patienceNanos;

  Replies(ReplyCache.Memory memory, long client, long peer) {
    this.memory = memory;
    this.client = client;
    this.peer = peer;
    memory.add(FOOTPRINT);
  }

  /**
   * The reply in a slot.
   *
   * @param slot 0 to 65,535
   */
  public Reply at(int slot) {
    Reply[][] present = chunks;
    int chunk = slot >> CHUNK_BITS;
    Reply[] of = chunk < present.length ? present[chunk] : null;
    Reply reply = of == null ? null : of[slot & CHUNK - 1];
    return reply != null ? reply : make(slot);
  }

  private synchronized Reply make(int slot) {
    int chunk = slot >> CHUNK_BITS;
    if (chunk >= chunks.length) {
      charge(4L * (chunk + 1 - chunks.length));
      chunks = Arrays.copyOf(chunks, chunk + 1);
    }
    if (chunks[chunk] == null) {
      charge(CHUNK_FOOTPRINT);
      chunks[chunk] = new Reply[CHUNK];
    }
    Reply[] of = chunks[chunk];
    int index = slot & CHUNK - 1;
    if (of[index] == null) {
      of[index] = new Reply(memory);
      charge(SLOT_FOOTPRINT);
    }
    return of[index];
  }

  private void charge(long bytes) {
    memory.add(bytes);
    footprint += bytes;
  }

  private boolean isEmpty() {
    return chunks.length == 0;
  }

  Object key() {
    return ReplyCache.key(client, peer);
  }

  void connected(long newPatienceNanos) {
    connections++;
    patienceNanos = newPatienceNanos;
  }

  /** A connection is gone. Returns true if nothing has to be remembered. */
  boolean disconnected(long nowNanos) {
    connections--;
    keptUntilNanos = nowNanos + patienceNanos;
    return connections == 0 && isEmpty();
  }

  boolean isDue(long nowNanos) {
    return connections == 0 && nowNanos - keptUntilNanos >= 0;
  }

  /** Gives all memory back; no connection is left. */
  synchronized void forget() {
    long answers =
        Arrays.stream(chunks)
            .filter(Objects::nonNull)
            .flatMap(Arrays::stream)
            .filter(Objects::nonNull)
            .mapToLong(Reply::size)
            .sum();
    memory.give(footprint + answers);
  }
}
