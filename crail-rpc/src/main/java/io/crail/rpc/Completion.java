/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that ends once, with success or with a {@link CrailException}. It is completed by
 * whichever thread drives its loop and waited for with {@link ClientLoop#await}, where the waiting
 * thread drives the loop itself when nobody else does. Thread-safe.
 */
public abstract class Completion {
  private static final Logger LOG = LoggerFactory.getLogger(Completion.class);
  private static final VarHandle STATE;
  private static final VarHandle LISTENER;
  private static final VarHandle WAITER;

  private static final int PENDING = 0;
  private static final int COMPLETING = 1;
  private static final int SUCCEEDED = 2;
  private static final int FAILED = 3;

  private static final Runnable FIRED = () -> {};

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Completion.class, "state", int.class);
      LISTENER = lookup.findVarHandle(Completion.class, "listener", Runnable.class);
      WAITER = lookup.findVarHandle(Completion.class, "waiter", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile int state;
  private volatile Thread waiter;
  private volatile Runnable listener;
  private CrailException failure;

  /** True once this ended, in whichever way. */
  public final boolean isComplete() {
    return state >= SUCCEEDED;
  }

  /** True once this ended with an error. */
  public final boolean isFailed() {
    return state == FAILED;
  }

  /** The error, or null while pending and after a success. */
  public final CrailException failure() {
    return state == FAILED ? failure : null;
  }

  /** Ends this with success; false when it had ended before. */
  protected final boolean succeed() {
    return STATE.compareAndSet(this, PENDING, COMPLETING) && finish(SUCCEEDED);
  }

  /** Ends this with an error; false when it had ended before. */
  protected final boolean fail(CrailException cause) {
    Objects.requireNonNull(cause, "cause");
    if (!STATE.compareAndSet(this, PENDING, COMPLETING)) {
      return false;
    }
    failure = cause;
    return finish(FAILED);
  }

  /** Ends this with the exception of {@code code}. */
  protected final boolean fail(ErrorCode code, String detail) {
    return fail(code.exception(detail));
  }

  private boolean finish(int end) {
    // The callback is taken before the end is visible: whoever sees the end may use this again.
    Runnable callback = (Runnable) LISTENER.getAndSet(this, FIRED);
    state = end;
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    try {
      completed();
      if (callback != null) {
        callback.run();
      }
    } catch (RuntimeException | AssertionError e) {
      // A faulty callback is its owner's bug; the loop and its other operations go on.
      LOG.error("the callback of {} failed", this, e);
    }
    return true;
  }

  /**
   * Called once, right after the end, by the thread that ended this. It must not block: it may hold
   * the loop. Not for a completion that is used again by whoever sees its end: the next use may
   * begin before this is called.
   */
  protected void completed() {}

  /**
   * Makes this pending again, so that one object can serve many operations in turn. Only for a
   * completion that has ended and that nobody else still refers to.
   */
  protected final void reset() {
    if (state == PENDING) {
      return;
    }
    failure = null;
    waiter = null;
    listener = null;
    state = PENDING;
  }

  /**
   * Runs {@code callback} at the end of this, at once when it has ended: in the thread that ends
   * it, which may hold the loop, so the callback must not block. Several run in their order.
   */
  public final void whenComplete(Runnable callback) {
    Objects.requireNonNull(callback, "callback");
    while (true) {
      Runnable present = listener;
      if (present == FIRED) {
        while (!isComplete()) {
          // Another thread is between two instructions of finish().
          Thread.onSpinWait();
        }
        callback.run();
        return;
      }
      if (LISTENER.compareAndSet(this, present, both(present, callback))) {
        return;
      }
    }
  }

  private static Runnable both(Runnable first, Runnable second) {
    return first == null
        ? second
        : () -> {
          try {
            first.run();
          } finally {
            second.run();
          }
        };
  }

  /** Names a thread to wake at the end; used by the loop. */
  final void waiter(Thread thread) {
    if (!WAITER.compareAndSet(this, null, thread) && waiter != thread) {
      // More than one thread waits for the same end, which is rare.
      whenComplete(() -> LockSupport.unpark(thread));
    }
  }
}
