/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.lease.AcquireCall;
import io.crail.client.lease.CreateCall;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.CoreKeyValue;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.DirectOutput;
import io.crail.client.stream.StreamOperation;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Operation;
import io.crail.protocol.RoutedCall;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.loop.Completion;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Brings a whole value to the store: create, write, and what follows. The methods stand in the
 * order of time; each stage begins in the thread that learns of the end of the stage before, and no
 * thread waits in between.
 *
 * <ol>
 *   <li><em>Create.</em> One request, which may carry the bytes of a small value. If the namenode
 *       keeps them, the node is closed from the beginning, and the call has ended. Otherwise the
 *       node gets a write lease and space for all bytes.
 *   <li><em>Write.</em> The bytes go to that space.
 *   <li><em>What follows</em> is different for a put and for staged bytes.
 * </ol>
 *
 * @param <T> the result
 */
abstract class ValueCall<T> extends Completion implements Awaitable<T> {
  /** Create, perhaps the lease again, space after the first extent, and the close. */
  private static final int MOST_REQUESTS = 4;

  private final Operation<Put.Request, Put.Response> operation;
  private final StoreContext store;
  private final LoopContext context;
  private final String path;
  private final ByteBuffer root;
  private Put.Draft request;
  private final long deadlineNanos;
  private final Creation create;

  private volatile CoreKeyValue value;

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param operation what is requested
   * @param namenode the index of the path's namenode
   * @param path as the handle shows it
   * @param root what the memory of the value was cut from
   * @param request without a token for a value of no bytes
   */
  ValueCall(
      Operation<Put.Request, Put.Response> operation,
      StoreContext store,
      LoopContext context,
      int namenode,
      String path,
      ByteBuffer root,
      Put.Draft request) {
    this.operation = operation;
    this.store = store;
    this.context = context;
    this.path = path;
    this.root = root;
    this.request = request;
    this.create = new Creation(context.namenodes().peer(namenode));
    this.deadlineNanos =
        create.sentNanos() + MOST_REQUESTS * context.rpcTimeoutNanos() + mostOfWriteNanos();
  }

  private long mostOfWriteNanos() {
    return store.streams().timeoutNanos(request.length()) + context.spacePatienceNanos();
  }

  /** Sends the create. */
  public final void begin() {
    create.submit();
  }

  private final class Creation extends CreateCall implements RoutedCall {
    private Put.Response response;

    Creation(RpcPeer namenode) {
      super(context, namenode);
    }

    @Override
    public Utf8 path() {
      return request.path();
    }

    @Override
    public void route(UnaryOperator<Utf8> form) {
      request = request.by(form);
    }

    @Override
    protected boolean isOverdue() {
      return context.nanoTime() - deadlineNanos() >= 0;
    }

    @Override
    protected long token() {
      return request.token();
    }

    @Override
    protected int opcode() {
      return operation.number();
    }

    @Override
    protected boolean changes() {
      return operation.changes();
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
    protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
      response = Put.Response.CODEC.decode(in, offset, length);
      made();
    }

    @Override
    public NodeInfo node() {
      return response.node();
    }

    @Override
    public List<Extent> extents() {
      return response.extents();
    }

    @Override
    protected void completed() {
      if (isFailed()) {
        refused();
      } else if (request.token() == 0 || node().size() > 0) {
        kept();
      } else {
        if (request.carried()) {
          // So that the next values do not take their bytes there in vain.
          context.smallValuesFull(node().id());
        }
        open();
      }
    }

    @Override
    public String toString() {
      return ValueCall.this.toString();
    }
  }

  private void refused() {
    CrailException failure = create.failure();
    // This does not wait for space to come: its caller may try again.
    fail(
        failure.code() == ErrorCode.SPACE_TO_COME
            ? ErrorCode.NO_SPACE.exception(failure.detail())
            : failure);
  }

  /** The namenode has all bytes. */
  private void kept() {
    value = new CoreKeyValue(store, path, create.node(), List.of(), SmallValue.NONE, 0);
    succeed();
  }

  /** Takes the lease that the create has brought. */
  private void open() {
    // Only this call knows the handle, so its lease is not given back as unused.
    CoreKeyValue made = new CoreKeyValue(store, path, create, request.token());
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

  /** Acquires the lease again, since half of its time was over when the answer came. */
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

  /** Writes all bytes in the stream of the node. */
  private void write(CoreKeyValue made, DirectOutput output) {
    value = made;
    StreamOperation write;
    try {
      if (deadlineNanos - context.nanoTime() < mostOfWriteNanos()) {
        // The caller may stop waiting before all is written, and then the memory is the caller's
        // again.
        throw ErrorCode.TIMED_OUT.exception(toString());
      }
      write = output.write(request.memory(), root, request.from(), request.length());
    } catch (CrailException | InterruptedException | RuntimeException e) {
      output.beginClose(later -> failed(e));
      return;
    }
    write.whenComplete(() -> written(output, write.failure()));
  }

  /**
   * The write has ended, and the stream is still open. Ends the call, at once or later.
   *
   * @param failure why the bytes are not there; null if they are
   */
  abstract void written(DirectOutput output, CrailException failure);

  /** Ends the call; {@code failure} is null if all went well. */
  final void closed(CrailException failure) {
    if (failure == null) {
      succeed();
    } else {
      fail(failure);
    }
  }

  private void failed(Throwable cause) {
    if (cause instanceof CrailException failure) {
      fail(failure);
    } else if (cause instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      fail(ErrorCode.CLOSED.exception("interrupted"));
    } else {
      CrailException bug = ErrorCode.INTERNAL.exception(toString());
      bug.initCause(cause);
      fail(bug);
    }
  }

  @Override
  public final ClientLoop loop() {
    return context.loop();
  }

  @Override
  public final long deadlineNanos() {
    return deadlineNanos;
  }

  /** The node, once its bytes are written. */
  final CoreKeyValue value() {
    return value;
  }

  /** The request; its path may still get another form. */
  final Put.Draft request() {
    return request;
  }

  @Override
  public final String toString() {
    return operation.name() + " " + path;
  }
}
