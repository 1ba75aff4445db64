/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailKeyValue;
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
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Puts a whole value. The create says all there is to say: it brings the bytes of a small value,
 * and asks for a write lease and for the space of all bytes, should the namenode not keep them. So
 * the order of puts is that of their creates, whatever becomes of the bytes. If they were not kept,
 * they are written and the lease is given back; nobody waits in between.
 *
 * <p>Of values that are put one after the other each asks for the space of the next. Where that is
 * memory of this host, the next one is copied there first, and its create says where its bytes lie:
 * again one request, and readers see the old value or the new one. Where it is elsewhere, the bytes
 * leave right after the create, which says where they go: its answer and theirs are waited for at
 * the same time, and then the lease is given back. Nothing is begun before the create, so the order
 * of puts is the same. Where anything is in the way, it goes as above.
 *
 * <p>While bytes are on their way to what may be the node's space, nothing says that the writer has
 * ended: the namenode would give that space to somebody else.
 */
final class PutCall extends Completion implements Awaitable<CrailKeyValue> {
  /** Create, perhaps the lease once more, space after the first extent, and the end. */
  private static final int MOST_REQUESTS = 4;

  private final CoreStore store;
  private final LoopContext context;
  private final String path;
  private final ByteBuffer root;
  private final Put.Draft request;
  private final long deadlineNanos;
  private final Creation creation;

  /** Null for a value that has nothing to do with space ahead. */
  private final Ahead ahead;

  private volatile CoreKeyValue value;

  /** What a larger value has to do with space ahead. */
  private static final class Ahead {
    private final SpaceAhead.Kind kind;
    private final SpaceAhead.Plan plan;

    /** The space that the create names; null if it names none. */
    private SpaceAhead.Grant named;

    /** Writes to that beside the create; null if the bytes lie there already. */
    private GrantedOutput output;

    /** That write, once it is issued; null if the create had failed before. */
    private StreamOperation write;

    /** Why nobody knows whether that write is issued; else null. */
    private Throwable broken;

    /** With that write: the answer to the create, and its issue; the later one goes on. */
    private AtomicInteger awaited;

    /** Whether all bytes were written beside the create, to what has become the node's space. */
    private boolean written;

    /** Why that space is of no use, so that the node needs other space in its place; else null. */
    private CrailException outOfReach;

    /** A write of which nothing comes, but that may still read the memory; else null. */
    private StreamOperation straggler;

    Ahead(SpaceAhead.Kind kind, SpaceAhead.Plan plan) {
      this.kind = kind;
      this.plan = plan;
    }

    /** Whether an extent is the space that the create names. */
    boolean isNamed(Extent extent) {
      return named.extent().equals(extent);
    }

    /** What goes with the create of a value of so many bytes. */
    Put.Ahead asked(int length) {
      int next = plan.asks() ? length : 0;
      return named == null
          ? new Put.Ahead(0, 0, false, next)
          : new Put.Ahead(named.id(), named.token(), output == null, next);
    }
  }

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param namenode that of the path
   * @param root what the memory of the value was cut from
   * @param request without a token for a value of no bytes
   * @param kind by which it may get space ahead; null when it may not
   */
  PutCall(
      CoreStore store,
      LoopContext context,
      RpcPeer namenode,
      String path,
      ByteBuffer root,
      Put.Draft request,
      SpaceAhead.Kind kind) {
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
    this.ahead = kind == null ? null : new Ahead(kind, plan(store, context, kind));
  }

  private static SpaceAhead.Plan plan(CoreStore store, LoopContext context, SpaceAhead.Kind kind) {
    return store
        .spaceAhead()
        .plan(
            kind,
            context.nanoTime(),
            context.leaseNanosAt(kind.namenode()),
            store.leases().incarnation(kind.namenode()));
  }

  /**
   * Sends the create; before it, copies the bytes to space that was given ahead on this host, or
   * after it sends them to such space elsewhere.
   */
  void begin() {
    if (ahead != null && ahead.plan.grant() != null) {
      try {
        writeAhead(ahead.plan.grant());
      } catch (RuntimeException | Error e) {
        if (ahead.plan.asks()) {
          store.spaceAhead().answered(ahead.kind, null);
        }
        throw e;
      }
    }
    creation.submit();
    if (isWrittenBeside()) {
      writeBeside();
    }
  }

  /** Whether the bytes go to space that was given ahead while the create is under way. */
  private boolean isWrittenBeside() {
    return ahead != null && ahead.output != null;
  }

