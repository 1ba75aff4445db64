/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.client.call.ExtentMove;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.node.BeginMove;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/** Moves extents, several at a time and not faster than asked. Used by one thread. */
final class ExtentMover {
  private static final int MOST_AT_ONCE = 8;
  private static final long MOST_BYTES_AT_ONCE = 64L << 20;
  private static final long TURN_NANOS = 50_000_000;
  private static final int MOST_NAMED = 5;
  private static final int MOST_REMEMBERED = 100_000;

  /** A move in progress. */
  private record Running(
      ExtentMove move, ListExtents.Placed placed, ByteBuffer memory, LongConsumer moved) {}

  private final LoopContext connections;
  private final long transferNanos;
  private final long bytesPerSecond;
  private final Runnable heartbeat;
  private final ArrayDeque<Running> running = new ArrayDeque<>();
  private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
  private int blockBytes;
  private long nextNanos = System.nanoTime();

  private long extents;
  private long bytes;

  /** What keeps nodes where they are, by node. Since the last {@link #forgetRefusals}. */
  private final Map<Long, String> written = new LinkedHashMap<>();

  private String withoutSpace = "";

  /** The least length for which there was no space in this part. */
  private int lengthWithoutSpace = Integer.MAX_VALUE;

  /** Nodes with an extent that could not be moved. Their other extents are not tried. */
  private final Set<Long> failed = new HashSet<>();

  private String failure = "";
  private int failuresInRow;
  private boolean targetSilent;
  private CrailException unsupported;

  /**
   * Creates a mover.
   *
   * @param transferNanos how long a read or a write of an extent may take
   * @param bytesPerSecond the bandwidth; 0 for all there is
   * @param heartbeat called now and then while this waits
   */
  ExtentMover(
      LoopContext connections, long transferNanos, long bytesPerSecond, Runnable heartbeat) {
    this.connections = connections;
    this.transferNanos = transferNanos;
    this.bytesPerSecond = bytesPerSecond;
    this.heartbeat = heartbeat;
  }

  /**
   * Moves an extent as soon as there is room for one more; it may be refused.
   *
   * @param datanode where to, or {@link BeginMove#ANY_DATANODE}
   * @param moved called if it has moved, with the length of the extent
   * @return false when it is known that its node is written or cannot be moved, or that there is no
   *     space, so that nothing was tried
   */
  boolean move(ListExtents.Placed placed, int datanode, LongConsumer moved)
      throws InterruptedException {
    int length = placed.length();
    if (written.containsKey(placed.id())
        || failed.contains(placed.id())
        || length >= lengthWithoutSpace) {
      return false;
    }
    awaitTurn(length);
    if (length > blockBytes) {
      finish();
      free.clear();
      blockBytes = length;
    }
    while (running.size() >= mostAtOnce()) {
      endOldest();
    }
    ByteBuffer memory = free.poll();
    if (memory == null) {
      memory = ByteBuffer.allocateDirect(blockBytes);
    }
    BeginMove.Request request =
        new BeginMove.Request(
            placed.id(),
            ThreadLocalRandom.current().nextLong(),
            placed.fileOffset(),
            placed.place(),
            datanode);
    ExtentMove move = new ExtentMove(connections, request, memory, transferNanos);
    running.add(new Running(move, placed, memory, moved));
    move.begin();
    return true;
  }

  private int mostAtOnce() {
    return (int) Math.max(1, Math.min(MOST_AT_ONCE, MOST_BYTES_AT_ONCE / blockBytes));
  }

  /** Waits until the bandwidth allows so many bytes. */
  private void awaitTurn(int length) throws InterruptedException {
    long now = System.nanoTime();
    while (bytesPerSecond > 0 && nextNanos - now > 0) {
      long wait = Math.min(nextNanos - now, TURN_NANOS);
      if (running.isEmpty()) {
        TimeUnit.NANOSECONDS.sleep(wait);
      } else if (connections.loop().await(running.peek().move, now + wait)) {
        endOldest();
      }
      heartbeat.run();
      now = System.nanoTime();
    }
    if (bytesPerSecond > 0) {
      nextNanos = now + (long) (1e9 * length / bytesPerSecond);
    }
  }

