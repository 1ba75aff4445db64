/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signals to a command's main thread that the process is about to end, and makes the end of the
 * process wait until that thread has cleaned up. Open it before the resources to be cleaned up, and
 * close it after them.
 */
public final class ShutdownGate implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShutdownGate.class);
  private static final long CLEANUP_SECONDS = 15;

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch cleaned = new CountDownLatch(1);
  private final Thread hook;
  private volatile Runnable action = () -> {};

  private ShutdownGate() {
    hook = new Thread(this::end, "crail-shutdown");
  }

  /** Opens the gate: begins to listen for the end of the process. */
  public static ShutdownGate open() {
    ShutdownGate gate = new ShutdownGate();
    Runtime.getRuntime().addShutdownHook(gate.hook);
    return gate;
  }

  /** Sets the action that makes the main thread clean up when the process is asked to end. */
  public void onAsked(Runnable newAction) {
    action = newAction;
    if (isAsked()) {
      newAction.run();
    }
  }

  /** True once the process was asked to end. */
  public boolean isAsked() {
    return asked.getCount() == 0;
  }

  /** Waits until the process is asked to end. */
  public void await() throws InterruptedException {
    while (!isAsked()) {
      // Only the signal ends this loop; the interval has no meaning.
      asked.await(1, TimeUnit.HOURS);
    }
  }

  private void end() {
    asked.countDown();
    try {
      action.run();
    } catch (RuntimeException | Error e) {
      // A hook that died would end the process, which would wait for the hook.
      LOG.error("cannot clean up", e);
      return;
    }
    try {
      cleaned.await(CLEANUP_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    cleaned.countDown();
    if (!isAsked()) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The process has just begun to end. The hook finds everything cleaned up.
      }
    }
  }
}
