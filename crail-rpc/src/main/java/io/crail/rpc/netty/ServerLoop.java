/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Clock;
import io.crail.rpc.RequestBatch;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/**
 * What a server keeps with one event loop: its connections, their memory, and whose turn it is.
 *
 * <p>A turn of the loop is one look at all sockets. Within it connections are served as their
 * requests come. When the turn has lasted {@link #SLICE_NANOS}, or {@link #LONG_SLICE_NANOS} and a
 * request that takes long is next, those that have more wait, and each turn serves a slice to some
 * of them: to who has had the least time. So who asks for much waits for the others who do, and who
 * asks for little waits for a slice. This is start-time fair queueing (Goyal, Vin, Cheng, 1996): a
 * slice's tag is where its connection's last one ended, but no less than the tag that is served
 * now, and the least tag is served. A new connection counts as one that has just had a slice, so
 * nobody gains by coming again.
 *
 * <p>After a slice of requests that take long the loop rests from them as long as it has lasted: a
 * thread that never sleeps would get its processor late where there are more of them than
 * processors, and with it everybody would wait.
 *
 * <p>Used only by the loop's thread, but for the figures.
 */
final class ServerLoop implements IoHandler {
  /** How long connections are served before the sockets are looked at again. */
  static final long SLICE_NANOS = 1_000_000;

  /** The same for requests that take long. */
  static final long LONG_SLICE_NANOS = 500_000;

  /** Of each kind of memory one part in so many of what may be held is kept while it is idle. */
  private static final int IDLE_SHARE = 8;

  private final Clock clock;
  private final IoHandler sockets;
  private final BriefPolling polling;
  private final LoopMemory memory;
  private final HeldMemory held;
  private final RequestBatch batch = new RequestBatch();
  private final ArrayList<ServerConnection> connections = new ArrayList<>();

  // How much of the slices each connection has had.
  private final Map<ServerConnection, Turn> turns = new HashMap<>();

  // Connections with requests that wait for their turn.
  private final PriorityQueue<Turn> waiting = new PriorityQueue<>();
  private long servedTag;
  private long arrivals;
  private int unswept;
  private boolean servingQueue;
  private boolean queueScheduled;
  private boolean servedLong;
  private int turn;
  private int begunTurn;
  private long turnBeganNanos;

  /** A connection's place among those that wait. Tags are nanoseconds of service. */
  private static final class Turn implements Comparable<Turn> {
    private final ServerConnection connection;
    private long tag;
    private long arrival;
    private long endTag;

    Turn(ServerConnection connection, long endTag) {
      this.connection = connection;
      this.endTag = endTag;
    }

    @Override
    public int compareTo(Turn other) {
      return tag != other.tag ? Long.compare(tag, other.tag) : Long.compare(arrival, other.arrival);
    }
  }

  /**
   * Creates what belongs to an event loop.
   *
   * @param sockets what drives its sockets
   * @param mostHeld the most bytes that its connections hold for their peers
   */
  ServerLoop(
      Clock clock,
      IoHandler sockets,
      BriefPolling polling,
      ByteBufAllocator memory,
      long mostHeld) {
    this.clock = clock;
    this.sockets = sockets;
    this.polling = polling;
    this.memory = new LoopMemory(memory, mostHeld / IDLE_SHARE);
    this.held = new HeldMemory(mostHeld);
  }

  LoopMemory memory() {
    return memory;
  }

  /** What the connections hold for their peers. */
  HeldMemory held() {
    return held;
  }

  /** The batch of whoever is served now. */
  RequestBatch batch() {
    return batch;
  }

  /** Takes note of the number of requests that came at once. */
  void served(int requests) {
    if (requests >= BriefPolling.MANY) {
      polling.expect();
    }
  }

  void add(ServerConnection connection) {
    connections.add(connection);
    turns.put(connection, new Turn(connection, servedTag + LONG_SLICE_NANOS));
  }

  void remove(ServerConnection connection) {
    connections.remove(connection);
    turns.remove(connection);
  }

  /**
   * Has connections look at their deadlines: some of them, as to end one takes the time of many
   * requests.
   *
   * @return whether more are left for the next turn
   */
  boolean sweep() {
    if (unswept == 0) {
      unswept = connections.size();
    }
    beginSlice();
    long now = turnBeganNanos;
    while (unswept > 0 && now - turnBeganNanos < LONG_SLICE_NANOS) {
      unswept--;
      // Those that were ended on the way made the list shorter.
      if (unswept < connections.size()) {
        connections.get(unswept).sweep(now);
      }
      now = clock.nanoTime();
    }
    return unswept > 0;
  }

  // Turns.

  /** True when this turn has lasted so long that others come first. Reads the clock. */
  boolean isTurnOver() {
    return turnNanos() > SLICE_NANOS;
  }

  /** True when a request that takes long may be served now. Reads the clock. */
  boolean hasTurn() {
    boolean hasTurn = (servingQueue || waiting.isEmpty()) && turnNanos() < LONG_SLICE_NANOS;
    servedLong |= hasTurn;
    return hasTurn;
  }

  private long turnNanos() {
    long now = clock.nanoTime();
    if (turn != begunTurn) {
      begunTurn = turn;
      turnBeganNanos = now;
    }
    return now - turnBeganNanos;
  }

  /** Has a connection served again when it has its turn. */
  void queue(ServerConnection connection, EventExecutor executor) {
    Turn mine = turns.get(connection);
    if (mine == null) {
      // It is gone, and nobody waits for its answers.
      return;
    }
    mine.tag = Math.max(mine.endTag, servedTag);
    mine.arrival = arrivals++;
    waiting.add(mine);
    if (!queueScheduled) {
      schedule(executor, 0);
    }
  }

  /** Serves a slice to the connection whose turn it is. */
  private void serveNext() {
    Turn next = waiting.remove();
    servedTag = next.tag;
    long began = clock.nanoTime();
    next.connection.resume();
    next.endTag = next.tag + clock.nanoTime() - began;
  }

  /** Begins a slice of its own: the sockets may have used up that of the turn. */
  private void beginSlice() {
    begunTurn = turn;
    turnBeganNanos = clock.nanoTime();
  }

  private void schedule(EventExecutor executor, long delayNanos) {
    queueScheduled = true;
    // A task that is executed may run before the sockets are looked at; one that is scheduled not.
    executor.schedule(() -> serveQueue(executor), delayNanos, TimeUnit.NANOSECONDS);
  }

  private void serveQueue(EventExecutor executor) {
    servingQueue = true;
    servedLong = false;
    beginSlice();
    try {
      do {
        serveNext();
      } while (!waiting.isEmpty() && turnNanos() < LONG_SLICE_NANOS);
    } finally {
      servingQueue = false;
      queueScheduled = false;
      if (!waiting.isEmpty()) {
        schedule(executor, servedLong ? turnNanos() : 0);
      }
    }
  }

  // The event loop's sockets; each run of them begins a turn.

  @Override
  public int run(IoHandlerContext context) {
    turn++;
    return sockets.run(context);
  }

  @Override
  public void initialize() {
    sockets.initialize();
  }

  @Override
  public void prepareToDestroy() {
    sockets.prepareToDestroy();
  }

  @Override
  public void destroy() {
    sockets.destroy();
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    return sockets.register(handle);
  }

  @Override
  public void wakeup() {
    sockets.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> type) {
    return sockets.isCompatible(type);
  }
}
