/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import io.crail.common.error.CrailException;
import io.crail.rpc.CommitGate;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A service whose answers wait until a test lets them go: each batch raises the position, and the
 * test says what is reached.
 */
final class SteppedGate implements Service, CommitGate {
  private record Waiter(long position, Runnable action) {}

  private final Service service;
  private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
  private long position;
  private long reached;
  private boolean failed;

  SteppedGate(Service service) {
    this.service = service;
  }

  /** Lets all answers leave that are there. */
  void reachAll() {
    synchronized (this) {
      reached = position;
    }
    letPass();
  }

  /** Lets the answers leave to all batches but the last ones. */
  void reachAllBut(int batches) {
    synchronized (this) {
      reached = Math.max(reached, position - batches);
    }
    letPass();
  }

  /** No answer leaves any more. */
  void fail() {
    synchronized (this) {
      failed = true;
    }
    letPass();
  }

  private void letPass() {
    for (Waiter waiter : waiters) {
      if ((waiter.position <= reached() || hasFailed()) && waiters.remove(waiter)) {
        waiter.action.run();
      }
    }
  }

  @Override
  public void serve(RequestBatch batch, ResponseWriter responses) throws CrailException {
    synchronized (this) {
      position++;
    }
    service.serve(batch, responses);
  }

  @Override
  public void closed(Session session) {
    service.closed(session);
  }

  @Override
  public CommitGate gate() {
    return this;
  }

  @Override
  public synchronized long position() {
    return position;
  }

  @Override
  public synchronized long reached() {
    return reached;
  }

  @Override
  public synchronized boolean hasFailed() {
    return failed;
  }

  @Override
  public void whenReached(long awaited, Runnable action) {
    waiters.add(new Waiter(awaited, action));
    letPass();
  }
}
