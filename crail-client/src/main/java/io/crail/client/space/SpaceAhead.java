/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.client.loop.LoopContext;
import io.crail.common.Utf8;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Space for values that are not put yet. A store that puts one value after the other into the same
 * table asks with each for the space of the next. Where that lies on this host, the bytes of the
 * next one are copied there first, and its create is all that is asked of the namenode: one request
 * in place of two. Where it lies elsewhere they leave beside the create, not after its answer.
 *
 * <p>Space is asked for ahead as soon as a second value of about the same length comes soon enough,
 * so each value that is under way brings the space of one more, and a single one none. What nobody
 * has begun to write to is given back when it is too old to be used: where datanodes check no
 * generations, this store would be cut off from one before others may have that space. What
 * somebody may be writing to the namenode has again a lease later. Thread-safe.
 */
public final class SpaceAhead {
  /** Most bytes that are given ahead, or asked for, at a time. */
  static final long MOST_BYTES = 64L << 20;

  /** So many are given back at a time. */
  private static final int MOST_RETURNED = 64;

  /** Tables, and lengths of their values, that are kept in mind. */
  private static final int MOST_KINDS = 64;

  /**
   * What values have in common that may have each other's space.
   *
   * @param namenode its index
   * @param table path of their container
   * @param storageClass theirs, or the container's
   * @param strict whether they take space of no other
   * @param host the one asked for
   * @param length bytes of their extent
   */
  public record Kind(
      int namenode, String table, int storageClass, boolean strict, Utf8 host, int length) {}

  /**
   * An extent that nobody else has for a while.
   *
   * @param id names it at the namenode
   * @param token of the request that it came with
   * @param validUntilNanos when the last write to it has to be over
   * @param incarnation which start of the namenode has given it
   */
  public record Grant(long id, long token, Extent extent, long validUntilNanos, long incarnation) {}

  /**
   * How to put a value.
   *
   * @param grant where to write it; null when it goes the long way
   * @param asks whether to ask for the space of the next one
   */
  public record Plan(Grant grant, boolean asks) {}

  /** A value of which nothing is known. */
  static final Plan NONE = new Plan(null, false);

  /** The values of a kind. */
  private static final class Sequence {
    final ArrayDeque<Grant> grants = new ArrayDeque<>();
    long lastNanos;
    long leaseNanos;
  }

  // Guarded by "this", and so are the sequences.
  private final LinkedHashMap<Kind, Sequence> sequences = new LinkedHashMap<>(16, 0.75f, true);

  /** What will not be used any more, and is not the namenode's again yet. */
  private final ArrayDeque<Grant> unused = new ArrayDeque<>();

  /** What will not be used any more, and nobody has begun to write to. */
  private final ArrayDeque<Grant> untouched = new ArrayDeque<>();

  private volatile boolean any;

  /** Of what is asked for, there to be used, or unused. */
  private long bytes;

  /**
   * Plans a put; if it asks, {@link #answered} follows.
   *
   * @param leaseNanos of the namenode
   * @param incarnation of the namenode, as it was heard of last
   */
  public synchronized Plan plan(Kind kind, long nowNanos, long leaseNanos, long incarnation) {
    forgetEnded(unused, nowNanos);
    forgetEnded(untouched, nowNanos);
    Sequence sequence = sequences.get(kind);
    if (sequence == null) {
      sequence = new Sequence();
      sequences.put(kind, sequence);
      sequence.lastNanos = nowNanos;
      forgetEldest();
      return NONE;
    }
    boolean goesOn = nowNanos - sequence.lastNanos < leaseNanos / 2;
    sequence.lastNanos = nowNanos;
    sequence.leaseNanos = leaseNanos;
    Grant grant = takeUsable(sequence, nowNanos, leaseNanos, incarnation);
    boolean asks = goesOn && bytes + kind.length <= MOST_BYTES;
    if (asks) {
      bytes += kind.length;
    }
    return new Plan(grant, asks);
  }

  private Grant takeUsable(Sequence sequence, long nowNanos, long leaseNanos, long incarnation) {
    // The oldest first, so that as few as possible end unused.
    Grant grant = sequence.grants.poll();
    while (grant != null) {
      if (grant.incarnation == incarnation && isUsable(grant, nowNanos, leaseNanos)) {
        bytes -= grant.extent.length();
        return grant;
      }
      untouched.add(grant);
      grant = sequence.grants.poll();
    }
    return null;
  }

  /** Who begins to write has half a lease left. */
  private static boolean isUsable(Grant grant, long nowNanos, long leaseNanos) {
    return grant.validUntilNanos - nowNanos >= leaseNanos / 2;
  }

  private void forgetEnded(ArrayDeque<Grant> grants, long nowNanos) {
    while (!grants.isEmpty() && nowNanos - grants.peek().validUntilNanos >= 0) {
      bytes -= grants.poll().extent.length();
    }
  }

  private void forgetEldest() {
    if (sequences.size() > MOST_KINDS) {
      Iterator<Sequence> eldest = sequences.values().iterator();
      untouched.addAll(eldest.next().grants);
      eldest.remove();
    }
  }

  /**
   * The request has ended that has asked for space.
   *
   * @param grant what has come, or null
   */
  public synchronized void answered(Kind kind, Grant grant) {
    bytes -= kind.length;
    if (grant == null) {
      return;
    }
    any = true;
    bytes += grant.extent.length();
    Sequence sequence = sequences.get(kind);
    if (sequence != null && grant.extent.length() == kind.length) {
      sequence.grants.add(grant);
    } else {
      untouched.add(grant);
    }
  }

  /** What was planned to be written to waits for the next value. */
  public synchronized void notYet(Kind kind, Grant grant) {
    any = true;
    bytes += grant.extent.length();
    Sequence sequence = sequences.get(kind);
    if (sequence != null) {
      sequence.grants.addFirst(grant);
    } else {
      untouched.add(grant);
    }
  }

  /** What was planned to be written to will not be used, or nobody knows. */
  public synchronized void unused(Grant grant) {
    bytes += grant.extent.length();
    unused.add(grant);
  }

  /** True while there may be something to give back. */
  public boolean hasSome() {
    return any;
  }

  /** Gives back what is too old to be used, and was not; called now and then. */
  public void tick(LoopContext context, long nowNanos) {
    if (!any) {
      return;
    }
    for (Grant grant : takeUntouched(nowNanos)) {
      // Whether it arrives is all the same: if not, it is as it is with what was begun.
      SetSize.Request end = new SetSize.Request(grant.id, grant.token, 0, SetSize.END);
      context.namenodes().call(NameNodeOperations.SET_SIZE, end);
    }
  }

  /** Takes out what is too old to be used, and nobody has begun to write to. */
  synchronized List<Grant> takeUntouched(long nowNanos) {
    boolean some = false;
    for (Sequence sequence : sequences.values()) {
      Grant oldest = sequence.grants.peek();
      while (oldest != null && !isUsable(oldest, nowNanos, sequence.leaseNanos)) {
        untouched.add(sequence.grants.poll());
        oldest = sequence.grants.peek();
      }
      some |= oldest != null;
    }
    List<Grant> taken = new ArrayList<>();
    while (!untouched.isEmpty() && taken.size() < MOST_RETURNED) {
      Grant grant = untouched.poll();
      bytes -= grant.extent.length();
      taken.add(grant);
    }
    any = some || !untouched.isEmpty();
    return taken;
  }

  /** Bytes that are given ahead, or asked for; for tests. */
  synchronized long bytes() {
    return bytes;
  }
}
