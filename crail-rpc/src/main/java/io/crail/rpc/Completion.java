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
  private static final VarHandle HOOK;

  private static final int PENDING = 0;
  private static final int SUCCEEDED = 1;
  private static final int FAILED = 2;

  /** The hook of what has ended, or is about to. */
  private static final Runnable FIRED = () -> {};

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Completion.class, "state", int.class);
      HOOK = lookup.findVarHandle(Completion.class, "hook", Runnable.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile int state;

  /**
   * What the end is to set off: nothing, the one thread to wake, or a callback. Whoever puts {@link
   * #FIRED} here is the one who ends this, so an end costs a single atomic instruction.
   */
  private volatile Runnable hook;

  private CrailException failure;

  /** True once this ended, in whichever way. */
  public final boolean isComplete() {
    return state != PENDING;
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
    Runnable set = (Runnable) HOOK.getAndSet(this, FIRED);
    return set != FIRED && finish(SUCCEEDED, set);
  }

  /** Ends this with an error; false when it had ended before. */
  protected final boolean fail(CrailException cause) {
    Objects.requireNonNull(cause, "cause");
    Runnable set = (Runnable) HOOK.getAndSet(this, FIRED);
    if (set == FIRED) {
      return false;
    }
    failure = cause;
    return finish(FAILED, set);
  }

  /** Ends this with the exception of {@code code}. */
  protected final boolean fail(ErrorCode code, String detail) {
    return fail(code.exception(detail));
  }

  private boolean finish(int end, Runnable set) {
    // What is set off was taken before the end is visible: whoever sees it may use this again.
    STATE.setRelease(this, end);
    if (set instanceof Thread thread) {
      LockSupport.unpark(thread);
    }
    try {
      completed();
      if (set != null && !(set instanceof Thread)) {
        set.run();
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
    hook = null;
    state = PENDING;
  }

  /**
   * Runs {@code callback} at the end of this, at once when it has ended: in the thread that ends
   * it, which may hold the loop, so the callback must not block. Several run in their order.
   */
  public final void whenComplete(Runnable callback) {
    Objects.requireNonNull(callback, "callback");
    // A thread as the hook means: wake it.
    if (!add(callback instanceof Thread ? callback::run : callback)) {
      while (!isComplete()) {
        // Another thread is between two instructions of ending this.
        Thread.onSpinWait();
      }
      callback.run();
    }
  }

  /** Adds to the hook; false when this ends. */
  private boolean add(Runnable another) {
    while (true) {
      Runnable present = hook;
      if (present == FIRED) {
        return false;
      }
      if (HOOK.compareAndSet(this, present, both(present, another))) {
        return true;
      }
    }
  }

  private static Runnable both(Runnable first, Runnable second) {
    if (first == null) {
      return second;
    }
    Runnable one = callback(first);
    Runnable other = callback(second);
    return () -> {
      try {
        one.run();
      } finally {
        other.run();
      }
    };
  }

  private static Runnable callback(Runnable hook) {
    return hook instanceof Thread thread ? () -> LockSupport.unpark(thread) : hook;
  }

  /** Names a thread to wake at the end, if there is one to come; used by the loop. */
  final void waiter(Thread thread) {
    if (hook != thread && !add(thread)) {
      while (!isComplete()) {
        // As in whenComplete: whoever looks for the end after this finds it.
        Thread.yield();
      }
    }
  }
}
