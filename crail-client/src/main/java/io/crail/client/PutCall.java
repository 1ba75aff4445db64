/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailKeyValue;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Create;
import io.crail.protocol.NodeInfo;
import io.crail.protocol.SmallValue;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import io.crail.rpc.RpcPeer;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Puts a whole value. The create says all there is to say: it brings the bytes of a small value,
 * and asks for a write lease and for the space of all bytes, should the namenode not keep them. So
 * the order of puts is that of their creates, whatever becomes of the bytes. If they were not kept,
 * they are written and the lease is given back; nobody waits in between.
 */
final class PutCall extends Completion implements Awaitable<CrailKeyValue> {
  /** Create, perhaps the lease once more, space behind the first extent, and the end. */
  private static final int MOST_REQUESTS = 4;

  private final CoreStore store;
  private final LoopContext context;
  private final String path;
  private final ByteBuffer root;
  private final Create.Put request;
  private final long deadlineNanos;
  private final Creation creation;
  private volatile CoreKeyValue value;

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param namenode that of the path
   * @param root what the memory of the value was cut from
   * @param request without a token for a value of no bytes
   */
  PutCall(
      CoreStore store,
      LoopContext context,
      RpcPeer namenode,
      String path,
      ByteBuffer root,
      Create.Put request) {
    this.store = store;
    this.context = context;
    this.path = path;
    this.root = root;
    this.request = request;
    this.creation = new Creation(namenode);
    this.deadlineNanos =
        creation.sentNanos()
            + MOST_REQUESTS * context.rpcTimeoutNanos()
            + DirectStream.timeoutNanos(store.dataTimeoutNanos(), request.length());
  }

  /** Sends the create. */
  void begin() {
    creation.submit();
  }

  private final class Creation extends CreateCall {
    Creation(RpcPeer namenode) {
      super(context, namenode, request.token());
    }

    @Override
    protected boolean isOverdue() {
      return context.nanoTime() - deadlineNanos() >= 0;
    }

    @Override
    protected int bodyLength() {
      return request.encodedLength();
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      request.encode(out, offset);
    }

    @Override
    protected void completed() {
      if (isFailed()) {
        refused();
      } else {
        created(response().node());
      }
    }

    @Override
    public String toString() {
      return "create " + path;
    }
  }

  private void refused() {
    if (request.token() != 0 && LeaseReturn.isDoubtful(creation.failure())) {
      // The lease may be there, and the space. Whoever of this store meets the node before they are
      // looked for gives them back.
      store.creatorLeases().created(new CoreKeyValue(store, path, creation, request.token()));
      store.doubtfulCreates().add(context, path, request.token());
    }
    fail(creation.failure());
  }

  private void created(NodeInfo node) {
    if (request.token() == 0 || node.size() > 0) {
      value = new CoreKeyValue(store, path, node, List.of(), SmallValue.NONE, 0);
      succeed();
      return;
    }
    // Known to nobody, so the lease is not given back for being idle.
    CoreKeyValue made = new CoreKeyValue(store, path, creation, request.token());
    made.lease().useAtOnce();
    DirectOutput output;
    try {
      output = made.openCreated(context, request.length());
    } catch (CrailException | InterruptedException | RuntimeException e) {
      failed(e);
      return;
    }
    if (output != null) {
      write(made, output);
    } else {
      acquire(made);
    }
  }

  /** Takes the lease again, for half of it was over when the answer came. */
  private void acquire(CoreKeyValue made) {
    long sentNanos = context.nanoTime();
    AcquireCall call = new AcquireCall(context, made.id(), request.token());
    call.whenComplete(
        () -> {
          try {
            write(made, made.openAcquired(context, call, sentNanos, request.length()));
          } catch (CrailException | RuntimeException e) {
            failed(e);
          }
        });
    call.submit();
  }

  private void write(CoreKeyValue made, DirectOutput output) {
    value = made;
    long writeNanos = DirectStream.timeoutNanos(store.dataTimeoutNanos(), request.length());
    if (deadlineNanos - context.nanoTime() < writeNanos) {
      // Whoever waits may give up before all is written, and the memory is the caller's then.
      output.closeBehind(later -> fail(ErrorCode.TIMED_OUT, toString()));
      return;
    }
    try {
      StreamOperation write =
          output.write(request.memory(), root, request.from(), request.length());
      write.whenComplete(() -> output.closeBehind(this::closed));
    } catch (CrailException e) {
      output.closeBehind(later -> closed(e));
    } catch (InterruptedException | RuntimeException e) {
      output.closeBehind(later -> failed(e));
    }
  }

  private void closed(CrailException failure) {
    if (failure == null) {
      succeed();
    } else {
      fail(failure);
    }
  }

  private void failed(Exception cause) {
    if (cause instanceof CrailException failure) {
      fail(failure);
    } else if (cause instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      fail(ErrorCode.CLOSED, "interrupted");
    } else {
      CrailException bug = ErrorCode.INTERNAL.exception(toString());
      bug.initCause(cause);
      fail(bug);
    }
  }

  @Override
  public Completion completion() {
    return this;
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
  public CrailKeyValue outcome(CrailException failure) throws CrailException {
    if (failure != null) {
      throw failure;
    }
    return value;
  }

  @Override
  public String toString() {
    return "put " + path;
  }
}
