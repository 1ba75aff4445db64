/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.rpc.CommitQueue;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.Service;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaDevices;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.rpc.rdma.RdmaQueues;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread of a server, with its completion queues and the connections that it serves. No other
 * thread ever touches these. The methods say which threads may call them.
 */
public final class PollingThread implements Executor, ServerMessenger.Owner {
  /** The server that a thread belongs to. Thread-safe. */
  interface Owner {
    DarpcSettings settings();

    Service service();

    Clock clock();

    /** Logs that a connection was closed, and why. */
    void dropped(String peer, String why);

    /** Logs a bug of the service. */
    void failed(String peer, Throwable cause);
  }

  private static final Logger LOG = LoggerFactory.getLogger(PollingThread.class);
  private static final long MAX_SWEEP_NANOS = 1_000_000_000;

  /**
   * Polls between two readings of the clock. After each reading the thread yields the processor.
   */
  private static final int POLLS = 32;

  private final Owner server;
  private final DarpcSettings settings;
  private final int processor;
  private final Clock clock;
  private final ConnectionScheduler turns;
  private final HeldAnswers answers;
  private final CommitQueue commits;
  private final Workspace workspace;
  private final RdmaQueues queues;
  private final ArrayList<ServerMessenger> messengers = new ArrayList<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger load = new AtomicInteger();
  private final Thread thread;
  private final long sweepNanos;
  private final Object wakeupLock = new Object();
  private final int wakeup;
  private boolean wakeupDestroyed;
  private volatile boolean sleeping;
  private volatile boolean closing;

  /**
   * Creates a thread that {@link #start} starts.
   *
   * @param processor the processor on which it runs, -1 for any
   * @param mostHeldBytes the most bytes of answers that its connections hold back
   */
  PollingThread(Owner server, String name, RdmaDevices devices, int processor, long mostHeldBytes)
      throws VerbsException {
    this.server = server;
    this.settings = server.settings();
    this.processor = processor;
    this.clock = server.clock();
    this.turns = new ConnectionScheduler(clock);
    this.answers = new HeldAnswers(clock, this, mostHeldBytes);
    this.commits = new CommitQueue(server.service().gate(), this);
    this.workspace = new Workspace(settings);
    this.queues =
        new RdmaQueues(devices, settings.completions(), settings.pollSize(), descriptor -> {});
    long shortest =
        Math.min(
            settings.handshakeTimeoutNanos(),
            Math.min(settings.stallTimeoutNanos(), settings.keepAliveNanos()));
    this.sweepNanos = Math.min(MAX_SWEEP_NANOS, shortest / 4);
    this.wakeup = Verbs.createWakeup();
    this.thread = Threads.daemon(name, this::run);
  }

  public void start() {
    thread.start();
  }

  @Override
  public Service service() {
    return server.service();
  }

  @Override
  public Clock clock() {
    return clock;
  }

  @Override
  public void dropped(String peer, String why) {
    server.dropped(peer, why);
  }

  @Override
  public void failed(String peer, Throwable cause) {
    server.failed(peer, cause);
  }

  // For any thread.

  /** The number of connections that it has or is about to get. */
  AtomicInteger load() {
    return load;
  }

