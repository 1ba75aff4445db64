/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The connections of one serving thread whose answers wait for a {@link CommitGate}. However many
 * they are, the gate knows one of them. Used only by the serving thread.
 */
public final class CommitQueue {
  /** What a thread uses whose answers wait for nothing, such as a client's. */
  public static final CommitQueue NONE = new CommitQueue(CommitGate.OPEN, Runnable::run);

  /** Nothing has to be waited for. */
  public static final long NOTHING = -1;

  private record Waiting(long position, Runnable action) {}

  private final CommitGate gate;
  private final Executor thread;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>(0);
  private boolean isAwaited;

  /**
   * Creates an empty queue.
   *
   * @param thread runs tasks in the serving thread
   */
  public CommitQueue(CommitGate gate, Executor thread) {
    this.gate = gate;
    this.thread = thread;
  }

  /** What answers that are complete now wait for; {@link #NOTHING} if they may leave at once. */
  public long position() {
    long position = gate.position();
    return position <= gate.reached() ? NOTHING : position;
  }

  /** Whether answers that rest on no change wait too. */
  public boolean isForAll() {
    return gate.isForAll();
  }

  /** True if the answers that wait for a position may leave. */
  public boolean isReached(long position) {
    return position <= gate.reached();
  }

  /** True if the answers that wait will never leave. */
  public boolean hasFailed() {
    return gate.hasFailed();
  }

  /**
   * Runs an action once in the serving thread, as soon as a position is reached, or the gate has
   * failed. No action runs before those that were added before it. If the thread has ended, the
   * action does not run.
   */
  public void await(long position, Runnable action) {
    waiting.addLast(new Waiting(position, action));
    awaitFirst();
  }

  private void awaitFirst() {
    if (isAwaited || waiting.isEmpty()) {
      return;
    }
    isAwaited = true;
    gate.whenReached(
        waiting.peekFirst().position(),
        () -> {
          try {
            thread.execute(this::letPass);
          } catch (RejectedExecutionException e) {
            // The thread has ended, and its connections before it.
          }
        });
  }

  private void letPass() {
    try {
      while (!waiting.isEmpty() && mayPass(waiting.peekFirst().position())) {
        waiting.pollFirst().action().run();
      }
    } finally {
      isAwaited = false;
      awaitFirst();
    }
  }

  private boolean mayPass(long position) {
    return gate.hasFailed() || isReached(position);
  }
}
