/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Clock;
import io.crail.rpc.CommitQueue;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.RequestBatch;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.IoHandler;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A server's data for one event loop: its connections, their memory, and their turns. A turn is one
 * look at all sockets.
 *
 * <p>Used only by the loop's thread, except for the statistics.
 */
final class ServerLoop extends LoopSockets {
  /** For each kind of chunk, 1/IDLE_SHARE of the memory that may be held is kept idle. */
  private static final int IDLE_SHARE = 8;

  /** One of its connections. */
  abstract static class Member extends ConnectionScheduler.Member {
    /** Looks at the deadlines. */
    abstract void sweep(long nowNanos);
  }

  private final Clock clock;
  private final BriefPolling polling;
  private final LoopMemory memory;
  private final HeldMemory held;
  private final HeldAnswers answers;
  private final CommitQueue commits;
  private final RequestBatch batch = new RequestBatch();
  private final ArrayList<Member> connections = new ArrayList<>();

  private final ConnectionScheduler turns;
  private int unswept;
  private boolean isSweepQueued;
  private boolean sliceScheduled;

  /**
   * Creates the data for an event loop.
   *
   * @param sockets the handler that drives its sockets
   * @param mostHeld the most bytes that its connections hold for their peers
   * @param answers the answers that its connections hold back
   * @param commits the connections whose answers wait for a commit
   */
  ServerLoop(
      Clock clock,
      IoHandler sockets,
      BriefPolling polling,
      ByteBufAllocator memory,
      long mostHeld,
      HeldAnswers answers,
      CommitQueue commits) {
    super(sockets);
    this.clock = clock;
    this.polling = polling;
    this.memory = new LoopMemory(memory, mostHeld / IDLE_SHARE);
    this.held = new HeldMemory(mostHeld);
    this.answers = answers;
    this.commits = commits;
    this.turns = new ConnectionScheduler(clock);
  }

  LoopMemory memory() {
    return memory;
  }

  /** The memory that the connections hold for their peers. */
  HeldMemory held() {
    return held;
  }

  /** The answers that the connections hold back. */
  HeldAnswers answers() {
    return answers;
  }

  /** The connections whose answers wait for a commit. */
  CommitQueue commits() {
    return commits;
  }

  /** The batch of the connection that is being served. */
  RequestBatch batch() {
    return batch;
  }

  /** Notes how many requests came at once. */
  void served(int requests) {
    if (requests >= BriefPolling.MANY) {
      polling.expect();
    }
  }

  void add(Member connection) {
    connections.add(connection);
    turns.join(connection);
  }

  void remove(Member connection) {
    connections.remove(connection);
  }

  /**
   * Lets some of the connections check their deadlines. Not all at once, since ending one takes as
   * long as many requests.
   *
   * @return whether connections are left for the next turn
   */
  boolean sweep() {
    isSweepQueued = false;
    long began = clock.nanoTime();
    if (unswept == 0) {
      unswept = connections.size();
      answers.sweep(began);
    }
    long now = began;
    while (unswept > 0 && now - began < ConnectionScheduler.SLICE_NANOS) {
      unswept--;
      // Connections that were ended during the sweep have made the list shorter.
      if (unswept < connections.size()) {
        connections.get(unswept).sweep(now);
      }
      now = clock.nanoTime();
    }
    return unswept > 0;
  }

  /** Notes that the rest of the sweep is queued as a task. */
  void sweepQueued() {
    isSweepQueued = true;
  }

  /** True when the rest of a sweep is queued as a task. */
  boolean isSweepQueued() {
    return isSweepQueued;
  }

  /** The turns of the connections. */
  ConnectionScheduler turns() {
    return turns;
  }

  /** Lets a connection be served again when it has its turn. */
  void queue(Member connection, EventExecutor executor) {
    turns.await(connection);
    if (!sliceScheduled) {
      schedule(executor, 0);
    }
  }

  private void schedule(EventExecutor executor, long delayNanos) {
    // An executed task may run before the next look at the sockets. A scheduled task runs after it.
    executor.schedule(() -> serveSlice(executor), delayNanos, TimeUnit.NANOSECONDS);
    sliceScheduled = true;
  }

  private void serveSlice(EventExecutor executor) {
    long restNanos = 0;
    try {
      restNanos = turns.serveSlice();
    } finally {
      sliceScheduled = false;
      if (turns.isAnyWaiting()) {
        schedule(executor, restNanos);
      }
    }
  }

  @Override
  void beginTurn() {
    turns.begin();
  }
}