  /** Copies the bytes to space that was given ahead; elsewhere notes that they are to go there. */
  private void writeAhead(SpaceAhead.Grant grant) {
    CoreKeyValue unborn = new CoreKeyValue(store, path, (CreateCall) null, 0);
    GrantedOutput output = new GrantedOutput(unborn, context, grant);
    StorageEndpoint endpoint = output.endpoint();
    if (endpoint == null) {
      // The next one may have it.
      store.spaceAhead().notYet(ahead.kind, grant);
      context.loop().submit(new Acquaintance(context.endpoints(), grant.extent().datanode()));
      return;
    }
    if (!endpoint.isLocal()) {
      ahead.named = grant;
      ahead.output = output;
      ahead.awaited = new AtomicInteger(2);
      return;
    }
    StreamOperation write = output.write(request.memory(), root, request.from(), request.length());
    if (write.isComplete() && !write.isFailed()) {
      ahead.named = grant;
      output.count();
      return;
    }
    // It could not be mapped after all. Nobody looks at what it writes.
    leave(output, write);
  }

  /** Sends the bytes to space that was given ahead, after the create that names it. */
  private void writeBeside() {
    if (creation.isFailed()) {
      store.spaceAhead().unused(ahead.named);
    } else {
      try {
        ahead.write = ahead.output.write(request.memory(), root, request.from(), request.length());
      } catch (RuntimeException | Error e) {
        // The create is under way: whoever has called learns of it at the end.
        ahead.broken = e;
        store.spaceAhead().unused(ahead.named);
      }
    }
    if (ahead.awaited.decrementAndGet() == 0) {
      context.loop().submit(new Answered());
    }
  }

  /** Goes on in the loop, where nothing waits. */
  private final class Answered implements ClientLoop.Task {
    @Override
    public void runInLoop() {
      answered();
    }

    @Override
    public void rejected() {
      // The loop has ended, and so does whatever is begun.
      answered();
    }
  }

  /** Goes on without a write, which is waited for as long as it reads the memory. */
  private void leave(GrantedOutput output, StreamOperation write) {
    ahead.straggler = write;
    write.whenComplete(output::count);
    store.spaceAhead().unused(output.grant());
  }

  /** Makes a datanode known to a loop. */
  private record Acquaintance(Endpoints endpoints, int datanode)
      implements ClientLoop.Task, Endpoints.Waiter {
    @Override
    public void runInLoop() {
      endpoints.resolve(datanode, this);
    }

    @Override
    public void endpointReady() {
      // Whoever comes next finds it.
    }

    @Override
    public void endpointFailed(CrailException cause) {
      // Whoever needs it is told.
    }
  }

  private final class Creation extends CreateCall {
    private List<Put.Given> given;

    Creation(RpcPeer namenode) {
      super(context, NameNodeOperations.PUT, namenode, request.token());
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
      request.encode(out, offset, ahead == null ? Put.Ahead.NONE : ahead.asked(request.length()));
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
      Put.Response response = Put.Response.CODEC.decode(in, offset, length);
      made(response.node(), response.extents());
      given = response.given();
    }

    @Override
    protected void completed() {
      if (ahead != null && ahead.plan.asks()) {
        SpaceAhead.Grant grant = isFailed() ? null : grant();
        store.spaceAhead().answered(ahead.kind, grant);
        if (grant != null) {
          store.leasesHeld();
        }
      }
      if (!isWrittenBeside() || ahead.awaited.decrementAndGet() == 0) {
        answered();
      }
    }

    /** The space of the next value, or null. */
    private SpaceAhead.Grant grant() {
      if (given.isEmpty()) {
        return null;
      }
      return new SpaceAhead.Grant(
          given.get(0).grant(),
          request.token(),
          given.get(0).extent(),
          sentNanos() + context.leaseNanosAt(ahead.kind.namenode()),
          incarnation());
    }

    @Override
    public String toString() {
      return "put " + path;
    }
  }

  /** The create has ended, and the write beside it, if there is one, is issued. */
  private void answered() {
    if (ahead != null && ahead.broken != null) {
      if (!creation.isFailed()) {
        expire(creation.node().id());
      } else if (LeaseReturn.isDoubtful(creation.failure())) {
        doubt(true);
      }
      CrailException bug = ErrorCode.INTERNAL.exception(toString());
      bug.initCause(ahead.broken);
      ended(bug);
    } else if (creation.isFailed()) {
      refused();
    } else {
      created(creation.node(), creation.extents());
    }
  }

  private void refused() {
    boolean isDoubtful = request.token() != 0 && LeaseReturn.isDoubtful(creation.failure());
    if (ahead != null && ahead.write != null) {
      leave(ahead.output, ahead.write);
      if (isDoubtful) {
        // Behind it, for what gives the lease back says that nothing is on its way.
        ahead.write.whenComplete(() -> doubt(ahead.write.transferFailed()));
      }
    } else if (isDoubtful) {
      doubt(false);
    }
    ended(creation.failure());
  }

