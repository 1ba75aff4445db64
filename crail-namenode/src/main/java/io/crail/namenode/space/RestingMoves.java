/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Clock;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.NodeSpace.Allocation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The extents whose bytes were moved elsewhere. They keep their bytes until no reader may come any
 * more, and the datanode of the copy has shown that it was alive after the move. If it gives reason
 * for doubt before that, the node gets its former extent back. Thread-safe.
 */
public final class RestingMoves {
  /** The most moves that rest. The heap budget counts one like an extent in the quarantine. */
  static final int MOST = 1 << 18;

  private static final Logger LOG = LoggerFactory.getLogger(RestingMoves.class);
  private static final int MOST_PER_TICK = 4096;

  /** A move that can be undone. */
  public abstract static class Move {
    private final Allocation from;
    private final Allocation to;
    private long readyNanos;
    private long answer;

    /**
     * Creates a move.
     *
     * @param from the former extent, which holds the same bytes
     * @param to the extent of the copy
     */
    protected Move(Allocation from, Allocation to) {
      this.from = from;
      this.to = to;
    }

    /** The former extent. */
    public final Allocation from() {
      return from;
    }

    /** The extent of the copy. */
    public final Allocation to() {
      return to;
    }

    /** How a move can be undone. */
    public enum Undone {
      /** The node has its former extent again. */
      DONE,
      /** The node does not need it, or it no longer holds all of the bytes. */
      NEEDLESS,
      /** A writer is at work. */
      NOT_NOW
    }

    /** Gives the node its former extent again. */
    protected abstract Undone undo();
  }

  private final NameNodeOptions options;
  private final Clock clock;
  private final Allocator allocator;
  // In the order of the moves.
  private final Map<DatanodeSpace, ArrayDeque<Move>> byTarget = new HashMap<>();
  private int count;

  /** Creates an empty list; {@code allocator} takes back what rests no longer. */
  public RestingMoves(NameNodeOptions options, Clock clock, Allocator allocator) {
    this.options = options;
    this.clock = clock;
    this.allocator = allocator;
  }

  /** True when no more moves may be begun for now. */
  public synchronized boolean isFull() {
    return count >= MOST;
  }

  /** The number of extents that rest. */
  synchronized long extents() {
    return count;
  }

  /** Takes the former extent of a node, whose bytes are where the move says from now on. */
  void add(Move move) {
    DatanodeSpace datanode = move.from.datanode();
    if (datanode.state() == DatanodeSpace.State.DEAD) {
      move.from.free();
      return;
    }
    datanode.countAsWaiting(move.from.allocatedLength());
    // Readers may use the former location for a lease from now on.
    move.readyNanos = allocator.restedNanos(move.from, clock.nanoTime() + options.leaseNanos());
    move.answer = move.to.datanode().signs().answers();
    put(move);
  }

  private synchronized void put(Move move) {
    byTarget.computeIfAbsent(move.to.datanode(), to -> new ArrayDeque<>()).add(move);
    count++;
  }

  /** Frees former extents whose time has come, and undoes moves to datanodes that are in doubt. */
  public void tick() {
    long now = clock.nanoTime();
    for (Move move : due(now)) {
      try {
        settle(move, now);
      } catch (RuntimeException | AssertionError e) {
        // The others must not be forgotten for it.
        LOG.error("cannot end the move of an extent from {}", move.from.datanode(), e);
      }
    }
  }

  private void settle(Move move, long now) {
    DatanodeSpace source = move.from.datanode();
    Move.Undone undone = Move.Undone.NEEDLESS;
    if (!isSettled(move, now) && !source.isGone()) {
      undone = mayGoBack(move, now) ? move.undo() : Move.Undone.NOT_NOW;
    }
    switch (undone) {
      case DONE -> source.takeBack(move.from.allocatedLength());
      case NEEDLESS -> allocator.quarantine().add(move.from, move.readyNanos, null, false, false);
      default -> put(move);
    }
  }

  /** Removes the moves for which there may be something to do. */
  private synchronized List<Move> due(long now) {
    List<Move> due = new ArrayList<>();
    Iterator<Map.Entry<DatanodeSpace, ArrayDeque<Move>>> entries = byTarget.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<DatanodeSpace, ArrayDeque<Move>> entry = entries.next();
      boolean well = entry.getKey().isWell(now, options.presentNanos());
      ArrayDeque<Move> moves = entry.getValue();
      for (int looked = 0; looked < MOST_PER_TICK && !moves.isEmpty(); looked++) {
        if (well && !isSettled(moves.peek(), now)) {
          break;
        }
        due.add(moves.poll());
        count--;
      }
      if (moves.isEmpty()) {
        entries.remove();
      }
    }
    return due;
  }

  private boolean isSettled(Move move, long now) {
    DatanodeSpace target = move.to.datanode();
    return now - move.readyNanos >= 0
        && target.signs().hasHeardMoreThan(move.answer)
        && target.isWell(now, options.presentNanos());
  }

  /** If both places are in doubt, one that is not lost is better than one that is. */
  private boolean mayGoBack(Move move, long now) {
    return move.from.datanode().isWell(now, options.presentNanos()) || move.to.datanode().isGone();
  }

  /** Visits the extents that rest. */
  synchronized void forEach(Consumer<Allocation> visitor) {
    byTarget.values().forEach(moves -> moves.forEach(move -> visitor.accept(move.from)));
  }

  /** Notes the extents that rest; for tests. */
  synchronized void audit(SpaceAudit audit) {
    forEach(extent -> extent.audit(audit, "a move"));
  }

  /** Bytes that wait at a datanode; for tests. */
  synchronized long bytesOf(DatanodeSpace datanode) {
    return byTarget.values().stream()
        .flatMap(ArrayDeque::stream)
        .filter(move -> move.from.datanode() == datanode)
        .mapToLong(move -> move.from.allocatedLength())
        .sum();
  }
}
