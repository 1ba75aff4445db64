/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.lease.HandleLease;
import io.crail.client.lease.LeaseReturn;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.node.SetSize;
import java.util.function.Consumer;

/**
 * How an output stream gives its lease back. Its user and the store may both end it: whoever comes
 * first says what the namenode is told, and the other one waits for that. Thread-safe, under the
 * monitor of the stream.
 */
final class Farewell {
  private final DirectOutput output;
  private final WriteLedger writes;
  private final HeldValue held;
  private final long token;
  private final HandleLease handle;

  /** Null until somebody begins. Guarded by the stream. */
  private LeaseReturn begun;

  Farewell(
      DirectOutput output, WriteLedger writes, HeldValue held, long token, HandleLease handle) {
    this.output = output;
    this.writes = writes;
    this.held = held;
    this.token = token;
    this.handle = handle;
  }

  /**
   * What gives the lease back; the same for whoever asks.
   *
   * @param unfinished whether writes are under way, whose bytes may arrive later
   */
  LeaseReturn of(boolean unfinished) {
    synchronized (output) {
      if (begun == null) {
        begun =
            new LeaseReturn(
                output.context(),
                output.file().getPath(),
                null,
                output.id(),
                token,
                writes.end(),
                writes.mayArrive() || unfinished ? SetSize.EXPIRE : SetSize.END,
                held.beyond(writes.visible()),
                handle::returned);
      }
      return begun;
    }
  }

  /** What was begun is not the last: the namenode had no memory for the value. */
  void again() {
    synchronized (output) {
      begun = null;
    }
  }

  /** Gives the lease back, or waits for whoever has begun that; the error of the former. */
  CrailException await() throws CrailException, InterruptedException {
    boolean isFirst;
    synchronized (output) {
      isFirst = begun == null;
    }
    boolean unfinished = !writes.isIdle();
    CrailException lost = lost();
    LeaseReturn giving = of(unfinished);
    LeaseReturn.Try last = giving.tried();
    last.awaitEnd();
    if (unfinished) {
      return ErrorCode.TIMED_OUT.exception("writes of " + output.file().getPath());
    }
    if (!isFirst) {
      // The store has ended the stream, and tells no one when bytes are lost with it.
      return giving.refusal();
    }
    return outcome(last, lost);
  }

  private CrailException lost() {
    return output.lossAt(output.context().nanoTime());
  }

  private CrailException outcome(LeaseReturn.Try last, CrailException lost) {
    if (last.isFailed()) {
      return last.failure();
    }
    output.file().info(last.response().node());
    return lost;
  }

  /**
   * Gives the lease back without waiting.
   *
   * @param then gets the error or null
   */
  void begin(Consumer<CrailException> then) {
    CrailException lost = lost();
    LeaseReturn.Try tried = of(false).tried();
    tried.whenComplete(() -> then.accept(outcome(tried, lost)));
  }

  /** Begins, if nobody has: the stream ends here, whatever becomes of the lease. */
  LeaseReturn end() {
    LeaseReturn last = of(!writes.isIdle());
    last.begin();
    // Nobody puts the value anywhere else any more.
    last.giveUpValue();
    return last;
  }
}