  /** Waits until nothing moves. */
  void finish() throws InterruptedException {
    while (!running.isEmpty()) {
      endOldest();
    }
  }

  private void endOldest() throws InterruptedException {
    Running oldest = running.remove();
    ExtentMove move = oldest.move;
    boolean ended = connections.loop().await(move, move.deadlineNanos() + Awaitable.GRACE_NANOS);
    heartbeat.run();
    if (!ended) {
      // Its memory is still in use.
      failed(oldest.placed.id(), move + ": " + ErrorCode.TIMED_OUT.text());
      return;
    }
    free.add(oldest.memory);
    if (!move.isFailed()) {
      failuresInRow = 0;
      extents++;
      bytes += move.result();
      oldest.moved.accept(oldest.placed.length());
    } else {
      refused(oldest.placed, move);
    }
  }

  private void refused(ListExtents.Placed placed, ExtentMove move) {
    long node = placed.id();
    CrailException cause = move.failure();
    // Nothing was copied, so the next one need not wait for that.
    nextNanos = Math.min(nextNanos, System.nanoTime());
    switch (cause.code()) {
      case STALE_NODE, STALE_EXTENT -> {
        // Deleted, or written to in between. What is left is listed again.
      }
      case WRITE_LEASE_HELD -> {
        if (written.size() < MOST_REMEMBERED) {
          written.put(node, cause.detail());
        }
      }
      case NO_SPACE -> {
        withoutSpace = cause.detail();
        lengthWithoutSpace = Math.min(lengthWithoutSpace, placed.length());
      }
      case UNAVAILABLE, WRITE_LEASE_LOST, TIMED_OUT -> {
        targetSilent |= !move.isFailedAtSource();
        failed(node, cause.getMessage());
      }
      case UNSUPPORTED -> {
        unsupported = cause;
        failed(node, cause.getMessage());
      }
      default -> failed(node, cause.getMessage());
    }
  }

  private void failed(long node, String why) {
    failure = why;
    failuresInRow++;
    if (failed.size() < MOST_REMEMBERED) {
      failed.add(node);
    }
  }

  /** Begins with other extents, for which there may be space where there was none. */
  void beginPart() throws InterruptedException {
    finish();
    lengthWithoutSpace = Integer.MAX_VALUE;
    targetSilent = false;
    failuresInRow = 0;
  }

  /** Why this host cannot reach a tier, if that was met. */
  Optional<CrailException> unsupported() {
    return Optional.ofNullable(unsupported);
  }

  /** True when so many moves have failed, one after the other, that the next ones may too. */
  boolean isFailing() {
    return failuresInRow >= MOST_AT_ONCE;
  }

  /** True when a target did not answer, or the namenode gives it nothing; in this part. */
  boolean isTargetSilent() {
    return targetSilent;
  }

  /** The number of extents that were moved. */
  long extents() {
    return extents;
  }

  /** The number of bytes that were moved. */
  long bytes() {
    return bytes;
  }

  /** True when the last refusals include one for want of space. */
  boolean lacksSpace() {
    return !withoutSpace.isEmpty();
  }

  /** What holds moves up, in a few words; empty for nothing. */
  String heldUpBy() {
    StringBuilder text = new StringBuilder();
    if (!written.isEmpty()) {
      boolean all = written.size() <= MOST_NAMED;
      text.append(written.size() == 1 ? "a file is" : written.size() + " files are")
          .append(" being written: ")
          .append(written.values().stream().limit(MOST_NAMED).collect(Collectors.joining(", ")))
          .append(all ? "" : ", ...");
    }
    if (!withoutSpace.isEmpty()) {
      text.append(text.isEmpty() ? "" : "; ").append("no space: ").append(withoutSpace);
    }
    if (!failure.isEmpty()) {
      text.append(text.isEmpty() ? "" : "; ").append(failure);
    }
    return text.toString();
  }

  /** Begins anew to note what holds moves up. */
  void forgetRefusals() {
    written.clear();
    failed.clear();
    withoutSpace = "";
    failure = "";
  }
}
