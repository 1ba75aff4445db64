/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Poller;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * SPDK on a client's loop. There is one object for each loop, which polls all of its queues: one
 * native call for each sends what has gathered and collects what has ended. SPDK has no descriptor
 * to wait for, so the driver never sleeps while a request is in flight. What blocks in SPDK, the
 * beginning and the end of controllers, has threads of its own. Used in the loop.
 */
final class SpdkLoop implements Poller {
  /** A queue that the loop polls. */
  interface Polled {
    /** Requests in flight. */
    int inFlight();

    /** Sends and collects; true when something has ended. */
    boolean poll();
  }

  /** Polls between two looks at the queues without requests. Each look costs a system call. */
  private static final int POLLS_PER_LOOK = 1024;

  private static final int HELPERS = 16;
  private static final int MOST_WAITING = 1024;
  private static final long HELPER_IDLE_SECONDS = 10;

  private final ClientLoop loop;
  private final int memory;
  private final boolean noHuge;
  private final List<Polled> queues = new ArrayList<>();
  private final ThreadPoolExecutor beginners = pool("crail-spdk-connect");
  private final ThreadPoolExecutor enders = pool("crail-spdk-close");
  private int underWay;
  private int pollsSinceLook;

  private SpdkLoop(ClientLoop loop, int memory, boolean noHuge) {
    this.loop = loop;
    this.memory = memory;
    this.noHuge = noHuge;
  }

  private static ThreadPoolExecutor pool(String name) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            HELPERS,
            HELPERS,
            HELPER_IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            Threads.factory(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * Returns SPDK for a loop, and attaches it to the loop when this is called first. In the loop.
   *
   * @throws CrailException with UNSUPPORTED and the reason, when the native library is not there
   */
  static SpdkLoop of(ClientLoop loop, Configuration configuration) throws CrailException {
    SpdkLoop known = loop.attached(SpdkLoop.class);
    if (known != null) {
      return known;
    }
    if (!Spdk.problem().isEmpty()) {
      throw ErrorCode.UNSUPPORTED.exception("SPDK: " + Spdk.problem());
    }
    SpdkLoop attached =
        new SpdkLoop(loop, configuration.get(SpdkKeys.MEMORY), configuration.get(SpdkKeys.NO_HUGE));
    loop.attach(attached);
    return attached;
  }

  /**
   * Starts SPDK in this process, unless it was. Blocks. In another thread.
   *
   * @throws CrailException with UNSUPPORTED and the reason, when it does not start here
   */
  void startSpdk() throws CrailException {
    String problem = Spdk.start(memory, noHuge);
    if (problem != null) {
      throw ErrorCode.UNSUPPORTED.exception(
          problem
              + "; see the keys '"
              + SpdkKeys.MEMORY.name()
              + "' and '"
              + SpdkKeys.NO_HUGE.name()
              + "'");
    }
  }

  /** The loop. */
  ClientLoop loop() {
    return loop;
  }

  /** Lets another thread begin a controller; false when too many are waiting for that. */
  boolean begin(Runnable work) {
    return give(beginners, work);
  }

  /**
   * Lets another thread end a controller. Not one of those that begin some: a target that does not
   * answer occupies those.
   */
  void end(Runnable work) {
    if (!give(enders, work)) {
      work.run();
    }
  }

  private static boolean give(ThreadPoolExecutor pool, Runnable work) {
    try {
      pool.execute(work);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      return false;
    }
  }

  /** Polls a queue from now on. */
  void add(Polled queue) {
    queues.add(queue);
  }

  /** Ends {@link #add}. */
  void remove(Polled queue) {
    queues.remove(queue);
  }

  /** Counts requests whose end a poll will find. */
  void begun() {
    underWay++;
  }

  /** Counts their ends. */
  void ended(int count) {
    underWay -= count;
  }

  @Override
  public boolean poll() {
    boolean look = underWay == 0 || ++pollsSinceLook >= POLLS_PER_LOOK;
    if (look) {
      pollsSinceLook = 0;
    }
    boolean progress = false;
    // The handlers of completions may remove queues, or add some at the end.
    for (int i = queues.size() - 1; i >= 0; i--) {
      if (i < queues.size() && (look || queues.get(i).inFlight() > 0)) {
        progress |= queues.get(i).poll();
      }
    }
    return progress;
  }

  @Override
  public boolean isBusy() {
    return underWay > 0;
  }

  @Override
  public long spinNanos() {
    return Long.MAX_VALUE;
  }

  @Override
  public boolean arm() {
    return underWay == 0;
  }

  @Override
  public void destroy() {
    // Those that are at work, and wait, still end controllers.
    beginners.shutdown();
    enders.shutdown();
  }
}
