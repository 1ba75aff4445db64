/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.datanode.Endpoints;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;

/**
 * Moves the bytes of one extent to another datanode: the namenode reserves space, the bytes are
 * read and written there, and the namenode puts the copy in its place. If any step fails, the node
 * keeps the extent that it has, and the reserved space comes back by itself. Nothing is tried
 * again. The result is the number of bytes. Space is asked for only when there is a way to the
 * bytes, and is given back if none of them was written.
 *
 * <p>No byte is in flight to the reserved space after the lease, counted from the request, or after
 * the commit was sent.
 */
public final class ExtentMove extends Completion implements Awaitable<Integer> {
  private final LoopContext context;
  private final BeginMove.Request request;
  private final ByteBuffer memory;
  private final long transferNanos;

  // Set by one step after the other.
  private long sentNanos;
  private long askedNanos;
  private long endNanos;
  private long readNanos;
  private BeginMove.Response begun;
  private LocatedExtent source;
  private LocatedExtent target;
  private boolean writes;
  private volatile boolean failedAtSource;

  /**
   * Creates a move; {@link #begin} starts it.
   *
   * @param memory direct memory of at least the length of the extent; in use until the end
   * @param transferNanos how long a read or a write of the bytes may take
   */
  public ExtentMove(
      LoopContext context, BeginMove.Request request, ByteBuffer memory, long transferNanos) {
    this.context = context;
    this.request = request;
    this.memory = memory;
    this.transferNanos = transferNanos;
    this.sentNanos = context.nanoTime();
  }

  /** The place to move the extent from. */
  public Place from() {
    return request.place();
  }

  /**
   * True when it has failed because the datanode that has the bytes could not be reached or read,
   * or has taken most of the lease for that.
   */
  public boolean isFailedAtSource() {
    return failedAtSource;
  }

  /** Starts it. */
  public void begin() {
    sentNanos = context.nanoTime();
    source = new LocatedExtent(extentAt(from(), memory.capacity()), sentNanos);
    context.loop().submit(new Ways());
  }

  /** Asks for space. */
  private void reserve() {
    askedNanos = context.nanoTime();
    OperationCall<BeginMove.Request, BeginMove.Response> call =
        new OperationCall<>(NameNodeOperations.BEGIN_MOVE);
    context.prepare(call, request);
    call.whenComplete(() -> reserved(call));
    call.submit();
  }

  private void reserved(OperationCall<BeginMove.Request, BeginMove.Response> call) {
    if (call.isFailed()) {
      fail(call.failure());
      return;
    }
    begun = call.response();
    endNanos = askedNanos + context.leaseNanos(request.id());
    int bytes = begun.bytes();
    if (bytes < 1 || bytes > memory.capacity()) {
      giveUp(ErrorCode.PROTOCOL.exception(this + " of " + bytes + " bytes to " + begun.target()));
      return;
    }
    source = new LocatedExtent(extentAt(from(), bytes), endNanos);
    target = new LocatedExtent(extentAt(begun.target(), bytes), endNanos);
    context.loop().submit(new Ways());
  }

  private Extent extentAt(Place place, int bytes) {
    return new Extent(request.fileOffset(), bytes, place);
  }

  /** Fails. Space that nothing was written to comes back at once. */
  private void giveUp(CrailException cause) {
    if (begun != null && !writes) {
      SetSize.Request end = new SetSize.Request(begun.grant(), request.token(), 0, SetSize.END);
      context.namenodes().call(NameNodeOperations.SET_SIZE, end);
    }
    fail(cause);
  }

  /** Finds the ways to both datanodes. All methods are called in the loop. */
  private final class Ways implements LoopTask, Endpoints.Waiter {
    @Override
    public void runInLoop() {
      if (begun != null && isTooLate()) {
        tooLate(source.endpoint(context.endpoints()) == null);
      } else if (source.endpoint(context.endpoints()) == null) {
        context.endpoints().resolve(from().datanode(), this);
      } else if (begun == null) {
        reserve();
      } else if (target.endpoint(context.endpoints()) == null) {
        context.endpoints().resolve(begun.target().datanode(), this);
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
      failedAtSource = target == null || source.endpoint(context.endpoints()) == null;
      giveUp(cause);
    }

    @Override
    public void rejected() {
      fail(ErrorCode.CLOSED, "store");
    }
  }

  /** A step that moves bytes. */
  private final class Step extends Transfer {
    private final LocatedExtent located;
    private final Runnable next;

    Step(LocatedExtent located, Runnable next) {
      this.located = located;
      this.next = next;
    }

    @Override
    protected void completed() {
      if (located == source) {
        readNanos = context.nanoTime();
      }
      if (isFailed()) {
        failedAtSource = located == source || (isTooLate() && hasReadForLonger());
        giveUp(failure());
        return;
      }
      located.answered(context);
      if (isTooLate()) {
        tooLate(hasReadForLonger());
      } else {
        next.run();
      }
    }
  }

  private boolean isTooLate() {
    return context.nanoTime() - endNanos >= 0;
  }

  /** Whether more of the lease went by until the bytes were read than since then. */
  private boolean hasReadForLonger() {
    return readNanos - askedNanos > context.nanoTime() - readNanos;
  }

  private void tooLate(boolean atSource) {
    failedAtSource = atSource;
    giveUp(ErrorCode.TIMED_OUT.exception(this + ": the lease of its space is over"));
  }

  private long stepEndNanos() {
    long end = context.nanoTime() + transferNanos;
    return end - endNanos < 0 ? end : endNanos;
  }

  private StorageEndpoint endpoint(LocatedExtent located) {
    return located.endpoint(context.endpoints());
  }

  private void read() {
    Step step = new Step(source, this::write);
    step.prepare(memory, 0, begun.bytes(), source.extent(), 0, stepEndNanos());
    endpoint(source).read(step);
  }

  private void write() {
    writes = true;
    Step step = new Step(target, this::flush);
    step.prepare(memory, 0, begun.bytes(), target.extent(), 0, stepEndNanos());
    endpoint(target).write(step);
  }

  /** Its writer may have made the bytes durable where they were. */
  private void flush() {
    Step step = new Step(target, this::commit);
    step.prepareFlush(target.extent(), stepEndNanos());
    endpoint(target).flush(step);
  }

  private void commit() {
    OperationCall<CommitMove.Request, CommitMove.Response> call =
        new OperationCall<>(NameNodeOperations.COMMIT_MOVE);
    CommitMove.Request commit =
        new CommitMove.Request(
            request.id(),
            request.token(),
            begun.grant(),
            begun.bytes(),
            request.fileOffset(),
            from(),
            begun.target());
    context.prepare(call, commit);
    call.whenComplete(
        () -> {
          if (call.isFailed()) {
            fail(call.failure());
          } else {
            succeed();
          }
        });
    call.submit();
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public long deadlineNanos() {
    return sentNanos + 4 * context.rpcTimeoutNanos() + 3 * transferNanos;
  }

  @Override
  public Integer result() {
    return begun.bytes();
  }

  @Override
  public String toString() {
    return "move of " + from() + " at " + request.fileOffset() + " of node " + request.id();
  }
}
