/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.SetSize;
import io.crail.rpc.RpcCall;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A write lease on its way back to the namenode. If no answer comes in time, the lease runs out by
 * itself, since it is not renewed any more. A value may come with a lease. A namenode that has no
 * memory for the value does not end the lease: the next try goes without the value. Thread-safe.
 */
public final class LeaseReturn {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseReturn.class);

  private final LoopContext context;
  private final String path;
  private final RpcCall source;
  private final long id;
  private final long token;
  private final long size;
  private final int close;
  private final SmallValue value;
  private final Consumer<LeaseReturn> whenGone;

  // Guarded by "this".
  private Try latest;

  /** Why the namenode did not take the value with a try before the latest. */
  private CrailException refusal;

  private boolean valueGivenUp;

  /**
   * Creates it without a try.
   *
   * @param source the call that brought the lease, which may not have ended yet; null when it is
   *     known to be there
   * @param id the node; 0 when a create is to tell it
   * @param size what is written, without the value
   * @param close how the lease ends, as in {@link SetSize}
   * @param value what is written, of a small value that goes with the lease
   * @param whenGone runs once the lease is gone, or runs out
   */
  public LeaseReturn(
      LoopContext context,
      String path,
      RpcCall source,
      long id,
      long token,
      long size,
      int close,
      SmallValue value,
      Consumer<LeaseReturn> whenGone) {
    this.context = context;
    this.path = path;
    this.source = source;
    this.id = id;
    this.token = token;
    this.size = size;
    this.close = close;
    this.value = value;
    this.whenGone = whenGone;
  }

  /** The node; 0 when a create is to tell it. */
  long id() {
    return id;
  }

  /** The try that is under way or has ended; a new one when there is none, or it was refused. */
  public Try tried() {
    Try made;
    synchronized (this) {
      if (latest != null && !latest.isRefused()) {
        return latest;
      }
      refusal = refusal();
      made = new Try(refusal == null ? value : SmallValue.NONE);
      latest = made;
    }
    made.begin();
    return made;
  }

  /** Makes the first try. */
  public void begin() {
    if (!isBegun()) {
      tried();
    }
  }

  /** Why the namenode did not take the value; null when it took the value, or may yet take it. */
  public synchronized CrailException refusal() {
    return refusal == null && latest != null && latest.isRefused() ? latest.failure() : refusal;
  }

  /**
   * Gives the lease back without the value if the namenode refuses the value, which is not written
   * elsewhere.
   */
  public void giveUpValue() {
    boolean again;
    synchronized (this) {
      valueGivenUp = true;
      again = refusal() != null;
    }
    if (again) {
      tried();
    }
  }

  /**
   * As {@link #giveUpValue()}, with a try if there was none.
   *
   * @param then runs when no try is under way any more
   */
  public void giveUpValue(Runnable then) {
    Try first = tried();
    giveUpValue();
    first.whenComplete(() -> (first.isRefused() ? tried() : first).whenComplete(then));
  }

  private synchronized boolean isValueGivenUp() {
    return valueGivenUp;
  }

  private synchronized boolean isBegun() {
    return latest != null;
  }

  /** True once the lease is gone, or runs out. */
  synchronized boolean isGone() {
    return latest != null && latest.isComplete() && !latest.isRefused();
  }

  /** One try to give the lease back. It fails with the error of the namenode, or of the call. */
  public final class Try extends OperationCall<SetSize.Request, SetSize.Response> {
    private final SmallValue carried;
    private final long waitUntilNanos;

    private Try(SmallValue carried) {
      super(NameNodeOperations.SET_SIZE);
      this.carried = carried;
      long begin =
          source != null && !source.isComplete() ? source.deadlineNanos() : context.nanoTime();
      this.waitUntilNanos = begin + context.rpcTimeoutNanos() + Awaitable.GRACE_NANOS;
    }

    private void begin() {
      if (source == null) {
        send();
      } else {
        source.whenComplete(this::send);
      }
    }

    private void send() {
      long node = id;
      if (source != null && source.isFailed()) {
        // It has brought no lease, or one that runs out.
        succeed();
        return;
      }
      if (node == 0) {
        node = ((CreateCall) source).node().id();
      }
      SetSize.Request request =
          new SetSize.Request(node, token, Math.max(size, carried.length()), close, carried);
      context.prepare(this, request);
      submit();
    }

    @Override
    protected void completed() {
      if (!isRefused()) {
        whenGone.accept(LeaseReturn.this);
      } else if (isValueGivenUp()) {
        LOG.warn("{} bytes of {} are lost: {}", carried.length(), path, failure().getMessage());
        tried();
      }
    }

    /** True when the namenode has no memory for the value, or its quota no room. */
    private boolean isRefused() {
      CrailException failure = failure();
      return failure != null
          && carried.length() > 0
          && (failure.code() == ErrorCode.NO_SPACE || failure.code() == ErrorCode.QUOTA_EXCEEDED);
    }

    /**
     * Waits until the lease is gone, or runs out.
     *
     * @throws CrailException when there is no end in time
     */
    public void awaitGone() throws CrailException, InterruptedException {
      awaitEnd();
      if (isRefused()) {
        tried().awaitGone();
      }
    }

    /** Waits for the end of this try; false when it does not come in time. */
    public boolean awaitEnd(long deadlineNanos) throws InterruptedException {
      return context.loop().await(this, deadlineNanos);
    }

    /**
     * Waits for the end of this try.
     *
     * @throws CrailException when it does not come
     */
    public void awaitEnd() throws CrailException, InterruptedException {
      if (!awaitEnd(waitUntilNanos)) {
        throw ErrorCode.TIMED_OUT.exception("giving back the write lease of " + path);
      }
    }
  }
}
