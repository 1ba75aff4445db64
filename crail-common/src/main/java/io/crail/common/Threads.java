/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.lang.Thread.UncaughtExceptionHandler;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the threads of Crail. They are daemons, and their names begin with {@code crail-}. If one
 * dies of what it has not caught, the process decides if it is a server of Crail. In any other
 * process, which may be a user's program, the death is logged, and what needs the thread fails.
 */
public final class Threads {
  private static final Logger LOG = LoggerFactory.getLogger(Threads.class);

  /**
   * Decides what the death of a thread means for a process of Crail. It takes effect as the default
   * handler of the process. Other default handlers do not see the death of a thread of Crail: they
   * may end a process that needs Crail for one of many things.
   */
  public interface Guard extends UncaughtExceptionHandler {}

  private Threads() {}

  /** Makes a thread that is not started yet. */
  public static Thread daemon(String name, Runnable work) {
    // Inherits no locals of its maker: some threads live as long as the process.
    return watched(new Thread(null, work, name, 0, false));
  }

  /** Makes a factory for a pool, whose threads all have the same name. */
  public static ThreadFactory factory(String name) {
    return work -> daemon(name, work);
  }

  /** Makes a thread of another class, which has its name, one of Crail's threads. */
  public static <T extends Thread> T watched(T thread) {
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(Threads::died);
    return thread;
  }

  /** Reports that the calling thread is about to die, where its runner would hide that. */
  public static void dies(Throwable cause) {
    died(Thread.currentThread(), cause);
  }

  private static void died(Thread thread, Throwable cause) {
    if (Thread.getDefaultUncaughtExceptionHandler() instanceof Guard guard) {
      guard.uncaughtException(thread, cause);
    } else {
      LOG.error("the thread {} has died", thread.getName(), cause);
    }
  }
}
