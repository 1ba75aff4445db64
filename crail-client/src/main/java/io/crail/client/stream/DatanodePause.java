/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.loop.LoopContext;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;

/** The pause before a datanode that is starting again is looked for once more. In the loop. */
final class DatanodePause implements Sweepable {
  static final long NANOS = 100_000_000;

  private final LoopContext context;
  private final LoopTask after;
  private final long endNanos;

  private DatanodePause(LoopContext context, LoopTask after) {
    this.context = context;
    this.after = after;
    this.endNanos = context.nanoTime() + NANOS;
  }

  /** Begins one. The task runs after it, or is rejected. */
  static void begin(LoopContext context, LoopTask after) {
    DatanodePause pause = new DatanodePause(context, after);
    context.loop().operationBegun();
    context.loop().register(pause);
  }

  @Override
  public void sweep(long nowNanos) {
    if (nowNanos - endNanos >= 0) {
      end();
      after.runInLoop();
    }
  }

  @Override
  public void loopClosing() {
    end();
    after.rejected();
  }

  private void end() {
    context.loop().unregister(this);
    context.loop().operationEnded();
  }
}
