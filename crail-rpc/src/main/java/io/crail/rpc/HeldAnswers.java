/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Clock;
import io.crail.rpc.reply.Reply;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The answers that the connections of one serving thread hold back. Other threads release them. The
 * serving thread writes the answers of a connection when that connection has its turn. One limit
 * covers the memory of all connections together. The less memory is left, the less a single
 * connection may hold, but each may hold at least one answer. A connection that holds as much as it
 * may is not served again until some of its answers have left.
 *
 * <p>An answer that is remembered is also held after the end of its connection, until it is
 * released or its time is over. Then it is written only to be remembered.
 *
 * <p>Used only by the serving thread, except for the statistics and {@link HeldAnswer#release}.
 */
public final class HeldAnswers {
  /** The name of a server's figure: the number of answers that it holds. */
  public static final String COUNT = "held-answers";

  /** The name of a server's figure: the bytes that these answers count for. */
  public static final String BYTES = "held-answer-bytes";

  /** The bytes that an answer counts for in addition to its own. */
  static final int OVERHEAD_BYTES = 256;

  /**
   * A connection may hold this fraction, 1/SHARE, of the memory that the other connections leave.
   */
  private static final int SHARE = 4;

  /** Released answers that one task hands to their connections: about 50 us of work. */
  private static final int TASK_ANSWERS = 1024;

  private static final int HEAP_SHARE = 16;
  private static final long LEAST_BYTES = 1 << 20;

  /** Enough for 65,536 of the smallest answers, which one sweep can check. */
  private static final long MOST_BYTES = 16 << 20;

  private final Clock clock;
  private final Executor thread;
  private final long mostBytes;
  private final Queue<HeldAnswer> released = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean isTaskQueued = new AtomicBoolean();
  private final ArrayList<OfConnection> holders = new ArrayList<>();
  private final Recorder recorder = new Recorder();
  private long earliestNanos;
  private volatile int count;
  private volatile long bytes;

  /**
   * Creates a table that holds nothing.
   *
   * @param thread runs tasks in the serving thread
   * @param mostBytes the most bytes that are held, except that each connection may hold one answer
   */
  public HeldAnswers(Clock clock, Executor thread, long mostBytes) {
    this.clock = clock;
    this.thread = thread;
    this.mostBytes = mostBytes;
  }

  /** The bytes that each of a server's threads may hold: a sixteenth of the heap together. */
  public static long mostBytes(int threads) {
    long part = Runtime.getRuntime().maxMemory() / HEAP_SHARE / threads;
    return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, part));
  }

  // For any thread.

  /** The number of answers that are held, or were released and are not written yet. */
  public int count() {
    return count;
  }

  /** The memory that these answers count for, in bytes. */
  public long bytes() {
    return bytes;
  }

  /**
   * Adds what the threads of a server hold to its statistics: {@link #COUNT} and {@link #BYTES}.
   */
  public static void addStatistics(Map<String, Long> statistics, Collection<HeldAnswers> threads) {
    statistics.put(COUNT, threads.stream().mapToLong(HeldAnswers::count).sum());
    statistics.put(BYTES, threads.stream().mapToLong(HeldAnswers::bytes).sum());
  }

  /** Queues an answer that was released while a connection held it. */
  private void queue(HeldAnswer answer) {
    released.add(answer);
    queueTask();
  }

  private void queueTask() {
    if (isTaskQueued.compareAndSet(false, true)) {
      boolean queued = false;
      try {
        thread.execute(this::takeReleased);
        queued = true;
      } catch (RejectedExecutionException e) {
        // The thread has ended, and its connections before it.
      } finally {
        if (!queued) {
          // Without memory for the task, for example. The next sweep hands the answers on.
          isTaskQueued.set(false);
        }
      }
    }
  }

  // In the serving thread.

  /**
   * Hands released answers to their connections. If there are many, the rest follow in another
   * task, so that the thread can do its other work in between.
   */
  private void takeReleased() {
    isTaskQueued.set(false);
    try {
      for (int i = 0; i < TASK_ANSWERS; i++) {
        HeldAnswer answer = released.poll();
        if (answer == null) {
          return;
        }
        answer.holder().mayLeave(answer);
      }
    } finally {
      // Also after a bug of one connection, so that the answers of the other connections leave.
      if (!released.isEmpty()) {
        queueTask();
      }
    }
  }

  /**
   * Ends the answers whose time is over. The caller calls this now and then; deadlines are no finer
   * than that.
   */
  public void sweep(long nowNanos) {
    if (!released.isEmpty() && !isTaskQueued.get()) {
      takeReleased();
    }
    if (holders.isEmpty() || nowNanos - earliestNanos < 0) {
      return;
    }
    earliestNanos = nowNanos + Long.MAX_VALUE / 2;
    for (int i = holders.size() - 1; i >= 0; i--) {
      holders.get(i).sweep(nowNanos);
    }
  }

  private long mostForOne() {
    // The last quarter is for connections that hold nothing yet.
    return (mostBytes - mostBytes / 4 - bytes) / SHARE;
  }

  private void count(int answers, long change) {
    count += answers;
    bytes += change;
  }

  private void heldUntil(long deadlineNanos) {
    if (count == 0 || deadlineNanos - earliestNanos < 0) {
      earliestNanos = deadlineNanos;
    }
  }

  /**
   * Creates the answers of a new connection.
   *
   * @param released called when answers may leave and none could before; then the connection must
   *     get a turn and write them
   */
  public OfConnection of(Runnable released) {
    return new OfConnection(released);
  }

  /** The answers that one connection holds. */
  public final class OfConnection extends HeldAnswer.Holder {
    private final Runnable released;
    private final ArrayList<HeldAnswer> held = new ArrayList<>(0);
    private final ArrayDeque<HeldAnswer> leaving = new ArrayDeque<>(0);
    private long ownBytes;
    private boolean closed;
    private int index;

    private OfConnection(Runnable released) {
      this.released = released;
    }

    @Override
    void released(HeldAnswer answer) {
      queue(answer);
    }

    /**
     * Holds an answer. If it was released already, it is written now.
     *
     * @param reply remembers an answer that is held; null for none
     */
    void hold(long correlationId, HeldAnswer answer, Reply reply, ResponseWriter responses) {
      if (closed && reply == null) {
        answer.end();
      } else if (answer.hold(this, correlationId, clock.nanoTime())) {
        heldUntil(answer.deadlineNanos());
        if (ownBytes == 0) {
          index = holders.size();
          holders.add(this);
        }
        add(1, OVERHEAD_BYTES + answer.bytes());
        answer.index = held.size();
        held.add(answer);
        if (reply != null) {
          answer.rememberIn(reply);
        }
      } else {
        answer.write(responses);
      }
    }

    private void add(int answers, long change) {
      ownBytes += change;
      count(answers, change);
      if (ownBytes == 0) {
        OfConnection last = holders.remove(holders.size() - 1);
        if (last != this) {
          holders.set(index, last);
          last.index = index;
        }
      }
    }

    /** True when it holds as much as it may. */
    public boolean isFull() {
      return ownBytes > 0 && ownBytes >= mostForOne();
    }

    /** True when answers may leave; see {@link #write}. */
    public boolean isAnyLeaving() {
      return !leaving.isEmpty();
    }

    @Override
    void mayLeave(HeldAnswer answer) {
      if (closed && !answer.isRemembered()) {
        return;
      }
      remove(answer);
      if (closed) {
        write(answer, recorder);
        recorder.forget();
        return;
      }
      leaving.addLast(answer);
      if (leaving.size() == 1) {
        released.run();
      }
    }

    private void remove(HeldAnswer answer) {
      HeldAnswer last = held.remove(held.size() - 1);
      if (last != answer) {
        held.set(answer.index, last);
        last.index = answer.index;
      }
    }

    private void sweep(long nowNanos) {
      for (int i = held.size() - 1; i >= 0; i--) {
        HeldAnswer answer = held.get(i);
        if (nowNanos - answer.deadlineNanos() < 0) {
          heldUntil(answer.deadlineNanos());
        } else if (answer.expire()) {
          mayLeave(answer);
        }
      }
    }

    /** Writes the first answer that may leave; there must be one. */
    public void write(ResponseWriter responses) {
      write(leaving.pollFirst(), responses);
    }

    private void write(HeldAnswer answer, ResponseWriter responses) {
      left(answer);
      answer.write(responses);
    }

    private void left(HeldAnswer answer) {
      add(-1, -(OVERHEAD_BYTES + answer.bytes()));
    }

    /**
     * Drops all answers that are not remembered, since the connection is gone. Those that it should
     * hold later are dropped too.
     */
    public void close() {
      closed = true;
      for (int i = held.size() - 1; i >= 0; i--) {
        HeldAnswer answer = held.get(i);
        if (!answer.isRemembered()) {
          remove(answer);
          left(answer);
          answer.end();
        }
      }
      for (HeldAnswer answer = leaving.pollFirst(); answer != null; answer = leaving.pollFirst()) {
        if (answer.isRemembered()) {
          write(answer, recorder);
          recorder.forget();
        } else {
          left(answer);
          answer.end();
        }
      }
    }
  }

  /** Takes an answer that is only remembered. */
  private static final class Recorder extends ResponseWriter {
    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      return ByteBuffer.allocate(needed).order(ByteOrder.LITTLE_ENDIAN);
    }

    void forget() {
      detach();
    }
  }
}
