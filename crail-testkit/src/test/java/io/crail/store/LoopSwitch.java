/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * The one thread of a simulated network, which takes the part of several threads: a store chooses
 * the loop of a thread by its id.
 */
final class LoopSwitch extends Thread {
  private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(300);

  private final Callable<Void> body;
  private long id;
  private Throwable thrown;

  private LoopSwitch(Callable<Void> body) {
    super("simulation");
    this.body = body;
    setDaemon(true);
  }

  /** Runs a simulation. */
  static void run(Callable<Void> simulation) throws Exception {
    LoopSwitch thread = new LoopSwitch(simulation);
    thread.start();
    thread.join(PATIENCE_MILLIS);
    if (thread.isAlive()) {
      AssertionError hangs = new AssertionError("the simulation hangs");
      hangs.setStackTrace(thread.getStackTrace());
      throw hangs;
    }
    if (thread.thrown instanceof Error error) {
      throw error;
    } else if (thread.thrown != null) {
      throw (Exception) thread.thrown;
    }
  }

  /** Goes on as a thread that uses this loop of a store. */
  static void to(int loop) {
    ((LoopSwitch) Thread.currentThread()).id = loop;
  }

  @Override
  public long getId() {
    return id;
  }

  @Override
  public void run() {
    try {
      body.call();
    } catch (Throwable e) {
      thrown = e;
    }
  }
}
