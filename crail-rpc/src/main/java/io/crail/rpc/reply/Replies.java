/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.rpc.login.Principal;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.ObjIntConsumer;
import java.util.stream.Stream;

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
  static final long FOOTPRINT = 256;

  private static final long CHUNK_FOOTPRINT = 16 + 4 * CHUNK;
  private static final long SLOT_FOOTPRINT = 40 + 16;

  /** Whose answers they are. */
  record Key(Principal principal, long client, long peer) {}

  /**
   * The time without a connection.
   *
   * @param endNanos when the peer is forgotten
   * @param number distinguishes those that end at a time
   */
  record Absence(Replies replies, long endNanos, long number) implements Comparable<Absence> {
    @Override
    public int compareTo(Absence other) {
      // The times may be on both sides of an overflow.
      int order = Long.signum(endNanos - other.endNanos);
      return order != 0 ? order : Long.compare(number, other.number);
    }
  }

  private final ReplyMemory memory;
  private final ReplyLog log;
  private final ReplyPeer peer;
  private final Key key;
  private volatile Reply[][] chunks = {};
  private long footprint = FOOTPRINT;

  // Under the cache's lock for the key.
  private int connections;
  private Absence absence;

  Replies(ReplyMemory memory, ReplyLog log, Key key) {
    this.memory = memory;
    this.log = log;
    this.peer = new ReplyPeer(key.principal(), key.client(), key.peer());
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
    chunks[chunk][index] = new Reply(memory, log, peer, slot);
    return chunks[chunk][index];
  }

  /** True if nothing has to be remembered. */
  boolean isEmpty() {
    return chunks.length == 0;
  }

  Key key() {
    return key;
  }

  /** Where the answers are noted. */
  public ReplyLog log() {
    return log;
  }

  /** Whose answers they are. */
  public ReplyPeer peer() {
    return peer;
  }

  /** Visits the answers, each with its slot. */
  public void forEach(ObjIntConsumer<Reply> visitor) {
    Reply[][] present = chunks;
    for (int i = 0; i < present.length << CHUNK_BITS; i++) {
      Reply[] of = present[i >> CHUNK_BITS];
      Reply reply = of == null ? null : of[i & CHUNK - 1];
      if (reply != null) {
        visitor.accept(reply, i);
      }
    }
  }

  /** Remembers an answer of an earlier start. False if there is no memory for it. */
  boolean restore(int slot, long number, int code, boolean lost, ByteBuffer bytes) {
    Reply reply = at(slot);
    if (reply == null) {
      return false;
    }
    reply.restore(number, code, lost, bytes);
    return true;
  }

  // Under the cache's lock for the key.

  /** There is a connection more. Returns the absence that has ended; null if there was none. */
  Absence connected(long newPatienceNanos) {
    connections++;
    peer.patienceNanos(newPatienceNanos);
    Absence ended = absence;
    absence = null;
    return ended;
  }

  /** A connection is gone. Returns true if it was the last one. */
  boolean disconnected() {
    connections--;
    return connections == 0;
  }

  /** Begins an absence, or prolongs it. */
  Absence absent(long endNanos, long number) {
    absence = new Absence(this, endNanos, number);
    return absence;
  }

  /** The present absence; null if there is a connection. */
  Absence absence() {
    return absence;
  }

  /** True while an answer is still to come. */
  boolean isBusy() {
    return replies().anyMatch(Reply::isClaimed);
  }

  private Stream<Reply> replies() {
    return Arrays.stream(chunks)
        .filter(Objects::nonNull)
        .flatMap(Arrays::stream)
        .filter(Objects::nonNull);
  }

  /** Gives all memory back; no connection is left. */
  synchronized void forget() {
    memory.give(footprint + replies().mapToLong(Reply::size).sum());
  }
}
