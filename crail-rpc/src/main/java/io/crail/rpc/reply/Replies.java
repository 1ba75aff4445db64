/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.rpc.login.Principal;
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

  /** Whose answers they are. */
  record Key(Principal principal, long client, long peer) {}

  private final ReplyMemory memory;
  private final Key key;
  private volatile Reply[][] chunks = {};
  private long footprint = FOOTPRINT;

  // Written under the cache's lock for the key.
  private volatile int connections;
  private volatile long keptUntilNanos;
  private long patienceNanos;

  Replies(ReplyMemory memory, Key key) {
    this.memory = memory;
    this.key = key;
    memory.add(FOOTPRINT);
  }

  /**
   * The reply in a slot; null if there is no memory for it, and the request has to be refused.
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
    int index = slot & CHUNK - 1;
    int grown = Math.max(chunk + 1, chunks.length);
    boolean isNew = grown > chunks.length || chunks[chunk] == null;
    if (!isNew && chunks[chunk][index] != null) {
      return chunks[chunk][index];
    }
    long bytes = SLOT_FOOTPRINT + 4L * (grown - chunks.length) + (isNew ? CHUNK_FOOTPRINT : 0);
    if (!memory.takeReserved(bytes)) {
      return null;
    }
    footprint += bytes;
    if (grown > chunks.length) {
      chunks = Arrays.copyOf(chunks, grown);
    }
    if (isNew) {
      chunks[chunk] = new Reply[CHUNK];
    }
    chunks[chunk][index] = new Reply(memory);
    return chunks[chunk][index];
  }

  private boolean isEmpty() {
    return chunks.length == 0;
  }

  Key key() {
    return key;
  }

  void connected(long newPatienceNanos) {
    connections = connections + 1;
    patienceNanos = newPatienceNanos;
  }

  /** A connection is gone. Returns true if nothing has to be remembered. */
  boolean disconnected(long nowNanos) {
    connections = connections - 1;
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
