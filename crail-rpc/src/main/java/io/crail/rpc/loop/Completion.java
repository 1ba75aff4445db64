/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation that ends once, with success or with a {@link CrailException}. The thread that
 * drives its loop completes it. Other threads wait for it with {@link DrivenLoop#await}; a waiting
 * thread drives the loop itself when no other thread does. Thread-safe.
 */
public abstract class Completion {
  private static final Logger LOG = LoggerFactory.getLogger(Completion.class);
  private static final VarHandle STATE;
  private static final VarHandle HOOK;

  private static final int PENDING = 0;
  private static final int SUCCEEDED = 1;
  private static final int FAILED = 2;

  /** The hook of a completion that has ended or is about to end. */
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
   * What the end triggers: nothing, a thread to wake, or a callback. The thread that puts {@link
   * #FIRED} here is the one that ends this, so an end costs a single atomic instruction.
   */
  private volatile Runnable hook;

  private CrailException failure;

  /** True once this has ended, with success or with an error. */
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

  /** Ends this with success. Returns false when it had already ended. */
  protected final boolean succeed() {
    Runnable set = (Runnable) HOOK.getAndSet(this, FIRED);
    return set != FIRED && finish(SUCCEEDED, set);
  }

  /** Ends this with an error. Returns false when it had already ended. */
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
    // The hook was taken before the end is visible, since a thread that sees the end may use this
    // again.
    STATE.setRelease(this, end);
    if (set instanceof Thread thread) {
      LockSupport.unpark(thread);
    }
    try {
      completed();
      if (set != null && !(set instanceof Thread)) {
        set.run();
      }
    } catch (RuntimeException | Error e) {
      // A faulty callback is a bug of its owner. The loop and its other operations continue.
      LOG.error("the callback of {} failed", this, e);
    }
    return true;
  }

  /**
   * Called once, right after the end, by the thread that ended this. It must not block: it may hold
   * the loop. It must not be used if another thread reuses this completion when it sees the end,
   * since the next use may begin before this call.
   */
  protected void completed() {}

  /**
   * Makes this pending again, so that one object can serve many operations in turn. Only for a
   * completion that has ended and to which no other thread refers any more.
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
   * Runs {@code callback} when this ends, or at once when it has ended. The thread that ends this
   * runs it and may hold the loop, so the callback must not block. Several callbacks run in the
   * order in which they were added.
   */
  public final void whenComplete(Runnable callback) {
    Objects.requireNonNull(callback, "callback");
    // A thread as a hook means that it is to be woken, so a callback that is a thread is wrapped.
    if (!add(callback instanceof Thread ? callback::run : callback)) {
      while (!isComplete()) {
        // Another thread is just about to make the end visible.
        Thread.onSpinWait();
      }
      callback.run();
    }
  }

  /** Adds to the hook. Returns false when this is ending or has ended. */
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

  /** Names a thread to wake at the end, unless this has ended. Used by the loop. */
  final void waiter(Thread thread) {
    if (hook != thread && !add(thread)) {
      while (!isComplete()) {
        // As in whenComplete. After this the caller sees the end.
        Thread.yield();
      }
    }
  }
}
