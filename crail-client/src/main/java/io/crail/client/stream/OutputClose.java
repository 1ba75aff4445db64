/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.lease.HandleLease;
import io.crail.client.lease.LeaseReturn;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.node.SetSize;
import java.util.function.Consumer;

/**
 * How an output stream gives its lease back. Its user and the store may both end the stream. The
 * first of them decides what the namenode gets, and the second waits for that. Thread-safe, under
 * the monitor of the stream.
 */
final class OutputClose {
  private final DirectStream stream;
  private final long id;
  private final WriteLedger writes;
  private final HeldValue held;
  private final long token;
  private final HandleLease handle;

  /** Null until the user or the store begins. Guarded by the stream. */
  private LeaseReturn begun;

  OutputClose(
      DirectStream stream,
      long id,
      WriteLedger writes,
      HeldValue held,
      long token,
      HandleLease handle) {
    this.stream = stream;
    this.id = id;
    this.writes = writes;
    this.held = held;
    this.token = token;
    this.handle = handle;
  }

  /**
   * The call that gives the lease back, the same one each time.
   *
   * @param unfinished whether writes are in flight, whose bytes may arrive later
   */
  LeaseReturn of(boolean unfinished) {
    synchronized (stream) {
      if (begun == null) {
        begun =
            new LeaseReturn(
                stream.context(),
                stream.file().getPath(),
                null,
                id,
                token,
                writes.end(),
                writes.mayArrive() || unfinished ? SetSize.EXPIRE : SetSize.END,
                held.beyond(writes.visible()),
                handle::returned);
      }
      return begun;
    }
  }

  /** Allows another return of the lease: the namenode had no memory for the value. */
  void again() {
    synchronized (stream) {
      begun = null;
    }
  }

  /**
   * Gives the lease back, or waits for the return that has begun before. Gives the error of this
   * call's own return.
   */
  CrailException await() throws CrailException, InterruptedException {
    boolean isFirst;
    synchronized (stream) {
      isFirst = begun == null;
    }
    boolean unfinished = !writes.isIdle();
    CrailException lost = lost();
    LeaseReturn giving = of(unfinished);
    LeaseReturn.Try last = giving.tried();
    last.awaitEnd();
    if (unfinished) {
      return ErrorCode.TIMED_OUT.exception("writes of " + stream.file().getPath());
    }
    if (!isFirst) {
      // The store has ended the stream. Only here does its user learn of bytes that were lost.
      CrailException refusal = giving.refusal();
      return refusal == null && !isRemoved() ? last.failure() : refusal;
    }
    return outcome(last, lost);
  }

  /** Whether the store has ended the stream because it has removed the node. */
  private boolean isRemoved() {
    CrailException why = writes.refusal();
    return why != null && why.code() == ErrorCode.STALE_NODE;
  }

  private CrailException lost() {
    return stream.lossAt(stream.context().nanoTime());
  }

  private CrailException outcome(LeaseReturn.Try last, CrailException lost) {
    if (last.isFailed()) {
      return last.failure();
    }
    stream.file().info(last.response().node());
    return lost != null ? lost : stream.holderLost();
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

  /** Begins, unless that was done. The stream ends here, whatever happens to the lease. */
  LeaseReturn end() {
    LeaseReturn last = of(!writes.isIdle());
    last.begin();
    // The value is not put anywhere else any more.
    last.giveUpValue();
    return last;
  }
}
