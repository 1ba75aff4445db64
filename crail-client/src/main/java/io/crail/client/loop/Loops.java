/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * The loops of a store. A thread uses the loop that its id selects. Each loop has connections of
 * its own, so threads on different loops share nothing on the path of an operation. A loop is made
 * when it is first used. Thread-safe.
 */
public final class Loops implements AutoCloseable {
  private final AtomicReferenceArray<LoopContext> contexts;
  private final IntFunction<LoopContext> maker;
  private volatile boolean ended;

  /**
   * Creates the first loop, and room for more.
   *
   * @param maker makes the loop of an index
   */
  public Loops(int count, IntFunction<LoopContext> maker) {
    this.contexts = new AtomicReferenceArray<>(count);
    this.maker = maker;
    contexts.set(0, maker.apply(0));
  }

  /** The first loop, which always exists. */
  public LoopContext first() {
    return contexts.get(0);
  }

  /**
   * The loop and the connections that the calling thread uses.
   *
   * @throws CrailException with CLOSED when they would have to be made after the end of the store
   */
  public LoopContext context() throws CrailException {
    int index = (int) (Thread.currentThread().getId() % contexts.length());
    LoopContext context = contexts.get(index);
    return context != null ? context : context(index);
  }

  private LoopContext context(int index) throws CrailException {
    synchronized (contexts) {
      LoopContext present = contexts.get(index);
      if (present != null) {
        return present;
      }
      checkOpen();
      LoopContext context = maker.apply(index);
      contexts.set(index, context);
      return context;
    }
  }

  /** Calls {@code visitor} with each loop that has been made. */
  public void forEach(Consumer<LoopContext> visitor) {
    for (int i = 0; i < contexts.length(); i++) {
      LoopContext context = contexts.get(i);
      if (context != null) {
        visitor.accept(context);
      }
    }
  }

  /** Whether the calling thread drives one of the loops, as in a callback. */
  public boolean isDriver() {
    for (int i = 0; i < contexts.length(); i++) {
      LoopContext context = contexts.get(i);
      if (context != null && context.loop().isDriver()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Checks that the store is open.
   *
   * @throws CrailException with CLOSED
   */
  public void checkOpen() throws CrailException {
    if (ended) {
      throw ErrorCode.CLOSED.exception("store");
    }
  }

  /** Marks the store as closed; false when it was closed before. {@link #close} follows. */
  public synchronized boolean end() {
    boolean isFirst = !ended;
    ended = true;
    return isFirst;
  }

  /** Closes all loops and their connections. */
  @Override
  public void close() {
    synchronized (contexts) {
      forEach(LoopContext::close);
    }
  }
}
