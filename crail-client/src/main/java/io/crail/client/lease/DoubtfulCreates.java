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
 * Failed creates that may have taken place, and creates whose lease could not be given back. If
 * such a create took place, its node has a write lease, and the node of a put has space for all
 * bytes. Nobody uses them, but every lease that this client gets or renews prolongs them. So the
 * path is looked up some time later, when the request can hardly be in flight any more, and the
 * lease that the create asked for is given back. If bytes may still be in flight to its space, the
 * lease is left to run out instead. If the path names a node that another client made, the namenode
 * refuses the token. A node that is no longer found under its path keeps its lease until this
 * client falls silent. Thread-safe.
 */
public final class DoubtfulCreates {
  /**
   * Most creates that are remembered. Above that, the namenode ends what it has granted when this
   * client falls silent.
   */
  private static final int MAX_WAITING = 1 << 16;

  /** Most lookups at a time. */
  private static final int MAX_ASKED = 64;

  private record Doubt(
      LoopContext context, String path, long id, long token, int close, long dueNanos) {}

  /** In the order in which they are due. Guarded by "this". */
  private final ArrayDeque<Doubt> waiting = new ArrayDeque<>();

  // Guarded by "this".
  private int asked;

  private volatile boolean any;

  /**
   * Notes a create that has failed just now, or whose lease could not be given back.
   *
   * @param id the node; 0 when nobody knows it
   * @param close how its lease is to end, as in {@link SetSize}
   */
  public void add(LoopContext context, String path, long id, long token, int close) {
    long dueNanos = context.nanoTime() + context.rpcTimeoutNanos();
    synchronized (this) {
      if (waiting.size() < MAX_WAITING) {
        waiting.addLast(new Doubt(context, path, id, token, close, dueNanos));
        any = true;
      }
    }
  }

  /** Lets the lease of a node run out now, since bytes may still be in flight to its space. */
  public void expire(LoopContext context, String path, long id, long token) {
    Doubt doubt = new Doubt(context, path, id, token, SetSize.EXPIRE, 0);
    LeaseReturn.Try back = tried(doubt, id);
    back.whenComplete(() -> addAgain(doubt, back.failure()));
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
    if (doubt.id != 0) {
      giveBack(doubt, doubt.id);
      return;
    }
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
    LeaseReturn.Try back = tried(doubt, id);
    back.whenComplete(() -> ended(doubt, back.failure()));
  }

  private static LeaseReturn.Try tried(Doubt doubt, long id) {
    return new LeaseReturn(
            doubt.context,
            doubt.path,
            null,
            id,
            doubt.token,
            0,
            doubt.close,
            SmallValue.NONE,
            gone -> {})
        .tried();
  }

  private void ended(Doubt doubt, CrailException failure) {
    synchronized (this) {
      asked--;
    }
    addAgain(doubt, failure);
  }

  private void addAgain(Doubt doubt, CrailException failure) {
    if (failure != null && LeaseReturn.isDoubtful(failure)) {
      add(doubt.context, doubt.path, doubt.id, doubt.token, doubt.close);
    }
  }
}
