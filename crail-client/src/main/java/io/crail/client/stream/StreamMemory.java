/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.common.error.CrailException;
import io.crail.common.error.LimitExceededException;
import io.crail.memory.BufferMemory;
import io.crail.memory.BufferPool;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The memory that all buffered streams of a store share. A stream takes a piece when it has bytes
 * to move, and gives it back when they are moved. While half of the pool's memory is free, a piece
 * has as many bytes as a stream moves at a time; the less is free, the smaller are the pieces. So
 * the streams that are opened first do not take everything, and many thousands can be open.
 *
 * <p>A buffer of the pool is cut into pieces of one length, and goes back to the pool when no
 * stream has a piece of it. Thread-safe.
 */
final class StreamMemory {
  /** The least bytes of a piece, if {@code crail.slicesize} allows. */
  private static final int LEAST = 4 << 10;

  private final BufferPool pool;

  /** Lengths of pieces; each is half of the one before. */
  private final int[] lengths;

  /** For each length, the buffers with a free piece. */
  private final List<Deque<Slab>> open = new ArrayList<>();

  /** A buffer that is cut into pieces of one length. Guarded by its memory. */
  static final class Slab {
    private final CrailBuffer buffer;
    private final ByteBuffer root;
    private final int kind;
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    /** Where the next piece is cut. */
    private int uncut;

    private int taken;

    Slab(CrailBuffer buffer, int kind) {
      this.buffer = buffer;
      this.root = BufferMemory.rootOf(buffer);
      this.kind = kind;
    }

    ByteBuffer root() {
      return root;
    }

    private boolean hasFree(int length) {
      return !free.isEmpty() || uncut + length <= buffer.capacity();
    }

    private ByteBuffer take(int length) {
      taken++;
      ByteBuffer used = free.poll();
      if (used != null) {
        return used.clear();
      }
      uncut += length;
      return BufferMemory.of(buffer).slice(uncut - length, length);
    }
  }

  /** Memory that a buffered stream has for a while. */
  static final class Piece {
    private final ByteBuffer memory;
    private final Slab slab;

    /** What moves its bytes, if that may be under way; else null. */
    private volatile StreamOperation operation;

    Piece(ByteBuffer memory, Slab slab) {
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

    Slab slab() {
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

  /**
   * Takes nothing yet.
   *
   * @param sliceBytes what a stream moves at a time
   */
  StreamMemory(BufferPool pool, int sliceBytes) {
    this.pool = pool;
    int count = 1;
    int shortest = sliceBytes;
    while (shortest % 2 == 0 && shortest / 2 >= LEAST) {
      shortest /= 2;
      count++;
    }
    this.lengths = new int[count];
    for (int i = 0; i < count; i++) {
      lengths[i] = sliceBytes >> i;
      open.add(new ArrayDeque<>());
    }
  }

  /**
   * Takes a piece.
   *
   * @param wanted bytes that the stream has use for
   * @return a piece of that length or longer, or shorter when not much memory is free
   * @throws LimitExceededException when none is free
   */
  Piece take(int wanted) throws CrailException {
    int kind = kind(wanted);
    Piece piece = cut(kind);
    if (piece != null) {
      return piece;
    }
    CrailBuffer buffer;
    try {
      buffer = pool.allocateBuffer();
    } catch (LimitExceededException e) {
      piece = cutAny(kind);
      if (piece != null) {
        return piece;
      }
      throw e;
    }
    return cut(new Slab(buffer, kind));
  }

  /** Bytes of the pieces that are taken now. */
  int pieceBytes() {
    return lengths[kind(lengths[0])];
  }

  /** The kind of the pieces that a stream gets now. */
  private int kind(int wanted) {
    long most = pool.mostBytes();
    long free = most - pool.lentBytes();
    // A quarter of the length for each halving of what is free, from a half on.
    int least = free >= most / 2 ? 0 : free >= most / 4 ? 2 : free >= most / 8 ? 4 : 6;
    int kind = Math.min(least, lengths.length - 1);
    while (kind + 1 < lengths.length && lengths[kind + 1] >= wanted) {
      kind++;
    }
    return kind;
  }

  private synchronized Piece cut(int kind) {
    Slab slab = open.get(kind).peekFirst();
    return slab == null ? null : cutFrom(slab);
  }

  private synchronized Piece cut(Slab slab) {
    open.get(slab.kind).addFirst(slab);
    return cutFrom(slab);
  }

  private Piece cutFrom(Slab slab) {
    int length = lengths[slab.kind];
    Piece piece = new Piece(slab.take(length), slab);
    if (!slab.hasFree(length)) {
      open.get(slab.kind).remove(slab);
    }
    return piece;
  }

  /** A piece of any length: the longest of the shorter ones, else the shortest. */
  private synchronized Piece cutAny(int kind) {
    for (int shorter = kind; shorter < lengths.length; shorter++) {
      if (!open.get(shorter).isEmpty()) {
        return cut(shorter);
      }
    }
    for (int longer = kind - 1; longer >= 0; longer--) {
      if (!open.get(longer).isEmpty()) {
        return cut(longer);
      }
    }
    return null;
  }

  /** Takes a piece back, which nothing uses any more. */
  void release(Piece piece) {
    Slab slab = piece.slab();
    synchronized (this) {
      boolean wasFull = !slab.hasFree(lengths[slab.kind]);
      slab.free.push(piece.memory());
      slab.taken--;
      if (slab.taken > 0) {
        if (wasFull) {
          open.get(slab.kind).addFirst(slab);
        }
        return;
      }
      open.get(slab.kind).remove(slab);
    }
    pool.freeBuffer(slab.buffer);
  }
}
