/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.CommitQueue;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * The output of one connection: frames are written into chunks, cut into messages when the peer has
 * room for them, and posted as one chain. The completion of a send is not always requested, since
 * one completion covers all sends before it. Only sends that the device reads from memory have to
 * be known to have ended soon. Frames that wait for a commit stay, and those that are written in
 * the meantime wait together for the next one. Not thread-safe.
 */
final class Outgoing {
  /** Posts messages. */
  interface Wire {
    /**
     * Adds a message to those that leave with the next {@link #post}.
     *
     * @param slot the number of its send request
     * @param chunk the chunk that holds the content; null without content
     * @param inline whether its bytes are copied while posting
     */
    void add(int slot, int header, SendChunk chunk, int from, int length, boolean inline);

    /**
     * Posts the messages that were added.
     *
     * @param signalled whether {@link Outgoing#ended} must be called for the last message
     */
    void post(boolean signalled);

    /**
     * Posts a write of zero bytes. The peer's device acknowledges it without the peer's software.
     * {@link Outgoing#ended} is called for it.
     */
    void probe(int slot);
  }

  private final SendChunk.Pool pool;
  private final Dialect dialect;
  private final Wire wire;
  private final CommitQueue commits;
  private final Runnable committed;
  private final int inlineBytes;
  // A ring with the chunk that holds the message of each send request.
  private final SendChunk[] slots;
  private final ArrayDeque<SendChunk> full = new ArrayDeque<>(0);
  private SendChunk filling;
  private long pendingBytes;
  private long writtenBytes;

  /** The first so many of all written bytes need not wait for a commit any more. */
  private long committedBytes;

  /** The first so many of all written bytes wait for a commit, if they are more. */
  private long awaitedBytes;

  private long awaitedCommit;

  /** Whether some written bytes rest on changes, and do not know yet what they wait for. */
  private boolean rests;

  private long nextCommit = CommitQueue.NOTHING;
  private long messages;
  private long posted;
  private long ended;
  private int unsignalled;
  // The number of posted requests that are known to have ended once all requested completions have
  // come.
  private long expected;
  private boolean closed;

  /**
   * Creates the output of a connection.
   *
   * @param sends places on the send queue
   * @param inlineBytes the longest message that is copied while posting
   * @param commits decides when frames may leave
   * @param committed called when frames may leave that had to wait, or never will
   */
  Outgoing(
      SendChunk.Pool pool,
      Dialect dialect,
      Wire wire,
      int sends,
      int inlineBytes,
      CommitQueue commits,
      Runnable committed) {
    this.commits = commits;
    this.committed = committed;
    this.pool = pool;
    this.dialect = dialect;
    this.wire = wire;
    this.slots = new SendChunk[sends];
    this.inlineBytes = inlineBytes;
  }

  /** The number of bytes in committed frames that have not left. */
  long pendingBytes() {
    return pendingBytes;
  }

  /** The chunk that is being filled, or null. Each other call may change it. */
  SendChunk filling() {
    return filling;
  }

  /** Messages posted so far. */
  long messages() {
    return messages;
  }

  /** The number of requests that are known to have ended. */
  long ended() {
    return ended;
  }

  /**
   * True when the peer's device has not yet acknowledged a request whose completion will be
   * reported.
   */
  boolean isUnacknowledged() {
    return ended < expected;
  }

  /** Makes room after the committed frames, in another chunk if necessary. */
  SendChunk room(int bytes) throws IOException {
    if (filling == null || SendChunk.CAPACITY - filling.written < bytes) {
      nextChunk();
    }
    return filling;
  }

  /** Takes an empty chunk. */
  SendChunk nextChunk() throws IOException {
    SendChunk next = pool.acquire();
    if (filling != null) {
      SendChunk old = filling;
      filling = null;
      if (old.isDone()) {
        pool.release(old);
      } else if (old.sent < old.written) {
        full.addLast(old);
      }
      // Otherwise its last message gives it back.
    }
    filling = next;
    return next;
  }

  /**
   * Notes that the bytes of the present chunk up to here are whole frames. A smaller number has no
   * effect.
   *
   * @param restsOnChanges whether some of the new ones do
   */
  void written(int upTo, boolean restsOnChanges) {
    rests |= restsOnChanges;
    if (upTo > filling.written) {
      pendingBytes += upTo - filling.written;
      writtenBytes += upTo - filling.written;
      filling.written = upTo;
    }
  }

