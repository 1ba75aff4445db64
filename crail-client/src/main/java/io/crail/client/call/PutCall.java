/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailKeyValue;
import io.crail.client.lease.AcquireCall;
import io.crail.client.lease.CreateCall;
import io.crail.client.lease.CreatorLeases;
import io.crail.client.lease.HandleLease;
import io.crail.client.lease.LeaseReturn;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.CoreKeyValue;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.DirectOutput;
import io.crail.client.stream.ExtentWrite;
import io.crail.client.stream.StreamOperation;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import io.crail.rpc.RpcPeer;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Puts a whole value: create, write, close. The methods stand in the order of time; each stage
 * begins in the thread that learns of the end of the stage before, and no thread waits in between.
 *
 * <ol>
 *   <li><em>Create.</em> One request, the operation {@code put}, asks for the node, for a write
 *       lease and for the space of all bytes. So puts take effect in the order of their creates,
 *       whatever happens to the bytes. The {@link PutRoute} says what the create does for the bytes
 *       already.
 *   <li><em>Write.</em> The bytes that are not yet in place are written now. When a route fails,
 *       the bytes are written after the create.
 *   <li><em>Close.</em> The lease goes back, with the length. When the create left no byte to
 *       write, there is no lease, and nothing to close.
 * </ol>
 *
 * <p>Of values that are put one after the other, each asks for the space of the next. While bytes
 * may be in flight to the node's space, the put does not tell the namenode that the writer has
 * ended: the namenode would then give that space to another node.
 */
public final class PutCall extends Completion implements Awaitable<CrailKeyValue> {
  /** Create, perhaps the lease again, space after the first extent, and the close. */
  private static final int MOST_REQUESTS = 4;

  private final StoreContext store;
  private final LoopContext context;
  private final String path;
  private final ByteBuffer root;
  private final Put.Draft request;
  private final long deadlineNanos;
  private final Creation create;

  /** Null for a value that has nothing to do with space ahead. */
  private final PutAhead ahead;

  private volatile CoreKeyValue value;

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param namenode the index of the path's namenode
   * @param path as the handle tells it
   * @param root what the memory of the value was cut from
   * @param request without a token for a value of no bytes
   * @param mayUseAhead whether space may be asked for ahead
   */
  public PutCall(
      StoreContext store,
      LoopContext context,
      int namenode,
      String path,
      ByteBuffer root,
      Put.Draft request,
      boolean mayUseAhead) {
    this.store = store;
    this.context = context;
    this.path = path;
    this.root = root;
    this.request = request;
    this.create = new Creation(context.namenodes().peer(namenode));
    this.deadlineNanos =
        create.sentNanos() + MOST_REQUESTS * context.rpcTimeoutNanos() + mostOfWriteNanos();
    this.ahead =
        request.carried() || !mayUseAhead
            ? null
            : PutAhead.of(store, context, namenode, path, root, request);
  }

  private long mostOfWriteNanos() {
    return store.streams().timeoutNanos(request.length()) + context.spacePatienceNanos();
  }

  /** Sends the create, and the bytes that can leave before it or beside it. */
  public void begin() {
    if (ahead != null) {
      ahead.prepare();
    }
    create.submit();
    if (route() == PutRoute.BESIDE_CREATE) {
      ahead.issueBeside(create.isFailed());
      if (ahead.isLaterOfBoth()) {
        context.loop().submit(new Answered());
      }
    }
  }

  private PutRoute route() {
    if (ahead != null) {
      return ahead.route();
    }
    return request.carried() ? PutRoute.CARRIED : PutRoute.AFTER_CREATE;
  }

  private final class Creation extends CreateCall {
    private Put.Response response;

    Creation(RpcPeer namenode) {
      super(context, namenode, request.token());
    }

    @Override
    protected boolean isOverdue() {
      return context.nanoTime() - deadlineNanos() >= 0;
    }

    @Override
    protected int opcode() {
      return NameNodeOperations.PUT.number();
    }

    @Override
    protected boolean isIdempotent() {
      return NameNodeOperations.PUT.idempotent();
    }

    @Override
    protected int bodyLength() {
      return request.encodedLength();
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      request.encode(out, offset, ahead == null ? Put.Ahead.NONE : ahead.asked());
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
      if (ahead != null) {
        ahead.answered(this, isFailed() ? List.of() : response.given());
      }
      if (route() != PutRoute.BESIDE_CREATE || ahead.isLaterOfBoth()) {
        createEnded();
      }
    }

    @Override
    public String toString() {
      return "put " + path;
    }
  }

  /** Goes on in the loop, where nothing waits. */
  private final class Answered implements ClientLoop.Task {
    @Override
    public void runInLoop() {
      createEnded();
    }

    @Override
    public void rejected() {
      // The loop has ended, so everything that begins fails at once.
      createEnded();
    }
  }

  /** The create has ended, and the write beside it, if there is one, is issued. */
  private void createEnded() {
    if (ahead != null && ahead.bug() != null) {
      brokenBeside();
    } else if (create.isFailed()) {
      refused();
    } else if (request.token() == 0 || create.node().size() > 0) {
      kept(create.node());
    } else if (route() == PutRoute.BESIDE_CREATE) {
      meetBeside();
    } else {
      open();
    }
  }

  /** The write beside the create failed with a bug: bytes may be in flight. */
  private void brokenBeside() {
    if (!create.isFailed()) {
      expire(create.node().id());
    } else if (LeaseReturn.isDoubtful(create.failure())) {
      doubt(true);
    }
    failed(ahead.bug());
  }

