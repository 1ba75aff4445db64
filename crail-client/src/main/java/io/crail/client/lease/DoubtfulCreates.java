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
 * Creates that have failed so that they may have taken place, and those of which a lease could not
 * be given back. If one has, its node has a write lease, and that of a put space for all bytes;
 * nobody uses them, and all that this client gets and renews prolongs them. So a while later, when
 * the request can hardly be under way any more, its path is looked up, and the lease given back
 * that the create has asked for; if bytes may still be on their way to its space, by letting it run
 * out. A node that is somebody else's refuses that. Who is not found under its path any more keeps
 * its lease until this client falls silent. Thread-safe.
 */
public final class DoubtfulCreates {
  /** Above it the namenode ends what it has granted when this client falls silent. */
  private static final int MAX_WAITING = 1 << 16;

  /** So many are looked up at a time. */
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

  /** Lets the lease of a node run out now, since bytes may still be on their way to its space. */
  public void expire(LoopContext context, String path, long id, long token) {
    Doubt doubt = new Doubt(context, path, id, token, SetSize.EXPIRE, 0);
    LeaseReturn.Try back = tried(doubt, id);
    back.whenComplete(() -> addAgain(doubt, back.failure()));
  }

  /** Looks into those whose time has come; called now and then. */
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