  /**
   * The lease may be there, and the space.
   *
   * @param unfinished whether bytes may still arrive there
   */
  private void doubt(boolean unfinished) {
    if (!unfinished) {
      // Whoever of this store meets the node before it is looked for gives them back.
      store.creatorLeases().created(new CoreKeyValue(store, path, creation, request.token()));
    }
    int close = unfinished ? SetSize.EXPIRE : SetSize.END;
    store.doubtfulCreates().add(context, path, 0, request.token(), close);
  }

  private void created(NodeInfo node, List<Extent> extents) {
    if (request.token() == 0 || node.size() > 0) {
      value = new CoreKeyValue(store, path, node, List.of(), SmallValue.NONE, 0);
      if (ahead != null) {
        store.valueWritten(request.length());
      }
      ended(null);
      return;
    }
    if (ahead == null || ahead.write == null) {
      open();
      return;
    }
    // Without any the node has gone already, and its space with it, whichever that was.
    Extent first = extents.isEmpty() ? null : extents.get(0);
    if (first == null || first.beginsAt(ahead.named.extent())) {
      ahead.written = ahead.isNamed(first);
      if (ahead.written && !ahead.write.isComplete()) {
        holdLease(node.id());
      }
      ahead.write.whenComplete(this::writtenBeside);
    } else {
      leave(ahead.output, ahead.write);
      open();
    }
  }

  /** Lets the write beside the create go on as long as the lease of the node can be renewed. */
  private void holdLease(long id) {
    long leaseNanos = context.leaseNanos(id);
    if (context.nanoTime() - creation.sentNanos() >= leaseNanos) {
      return;
    }
    ahead.output.goesOnUnder(
        store
            .leases()
            .opened(id, request.token(), creation.sentNanos(), leaseNanos, creation.incarnation()));
    store.leasesHeld();
  }

  /** The write beside the create has ended. */
  private void writtenBeside() {
    StreamOperation write = ahead.write;
    ahead.output.endLease();
    if (write.transferFailed()) {
      ahead.output.count();
      if (!ahead.written || !write.isOutOfReach(write.failure())) {
        expire(creation.node().id());
        ended(write.failure());
        return;
      }
      ahead.written = false;
      ahead.outOfReach = write.failure();
      open();
      return;
    }
    ahead.written &= !write.isFailed();
    if (!ahead.written) {
      ahead.output.count();
    }
    open();
  }

  /** Lets the lease of a node run out: bytes may still arrive, and its space is to rest as long. */
  private void expire(long id) {
    LeaseReturn.Try back =
        new LeaseReturn(
                context,
                path,
                null,
                id,
                request.token(),
                0,
                SetSize.EXPIRE,
                SmallValue.NONE,
                gone -> {})
            .tried();
    back.whenComplete(
        () -> {
          if (back.isFailed() && LeaseReturn.isDoubtful(back.failure())) {
            store.doubtfulCreates().add(context, path, id, request.token(), SetSize.EXPIRE);
          }
        });
  }

  /** Takes the lease that the create has brought. */
  private void open() {
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
          if (ahead != null && ahead.written && !call.isFailed()) {
            // The lease may have run out meanwhile, and the space with it.
            List<Extent> now = call.response().extents();
            ahead.written = !now.isEmpty() && ahead.isNamed(now.get(0));
            if (!ahead.written) {
              ahead.output.count();
            }
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
    if (ahead != null && ahead.written) {
      try {
        output.begunBy(ahead.output, request.length());
        output.closeBehind(this::ended);
      } catch (CrailException e) {
        ahead.output.count();
        output.closeBehind(later -> ended(e));
      }
      return;
    }
    long writeNanos = DirectStream.timeoutNanos(store.dataTimeoutNanos(), request.length());
    if (deadlineNanos - context.nanoTime() < writeNanos) {
      // Whoever waits may give up before all is written, and the memory is the caller's then.
      output.closeBehind(later -> ended(ErrorCode.TIMED_OUT.exception(toString())));
      return;
    }
    if (ahead != null && ahead.outOfReach != null) {
      output.giveUp(ahead.named.extent(), ahead.outOfReach);
    }
    try {
      StreamOperation write =
          output.write(request.memory(), root, request.from(), request.length());
      write.whenComplete(() -> output.closeBehind(this::ended));
    } catch (CrailException e) {
      output.closeBehind(later -> ended(e));
    } catch (InterruptedException | RuntimeException e) {
      output.closeBehind(later -> failed(e));
    }
  }

  /** Ends this with an error or null, once nothing reads the memory any more. */
  private void ended(CrailException failure) {
    StreamOperation straggler = ahead == null ? null : ahead.straggler;
    if (straggler != null) {
      straggler.whenComplete(() -> end(failure));
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

  private void failed(Exception cause) {
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
