/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.NodeHandles;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.StreamContext.Output;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A delete, which also ends the output streams that this store has open on removed nodes. Paths
 * cannot tell which streams these are, since nodes are renamed under open streams. The namenode may
 * also refuse the delete. So the streams are ended after its answer. The stream of the removed node
 * is found by the node's id. When a container was removed, the namenode is asked for each other
 * stream whether its node is still there.
 *
 * <p>Writes may be in flight during the delete. The namenode keeps their space back until the
 * client reports that they have ended, or until their lease runs out; the lease is no longer
 * renewed. The delete ends after these writes, so the space is free then.
 */
public final class DeleteCall extends Completion implements Awaitable<CrailNode> {
  private static final int CHECKS_AT_ONCE = 16;

  private final StoreContext store;
  private final LoopContext context;
  private final String path;
  private final OperationCall<Remove.Request, Remove.Response> remove;
  private volatile CrailNode node;

  /** Steps that have not ended. The namenode's answer is one of them. */
  private final AtomicInteger left = new AtomicInteger(1);

  /** Streams to ask about. Guarded by "this". */
  private Iterator<Output> unchecked;

  /** Creates a call; {@link #submit} starts it. */
  public DeleteCall(StoreContext store, LoopContext context, Utf8 path, boolean recursive) {
    this.store = store;
    this.context = context;
    this.path = path.toString();
    this.remove = new OperationCall<>(NameNodeOperations.REMOVE);
    Remove.Request request = new Remove.Request(recursive, path);
    context.prepare(remove, request);
    remove.whenComplete(this::answered);
  }

  /** Sends it. */
  public void submit() {
    remove.submit();
  }

  private void answered() {
    if (remove.isFailed()) {
      fail(remove.failure());
      return;
    }
    NodeInfo removed = remove.response().node();
    node = NodeHandles.of(store, path, removed, List.of(), 0);
    for (Output output : store.streams().outputs()) {
      if (output.id() == removed.id()) {
        end(output);
      }
    }
    if (removed.type().isContainer() && (removed.childCount() > 0 || removed.isSpread())) {
      checkOthers(removed.id());
    }
    if (removed.isSpread()) {
      store.routes().forget(Utf8.of(path), removed.id());
    }
    partEnded();
  }

  private void end(Output output) {
    String written = output.file().getPath();
    String with = written.equals(path) ? "" : " with " + path;
    left.incrementAndGet();
    output.nodeRemoved(
        ErrorCode.STALE_NODE.exception(written + " was deleted by this store" + with),
        this::partEnded);
  }

  private void partEnded() {
    if (left.decrementAndGet() == 0) {
      succeed();
    }
  }

  private void checkOthers(long removedId) {
    int namenodes = context.namenodes().count();
    long owner = Long.remainderUnsigned(removedId, namenodes);
    // A spread directory may have been below the container.
    boolean isAtAll = store.routes().isAny();
    synchronized (this) {
      unchecked =
          store.streams().outputs().stream()
              .filter(output -> !output.isEnded())
              .filter(output -> isAtAll || Long.remainderUnsigned(output.id(), namenodes) == owner)
              .iterator();
    }
    left.addAndGet(CHECKS_AT_ONCE);
    for (int i = 0; i < CHECKS_AT_ONCE; i++) {
      checkNext();
    }
  }

  private void checkNext() {
    Output next;
    synchronized (this) {
      next = unchecked.hasNext() ? unchecked.next() : null;
    }
    if (next == null) {
      partEnded();
    } else {
      new Check(next).submit();
    }
  }

  /** Asks whether the node of a stream is still there. */
  private final class Check extends OperationCall<FindExtents.Request, FindExtents.Response> {
    private final Output output;

    Check(Output output) {
      super(NameNodeOperations.FIND_EXTENTS);
      this.output = output;
      FindExtents.Request request = new FindExtents.Request(output.id(), 0, 0);
      prepare(
          context.namenodes().route(NameNodeOperations.FIND_EXTENTS, request),
          request,
          remove.deadlineNanos() + context.rpcTimeoutNanos());
    }

    @Override
    protected void completed() {
      CrailException failure = failure();
      if (failure == null || failure.code() == ErrorCode.STALE_NODE) {
        if (failure != null) {
          end(output);
        }
        checkNext();
      } else {
        // The namenode does not answer. The remaining streams find out by themselves.
        partEnded();
      }
    }
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public long deadlineNanos() {
    long endNanos =
        store.streams().outputs().isEmpty()
            ? 0
            : store.streams().timeoutNanos(0) + context.spacePatienceNanos();
    return remove.deadlineNanos() + 2 * context.rpcTimeoutNanos() + endNanos;
  }

  @Override
  public CrailNode result() {
    return node;
  }

  @Override
  public String toString() {
    return NameNodeOperations.REMOVE + " " + path;
  }
}
