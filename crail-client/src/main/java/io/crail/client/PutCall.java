/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailKeyValue;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Create;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.NodeInfo;
import io.crail.protocol.NodePath;
import io.crail.protocol.OperationCall;
import io.crail.protocol.SmallValue;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;

/**
 * Puts a whole value. A small one goes with the create. For another one, and for one that the
 * namenode has no memory for, the create asks for the space of all bytes, they are written, and the
 * write lease is given back; nobody waits in between.
 */
final class PutCall extends Completion implements Awaitable<CrailKeyValue> {
  private final CoreStore store;
  private final LoopContext context;
  private final String path;
  private final ByteBuffer memory;
  private final ByteBuffer root;
  private final int offset;
  private final int length;
  private final long deadlineNanos;
  private final Function<SmallValue, Create.Request> request;
  private volatile CoreKeyValue value;

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param memory where the value is, {@code length} bytes from {@code offset} on
   * @param root what the memory was cut from
   * @param request the create: with a small value, or without one, with a lease and space
   */
  PutCall(
      CoreStore store,
      LoopContext context,
      String path,
      ByteBuffer memory,
      ByteBuffer root,
      int offset,
      int length,
      Function<SmallValue, Create.Request> request) {
    this.store = store;
    this.context = context;
    this.path = path;
    this.memory = memory;
    this.root = root;
    this.offset = offset;
    this.length = length;
    this.request = request;
    this.deadlineNanos =
        context.nanoTime()
            + 3 * context.rpcTimeoutNanos()
            + DirectStream.timeoutNanos(store.dataTimeoutNanos(), length);
  }

  /**
   * Sends the create.
   *
   * @param mostSmall most bytes that go with it
   */
  void begin(int mostSmall) {
    if (length <= mostSmall || length == 0) {
      byte[] bytes = new byte[length];
      memory.get(offset, bytes);
      new SmallPut(request.apply(SmallValue.of(bytes))).submit();
    } else {
      beginLarge();
    }
  }

  /** The one request of a small value. */
  private final class SmallPut extends OperationCall<Create.Request, Create.Response> {
    private final int namenode;

    SmallPut(Create.Request request) {
      super(NameNodeOperations.CREATE);
      this.namenode = NodePath.namenodeOf(request.path(), context.namenodes().count());
      prepare(context.namenodes().peer(namenode), request, context.namenodes().newDeadlineNanos());
    }

    @Override
    protected void completed() {
      if (!isFailed()) {
        NodeInfo info = response().node();
        value = new CoreKeyValue(store, path, info, List.of(), SmallValue.NONE, 0);
        PutCall.this.succeed();
      } else if (failure().code() == ErrorCode.NO_SPACE) {
        // The namenode has no memory for it, and has done nothing.
        context.smallValuesFullAt(namenode);
        beginLarge();
      } else {
        PutCall.this.fail(failure());
      }
    }
  }

  private void beginLarge() {
    CreateCall create = store.newCreate(context, path, request.apply(SmallValue.NONE));
    CoreKeyValue made = (CoreKeyValue) create.early();
    // So that the lease is not given back for being idle while many creates are under way.
    made.lease().useAtOnce();
    create.whenComplete(() -> created(create, made));
    create.submit();
  }

  private void created(CreateCall create, CoreKeyValue made) {
    if (create.isFailed()) {
      made.lease().endUse();
      fail(create.failure());
      return;
    }
    try {
      DirectOutput output = made.openCreated(context, length);
      value = made;
      write(output);
    } catch (CrailException e) {
      fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(ErrorCode.CLOSED, "interrupted");
    } catch (RuntimeException e) {
      CrailException bug = ErrorCode.INTERNAL.exception(toString());
      bug.initCause(e);
      fail(bug);
    }
  }

  private void write(DirectOutput output) throws InterruptedException {
    try {
      StreamOperation write = output.write(memory, root, offset, length);
      write.whenComplete(() -> output.closeBehind(this::closed));
    } catch (CrailException e) {
      output.closeBehind(later -> closed(e));
    }
  }

  private void closed(CrailException failure) {
    if (failure == null) {
      succeed();
    } else {
      fail(failure);
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
