/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.client.datanode.Endpoints;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;

/**
 * Reads the first byte of an extent, as any client does, and forgets it. Where the datanode checks
 * generations it fails unless the extent's own bytes are there; elsewhere it fails unless the
 * datanode is the same, and has the region.
 */
final class ExtentProbe extends Completion implements Awaitable<Void> {
  private final LoopContext context;
  private final LocatedExtent located;
  private final ByteBuffer memory;
  private final int offset;
  private final long deadlineNanos;

  /**
   * Creates a probe; {@link #begin} starts it.
   *
   * @param memory direct memory, of which the byte at {@code offset} is in use until the end
   * @param timeoutNanos how long it may take
   */
  ExtentProbe(
      LoopContext context, Extent extent, ByteBuffer memory, int offset, long timeoutNanos) {
    this.context = context;
    this.memory = memory;
    this.offset = offset;
    this.deadlineNanos = context.nanoTime() + timeoutNanos;
    this.located = new LocatedExtent(extent, deadlineNanos);
  }

  /** The extent. */
  Extent extent() {
    return located.extent();
  }

  /** Starts it. */
  void begin() {
    context.loop().submit(new Way());
  }

  /** Finds the way to the datanode. All methods are called in the loop. */
  private final class Way implements LoopTask, Endpoints.Waiter {
    @Override
    public void runInLoop() {
      if (context.nanoTime() - deadlineNanos >= 0) {
        fail(ErrorCode.TIMED_OUT, ExtentProbe.this.toString());
      } else if (located.endpoint(context.endpoints()) == null) {
        context.endpoints().resolve(extent().place().datanode(), this);
      } else {
        read();
      }
    }

    @Override
    public void endpointReady() {
      runInLoop();
    }

    @Override
    public void endpointFailed(int datanode, CrailException cause) {
      fail(cause);
    }

    @Override
    public void rejected() {
      fail(ErrorCode.CLOSED, "store");
    }
  }

  private final class Read extends Transfer {
    @Override
    protected void completed() {
      if (isFailed()) {
        ExtentProbe.this.fail(failure());
      } else {
        ExtentProbe.this.succeed();
      }
    }
  }

  private void read() {
    Read read = new Read();
    read.prepare(memory, offset, 1, extent(), 0, deadlineNanos);
    located.endpoint(context.endpoints()).read(read);
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public Void result() {
    return null;
  }

  @Override
  public String toString() {
    return "read of " + extent();
  }
}