  /** Sends the messages that may leave, and a message without content if credits are owed. */
  void flush() {
    int added = 0;
    boolean inMemory = false;
    SendChunk chunk = first();
    long may = chunk == null ? 0 : pendingBytes - waitingBytes();
    while (chunk != null && may > 0 && dialect.room() > 0 && isRoom(added)) {
      int end = (int) Math.min(chunk.written, chunk.sent + may);
      int taken = dialect.cut(chunk.view(), chunk.sent, end);
      may -= taken;
      inMemory |= !add(added++, chunk, chunk.sent, dialect.contentLength());
      chunk.sent += taken;
      pendingBytes -= taken;
      if (chunk != filling && chunk.sent == chunk.written) {
        full.removeFirst();
        if (chunk.references == 0) {
          pool.release(chunk);
        }
      }
      chunk = first();
    }
    if (dialect.owes() && isRoom(added)) {
      add(added++, null, 0, 0);
    }
    if (added > 0) {
      post(added, inMemory);
    }
    releaseDone();
  }

  /** True while frames wait for a commit, and for nothing that the peer does. */
  boolean awaitsCommit() {
    return awaitedBytes > committedBytes && !commits.isReached(awaitedCommit);
  }

  /** How many of the last bytes wait for a commit. */
  private long waitingBytes() {
    if (rests) {
      // Also while others wait, so that it is committed while those are, rather than after them.
      rests = false;
      nextCommit = commits.position();
    }
    if (awaitedBytes > committedBytes) {
      if (!commits.isReached(awaitedCommit)) {
        return writtenBytes - committedBytes;
      }
      committedBytes = awaitedBytes;
    }
    if (writtenBytes > committedBytes) {
      awaitedCommit = nextCommit;
      awaitedBytes = writtenBytes;
      if (commits.isReached(awaitedCommit)) {
        committedBytes = writtenBytes;
      } else {
        commits.await(awaitedCommit, committed);
      }
    }
    return writtenBytes - committedBytes;
  }

  /** Asks the peer's device for an acknowledgement, unless one is already awaited. */
  void probe() {
    if (!isUnacknowledged() && isRoom(0)) {
      int slot = (int) (posted++ % slots.length);
      unsignalled = 0;
      expected = posted;
      wire.probe(slot);
    }
  }

  private SendChunk first() {
    if (closed) {
      return null;
    }
    SendChunk oldest = full.peekFirst();
    if (oldest != null) {
      return oldest;
    }
    return filling != null && filling.sent < filling.written ? filling : null;
  }

  private boolean isRoom(int added) {
    return !closed && posted + added - ended < slots.length;
  }

  /** Adds a message. Returns true when it goes inline. */
  private boolean add(int index, SendChunk chunk, int from, int length) {
    int slot = (int) ((posted + index) % slots.length);
    boolean inline = Dialect.HEADER_LENGTH + length <= inlineBytes;
    if (chunk != null && !inline) {
      chunk.references++;
      slots[slot] = chunk;
    }
    wire.add(slot, dialect.send(), chunk, from, length, inline);
    return inline;
  }

  private void post(int added, boolean inMemory) {
    posted += added;
    messages += added;
    unsignalled += added;
    boolean signalled = inMemory || unsignalled >= slots.length / 2;
    if (signalled) {
      unsignalled = 0;
      expected = posted;
    }
    wire.post(signalled);
  }

  /** Notes that a send request and all before it have ended. */
  void ended(int slot) {
    long count = Math.floorMod(slot - ended, slots.length) + 1L;
    for (; count > 0 && ended < posted; count--) {
      int at = (int) (ended++ % slots.length);
      SendChunk chunk = slots[at];
      slots[at] = null;
      if (chunk != null
          && --chunk.references == 0
          && chunk != filling
          && chunk.sent == chunk.written) {
        pool.release(chunk);
      }
    }
    releaseDone();
  }

  /** Releases a chunk without work, so that an idle connection has none. */
  private void releaseDone() {
    if (filling != null && filling.isDone()) {
      SendChunk done = filling;
      filling = null;
      pool.release(done);
    }
  }

  /** Gives all memory back. The device must not read it any more. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (SendChunk chunk : slots) {
      if (chunk != null
          && --chunk.references == 0
          && chunk != filling
          && chunk.sent == chunk.written) {
        pool.release(chunk);
      }
    }
    Arrays.fill(slots, null);
    while (!full.isEmpty()) {
      pool.release(full.pollFirst());
    }
    if (filling != null) {
      pool.release(filling);
      filling = null;
    }
    pendingBytes = 0;
  }
}
