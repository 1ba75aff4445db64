/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailBuffer;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Copies bytes between this host and the store, one copy after the other, with several pieces of it
 * in flight: while the store moves some of them, this host reads or writes others. The buffers are
 * the store's, which takes them back when it is closed. Used by one thread; another one may ask for
 * {@link #moved}.
 */
final class Copier {
  /** With buffers of the usual size 8 MiB, which fills a network of 100 Gbit/s and 0.5 ms. */
  private static final int MOST_IN_FLIGHT = 8;

  private final CrailStore store;
  private final Deque<CrailBuffer> free = new ArrayDeque<>();
  private final Deque<Piece> inFlight = new ArrayDeque<>();
  private final AtomicLong moved = new AtomicLong();
  private int lent;

  Copier(CrailStore store) {
    this.store = store;
  }

  private record Piece(CrailBuffer buffer, Future<CrailResult> outcome) {}

  /** Takes the bytes of a copy. */
  @FunctionalInterface
  interface Sink {
    /** Takes all that remains. */
    void write(ByteBuffer bytes) throws IOException;
  }

  /** The bytes that all copies have moved. */
  long moved() {
    return moved.get();
  }

  /** Copies all that a source has. The caller closes both. */
  void upload(ReadableByteChannel source, CrailOutputStream out) throws Exception {
    try {
      boolean more = true;
      while (more) {
        CrailBuffer buffer = room() ? lend() : finished();
        buffer.clear();
        more = fill(source, buffer.getByteBuffer());
        buffer.flip();
        if (buffer.hasRemaining()) {
          inFlight.add(new Piece(buffer, out.write(buffer)));
        } else {
          free.add(buffer);
        }
      }
      while (!inFlight.isEmpty()) {
        free.add(finished());
      }
    } finally {
      settle();
    }
  }

  /** Waits for the oldest write. */
  private CrailBuffer finished() throws InterruptedException, ExecutionException {
    Piece oldest = inFlight.peek();
    moved.addAndGet(oldest.outcome.get().getLen());
    return inFlight.remove().buffer;
  }

  /** Fills a buffer as far as the source has bytes; false at its end. */
  private static boolean fill(ReadableByteChannel source, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (source.read(buffer) < 0) {
        return false;
      }
    }
    return true;
  }

  /** Copies this many bytes. The caller closes both. */
  void download(CrailInputStream in, long length, Sink sink) throws Exception {
    try {
      long asked = 0;
      while (asked < length || !inFlight.isEmpty()) {
        while (asked < length && room()) {
          CrailBuffer buffer = lend();
          buffer.clear();
          buffer.limit((int) Math.min(buffer.capacity(), length - asked));
          asked += buffer.remaining();
          inFlight.add(new Piece(buffer, in.read(buffer)));
        }
        Piece oldest = inFlight.peek();
        long count = oldest.outcome.get().getLen();
        oldest.buffer.flip();
        if (count == 0 || count != oldest.buffer.remaining()) {
          throw new IOException("ended before its " + length + " bytes were read; try again");
        }
        sink.write(oldest.buffer.getByteBuffer());
        moved.addAndGet(count);
        free.add(inFlight.remove().buffer);
      }
    } finally {
      settle();
    }
  }

  private boolean room() {
    return !free.isEmpty() || lent < MOST_IN_FLIGHT;
  }

  private CrailBuffer lend() throws Exception {
    if (free.isEmpty()) {
      CrailBuffer buffer = store.allocateBuffer();
      lent++;
      return buffer;
    }
    return free.remove();
  }

  /** Waits for what a failed copy has left in flight, since it uses the buffers. */
  private void settle() throws InterruptedException {
    while (!inFlight.isEmpty()) {
      Piece piece = inFlight.remove();
      try {
        piece.outcome.get();
      } catch (ExecutionException e) {
        // The copy fails already, with the first error.
      }
      free.add(piece.buffer);
    }
  }
}