  /** Runs a task in the thread. When the thread has ended, the task does not run. */
  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    if (sleeping) {
      wake();
    }
  }

  private void wake() {
    // Never after the wake-up was destroyed, since its number may then be another file's
    // descriptor.
    synchronized (wakeupLock) {
      if (!wakeupDestroyed) {
        Verbs.wake(wakeup);
      }
    }
  }

  /** Begins to close all connections and to end the thread. */
  void close() {
    closing = true;
    if (thread.getState() == Thread.State.NEW) {
      destroyWakeup();
    } else {
      wake();
    }
  }

  /** The thread. */
  Thread thread() {
    return thread;
  }

  /** Accepts a peer that was counted in {@link #load}. */
  void accept(RdmaListener.Request request, Greeting greeting) {
    execute(() -> acceptNow(request, greeting));
  }

  /** Closes its resources of a removed device, then runs {@code done}. */
  void release(RdmaDevice device, Runnable done) {
    execute(
        () -> {
          queues.release(device, "device " + device + " was removed");
          workspace.release(device);
          done.run();
        });
  }

  // In the thread.

  /** The turns of the connections. Each poll is a turn. */
  @Override
  public ConnectionScheduler turns() {
    return turns;
  }

  @Override
  public HeldAnswers answers() {
    return answers;
  }

  @Override
  public CommitQueue commits() {
    return commits;
  }

  private void acceptNow(RdmaListener.Request request, Greeting greeting) {
    if (closing) {
      request.reject(null);
      return;
    }
    InetSocketAddress address = request.peer();
    String peer = Addresses.text(address.getAddress().getHostAddress(), address.getPort());
    boolean[] added = new boolean[1];
    try {
      request.accept(
          queues,
          settings.queues(),
          pair -> {
            ServerMessenger messenger = newMessenger(pair, greeting, peer);
            added[0] = true;
            return messenger;
          },
          greeting == null ? null : settings.greeting().encode(),
          this);
    } catch (IOException | UncheckedIOException e) {
      server.dropped(peer, e.getMessage());
    }
    if (!added[0]) {
      load.decrementAndGet();
    }
  }

  private ServerMessenger newMessenger(QueuePair pair, Greeting greeting, String peer) {
    try {
      ServerMessenger messenger =
          new ServerMessenger(
              this,
              new MessagePort.OfQueuePair(pair, workspace),
              workspace.pool(pair.device()),
              settings,
              greeting,
              peer);
      messenger.index = messengers.size();
      messengers.add(messenger);
      turns.join(messenger.turn());
      return messenger;
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  @Override
  public void remove(ServerMessenger messenger) {
    ServerMessenger last = messengers.remove(messengers.size() - 1);
    if (last != messenger) {
      messengers.set(messenger.index, last);
      last.index = messenger.index;
    }
    load.decrementAndGet();
  }

  private void run() {
    try {
      bind();
      long now = clock.nanoTime();
      long workedNanos = now;
      long nextSweepNanos = now + sweepNanos;
      long restedNanos = now;
      int polls = settings.rdma().spinNanos() > 0 ? POLLS : 1;
      while (!closing) {
        boolean worked = false;
        // No pause in between, since a poll is as short as a pause.
        for (int i = 0; i < polls && !worked; i++) {
          worked = poll();
        }
        now = clock.nanoTime();
        boolean isWaiting = turns.isAnyWaiting();
        if (isWaiting && now - restedNanos >= 0) {
          long restNanos = serveSlice();
          worked = true;
          now = clock.nanoTime();
          restedNanos = now + restNanos;
        }
        if (now - nextSweepNanos >= 0) {
          nextSweepNanos = now + sweepNanos;
          sweep(now);
        }
        if (worked) {
          workedNanos = now;
        } else if (now - workedNanos < settings.rdma().spinNanos()) {
          Verbs.yieldProcessor();
        } else {
          long untilNanos = isWaiting ? restedNanos : nextSweepNanos;
          sleep((untilNanos - now) / 1_000_000 + 1);
        }
      }
    } finally {
      runTasks();
      queues.close();
      workspace.close();
      destroyWakeup();
    }
  }

  private void bind() {
    if (processor < 0) {
      return;
    }
    int result = Verbs.setAffinity(maskOf(processor));
    if (result < 0) {
      LOG.warn(
          "{} runs on any processor, not on {}: {}",
          thread.getName(),
          processor,
          Verbs.errorText(result));
    }
  }

  /** A processor as one bit in 64-bit words. */
  static long[] maskOf(int processor) {
    long[] mask = new long[processor / Long.SIZE + 1];
    mask[processor / Long.SIZE] = 1L << processor;
    return mask;
  }

  private boolean poll() {
    turns.begin();
    try {
      return runTasks() | queues.poll() > 0;
    } catch (RuntimeException | Error e) {
      LOG.error("{}: a poll failed", thread.getName(), e);
      return true;
    }
  }

  private long serveSlice() {
    try {
      return turns.serveSlice();
    } catch (RuntimeException | Error e) {
      LOG.error("{}: a slice failed", thread.getName(), e);
      return 0;
    }
  }

  private boolean runTasks() {
    boolean any = false;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      any = true;
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.error("{}: a task failed", thread.getName(), e);
      }
    }
    return any;
  }

  private void sweep(long now) {
    answers.sweep(now);
    for (int i = messengers.size() - 1; i >= 0; i--) {
      try {
        messengers.get(i).sweep(now);
      } catch (RuntimeException | Error e) {
        LOG.error("{}: a sweep failed", thread.getName(), e);
      }
    }
  }

  private void sleep(long millis) {
    // Set before the last look, so that a thread that adds a task after it wakes this one.
    sleeping = true;
    try {
      if (queues.arm() && tasks.isEmpty() && !closing) {
        queues.await(wakeup, (int) millis);
      }
    } catch (RuntimeException | Error e) {
      LOG.error("{}: a poll failed", thread.getName(), e);
    } finally {
      sleeping = false;
    }
  }

  private void destroyWakeup() {
    synchronized (wakeupLock) {
      if (!wakeupDestroyed) {
        wakeupDestroyed = true;
        Verbs.destroyWakeup(wakeup);
      }
    }
  }
}
