/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.loop.Awaitable;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A call that waits for the writes that a stream has in flight, and then continues or ends.
 *
 * @param <T> the result
 */
abstract class WriteBarrier<T> extends Completion implements Awaitable<T> {
  private final DirectStream stream;
  private final AtomicInteger left = new AtomicInteger(1);
  private long deadlineNanos;

  WriteBarrier(DirectStream stream) {
    this.stream = stream;
    this.deadlineNanos = stream.context().nanoTime();
  }

  /** Begins to wait. Only for the thread that uses the stream. */
  final void begin() {
    for (StreamOperation write : stream.recent()) {
      if (!write.isComplete()) {
        left.incrementAndGet();
        if (write.deadlineNanos() - deadlineNanos > 0) {
          deadlineNanos = write.deadlineNanos();
        }
        write.whenComplete(this::oneEnded);
      }
    }
    oneEnded();
  }

  private void oneEnded() {
    if (left.decrementAndGet() == 0) {
      writesEnded();
    }
  }

  /** Called once, by any thread, after the writes; it must not block. */
  abstract void writesEnded();

  @Override
  public final ClientLoop loop() {
    return stream.context().loop();
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }
}
