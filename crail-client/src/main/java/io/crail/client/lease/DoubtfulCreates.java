/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.LoopContext;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.SetSize;
import java.util.ArrayDeque;

/**
 * Failed creates that may have taken place. If one did, its node has a write lease, and the node of
 * a put has space for all bytes. They are not used, but every lease that this client gets or renews
 * prolongs them. So the path is looked up some time later, when the request can hardly be in flight
 * any more, and the lease that the create asked for is given back. If the path names a node that
 * another client made, the namenode refuses the token. A node that is no longer found under its
 * path keeps its lease until this client falls silent. Thread-safe.
 */
public final class DoubtfulCreates {
  /**
   * Most creates that are remembered. Above that, the namenode ends what it has granted when this
   * client falls silent.
   */
  private static final int MAX_WAITING = 1 << 16;

  /** Most lookups at a time. */
  private static final int MAX_ASKED = 64;

  private record Doubt(LoopContext context, String path, long token, long dueNanos) {}

  /** In the order in which they are due. Guarded by "this". */
  private final ArrayDeque<Doubt> waiting = new ArrayDeque<>();

  // Guarded by "this".
  private int asked;

  private volatile boolean any;

  /** Notes a create that has failed just now, with the lease that it asked for. */
  public void add(LoopContext context, String path, long token) {
    long dueNanos = context.nanoTime() + context.rpcTimeoutNanos();
    synchronized (this) {
      if (waiting.size() < MAX_WAITING) {
        waiting.addLast(new Doubt(context, path, token, dueNanos));
        any = true;
      }
    }
  }

  /** Looks up the creates that are due; called now and then. */
  void tick(long nowNanos) {
    if (!any) {
      return;
    }
    Doubt next = next(nowNanos);
    for (int i = 1; next != null; i++) {
      lookUp(next);
      next = i < MAX_ASKED ? next(nowNanos) : null;
    }
  }

  private synchronized Doubt next(long nowNanos) {
    Doubt first = waiting.peekFirst();
    if (first == null || asked == MAX_ASKED || nowNanos - first.dueNanos < 0) {
      return null;
    }
    waiting.removeFirst();
    any = !waiting.isEmpty();
    asked++;
    return first;
  }

  private void lookUp(Doubt doubt) {
    OperationCall<Lookup.Request, Lookup.Response> lookup =
        doubt
            .context
            .namenodes()
            .call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(doubt.path)));
    lookup.whenComplete(
        () -> {
          if (lookup.isFailed()) {
            ended(doubt, lookup.failure());
          } else {
            giveBack(doubt, lookup.response().node().id());
          }
        });
  }

  private void giveBack(Doubt doubt, long id) {
    LeaseReturn.Try back =
        new LeaseReturn(
                doubt.context,
                doubt.path,
                null,
                id,
                doubt.token,
                0,
                SetSize.END,
                SmallValue.NONE,
                gone -> {})
            .tried();
    back.whenComplete(() -> ended(doubt, back.failure()));
  }

  private void ended(Doubt doubt, CrailException failure) {
    synchronized (this) {
      asked--;
    }
    if (failure != null && LeaseReturn.isDoubtful(failure)) {
      add(doubt.context, doubt.path, doubt.token);
    }
  }
}
