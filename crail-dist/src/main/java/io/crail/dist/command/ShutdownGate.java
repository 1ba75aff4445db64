/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.command;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command's main thread learn of the end of the process, and the end of the process wait for
 * that thread to clean up. Opened before what is to be cleaned up, closed after it.
 */
public final class ShutdownGate implements AutoCloseable {
  private static final long CLEANUP_SECONDS = 15;

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch cleaned = new CountDownLatch(1);
  private final Thread hook;
  private volatile Runnable action = () -> {};

  private ShutdownGate() {
    hook = new Thread(this::end, "crail-shutdown");
  }

  /** Begins to listen for the end of the process. */
  public static ShutdownGate open() {
    ShutdownGate gate = new ShutdownGate();
    Runtime.getRuntime().addShutdownHook(gate.hook);
    return gate;
  }

  /** Sets what brings the main thread to its clean-up when the process is to end. */
  public void onAsked(Runnable newAction) {
    action = newAction;
    if (isAsked()) {
      newAction.run();
    }
  }

  /** True once the process is to end. */
  public boolean isAsked() {
    return asked.getCount() == 0;
  }

  /** Waits until the process is to end. */
  public void await() throws InterruptedException {
    while (!isAsked()) {
      // Ends with the signal only; the interval has no meaning.
      asked.await(1, TimeUnit.HOURS);
    }
  }

  private void end() {
    asked.countDown();
    action.run();
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
        // The process began to end just now; the hook finds everything cleaned up.
      }
    }
  }
}
