/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.NodeHandles;
import io.crail.client.node.StoreContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Rename;
import io.crail.protocol.part.NodePath;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A rename. It stays at one namenode. What the client knows of spread directories may be old or
 * incomplete, and then says that the paths are at different ones. So both are looked up before the
 * rename is refused: the client learns by that.
 */
public final class RenameCall extends Completion implements Awaitable<CrailNode> {
  /** An old way is forgotten at the first time, and a new one learned at the second. */
  private static final int MOST_LOOKS = 2;

  private final StoreContext store;
  private final LoopContext context;
  private final Rename.Request request;
  private final long deadlineNanos;
  private final AtomicInteger left = new AtomicInteger();
  private int looks;
  private volatile CrailException silence;
  private volatile CrailNode node;

  /** Creates a call; {@link #submit} starts it. */
  public RenameCall(StoreContext store, LoopContext context, Rename.Request request) {
    this.store = store;
    this.context = context;
    this.request = request;
    // One more rename than looks.
    this.deadlineNanos =
        context.namenodes().newDeadlineNanos() + 2 * MOST_LOOKS * context.rpcTimeoutNanos();
  }

  /** Sends the first request. */
  public void submit() {
    if (isAcross()) {
      look();
    } else {
      rename();
    }
  }

  /** Whether the paths are at different namenodes, as far as the client knows. */
  private boolean isAcross() {
    NameNodeClient namenodes = context.namenodes();
    // The root is at all of them, and refused by any.
    return !request.source().equals(NodePath.ROOT)
        && !request.target().equals(NodePath.ROOT)
        && NodePath.namenodeOf(namenodes.routed(request.source()), namenodes.count())
            != NodePath.namenodeOf(namenodes.routed(request.target()), namenodes.count());
  }

  private void rename() {
    OperationCall<Rename.Request, Rename.Response> call =
        new OperationCall<>(NameNodeOperations.RENAME);
    context.prepare(call, request);
    call.whenComplete(() -> renamed(call));
    call.submit();
  }

  private void renamed(OperationCall<Rename.Request, Rename.Response> call) {
    CrailException failure = call.failure();
    if (failure == null) {
      String path = request.target().toString();
      node = NodeHandles.of(store, path, call.response().node(), List.of(), 0);
      succeed();
    } else if (failure.code() == ErrorCode.CROSS_NAMENODE && looks < MOST_LOOKS) {
      // It has learned one path on the way, and may not know the other.
      look();
    } else {
      fail(failure);
    }
  }

  private void look() {
    looks++;
    silence = null;
    left.set(2);
    look(new Lookup.Request(request.source()));
    look(new Lookup.Request(request.target()));
  }

  private void look(Lookup.Request path) {
    OperationCall<Lookup.Request, Lookup.Response> call =
        new OperationCall<>(NameNodeOperations.LOOKUP);
    context.prepare(call, path);
    call.whenComplete(() -> looked(call.failure()));
    call.submit();
  }

  private void looked(CrailException failure) {
    if (failure != null
        && (failure.code() == ErrorCode.TIMED_OUT
            || failure.code() == ErrorCode.UNAVAILABLE
            || failure.code() == ErrorCode.CLOSED)) {
      silence = failure;
    }
    if (left.decrementAndGet() > 0) {
      return;
    }
    if (!isAcross()) {
      rename();
    } else if (silence != null) {
      fail(silence);
    } else if (looks < MOST_LOOKS) {
      look();
    } else {
      fail(ErrorCode.CROSS_NAMENODE.exception(request.source() + " to " + request.target()));
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
  public CrailNode result() {
    return node;
  }

  @Override
  public String toString() {
    return NameNodeOperations.RENAME + " " + request.source() + " to " + request.target();
  }
}