  private void refused() {
    boolean isDoubtful = request.token() != 0 && LeaseReturn.isDoubtful(create.failure());
    ExtentWrite beside = ahead == null ? null : ahead.beside();
    if (beside != null) {
      ahead.abandonBeside();
      if (isDoubtful) {
        // After the write, since giving the lease back says that nothing is in flight.
        beside.whenComplete(() -> doubt(beside.mayArrive()));
      }
    } else if (isDoubtful) {
      doubt(false);
    }
    ended(shortageOr(create.failure()));
  }

  /** A put does not wait for space to come: its caller may put again. */
  private static CrailException shortageOr(CrailException failure) {
    return failure.code() == ErrorCode.SPACE_TO_COME
        ? ErrorCode.NO_SPACE.exception(failure.detail())
        : failure;
  }

  /**
   * Notes that the node may have a lease and space.
   *
   * @param unfinished whether bytes may still arrive there
   */
  private void doubt(boolean unfinished) {
    CreatorLeases unused = store.leases().unused();
    if (!unfinished) {
      // If this store meets the node before the doubtful create is looked up, it gives them back.
      unused.created(new HandleLease(unused, path, create, request.token()));
    }
    int close = unfinished ? SetSize.EXPIRE : SetSize.END;
    store.leases().doubtful().add(context, path, 0, request.token(), close);
  }

  /** All bytes are in place, and the node was closed from the beginning. */
  private void kept(NodeInfo node) {
    value = new CoreKeyValue(store, path, node, List.of(), SmallValue.NONE, 0);
    if (route() == PutRoute.COPIED_AHEAD) {
      store.streams().valueWritten(request.length());
      ended(ahead.copyLost());
      return;
    } else if (route() == PutRoute.BESIDE_CREATE) {
      // It is in vain, but reads the memory until it ends.
      ahead.abandonBeside();
    }
    ended(null);
  }

  /** Waits for the write beside the create, if it goes to the space of the node. */
  private void meetBeside() {
    if (ahead.meets(create.extents())) {
      if (ahead.isWritten() && !ahead.beside().isComplete()) {
        holdLease(create.node().id());
      }
      ahead.beside().whenComplete(this::besideEnded);
    } else {
      ahead.abandonBeside();
      open();
    }
  }

  /** Lets the write beside the create continue as long as the lease of the node can be renewed. */
  private void holdLease(long id) {
    long leaseNanos = context.leaseNanos(id);
    if (context.nanoTime() - create.sentNanos() >= leaseNanos) {
      return;
    }
    ahead
        .beside()
        .goesOnUnder(
            store
                .leases()
                .inUse()
                .opened(id, request.token(), create.sentNanos(), leaseNanos, create.incarnation()));
    store.leases().wake();
  }

  private void besideEnded() {
    if (ahead.besideEnded()) {
      open();
    } else {
      expire(create.node().id());
      CrailException failure = ahead.beside().failure();
      store.streams().statistics().transferEnded(true, -1, failure);
      ended(failure);
    }
  }

  /**
   * Lets the lease of a node run out: bytes may still arrive, so its space must rest until then.
   */
  private void expire(long id) {
    store.leases().doubtful().expire(context, path, id, request.token());
  }

  /** Takes the lease that the create has brought. */
  private void open() {
    // Nobody else knows this handle, so its lease is not given back as unused.
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
          if (ahead != null && !call.isFailed()) {
            // The lease may have run out in between, and the space is lost with it.
            ahead.meetsAgain(call.response().extents());
          }
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
    StreamOperation write = null;
    try {
      if (ahead != null && ahead.isWritten()) {
        ahead.hand(output);
      } else {
        write = issue(output);
      }
    } catch (CrailException | InterruptedException | RuntimeException e) {
      output.beginClose(later -> failed(e));
      return;
    }
    if (write == null) {
      output.beginClose(this::ended);
    } else {
      write.whenComplete(() -> output.beginClose(this::ended));
    }
  }

  /** Writes all bytes in the stream of the node. */
  private StreamOperation issue(DirectOutput output) throws CrailException, InterruptedException {
    int length = request.length();
    if (deadlineNanos - context.nanoTime() < mostOfWriteNanos()) {
      // The caller may stop waiting before all is written, and then the memory is the caller's
      // again.
      throw ErrorCode.TIMED_OUT.exception(toString());
    }
    if (ahead != null) {
      ahead.replaceIn(output);
    }
    return output.write(request.memory(), root, request.from(), length);
  }

  private void failed(Throwable cause) {
    if (cause instanceof CrailException failure) {
      ended(failure);
    } else if (cause instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      ended(ErrorCode.CLOSED.exception("interrupted"));
    } else {
      CrailException bug = ErrorCode.INTERNAL.exception(toString());
      bug.initCause(cause);
      ended(bug);
    }
  }

  /** Ends this with an error or null, once nothing reads the memory any more. */
  private void ended(CrailException failure) {
    if (ahead != null) {
      ahead.whenQuiet(() -> end(failure));
    } else {
      end(failure);
    }
  }

  private void end(CrailException failure) {
    if (failure == null) {
      succeed();
    } else {
      fail(failure);
    }
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
  public CrailKeyValue result() {
    return value;
  }

  @Override
  public String toString() {
    return "put " + path;
  }
}
