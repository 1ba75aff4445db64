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
 * table asks with each put for the space of the next. If that space lies on this host, the bytes of
 * the next value are copied there first, and the put needs one request to the namenode instead of
 * two. If the space lies on another host, the bytes leave beside the create, not after its answer.
 *
 * <p>Space is asked for ahead as soon as a second value of about the same length comes soon enough.
 * So each value that is being put brings the space of one more, and a single value brings none.
 * Space that no write has begun to use is given back when it is too old to be used. Otherwise,
 * where datanodes check no generations, this store would be cut off from a datanode before another
 * node may have that space. Space that a write may still use returns to the namenode one lease
 * later. Thread-safe.
 */
public final class SpaceAhead {
  /** Most bytes that are given ahead or asked for at a time. */
  static final long MOST_BYTES = 64L << 20;

  /** Most extents that are given back at a time. */
  private static final int MOST_RETURNED = 64;

  /** Most kinds (a table and a length of its values) that are remembered. */
  private static final int MOST_KINDS = 64;

  /**
   * Values of one kind can use each other's space.
   *
   * @param namenode the namenode's index
   * @param table path of their container
   * @param storageClass their storage class, or that of the container
   * @param strict whether they take space of no other storage class
   * @param host the host asked for
   * @param length bytes of their extent
   */
  public record Kind(
      int namenode, String table, int storageClass, boolean strict, Utf8 host, int length) {}

  /**
   * An extent that is reserved for this store for a while.
   *
   * @param id names it at the namenode
   * @param token the token of the request that it came with
   * @param validUntilNanos when the last write to it must have ended
   * @param incarnation which start of the namenode has given it
   */
  public record Grant(long id, long token, Extent extent, long validUntilNanos, long incarnation) {}

  /**
   * How to put a value.
   *
   * @param grant where to write the value; null when there is no space ahead
   * @param asks whether to ask for the space of the next value
   */
  public record Plan(Grant grant, boolean asks) {}

  /** The plan for a value of which nothing is known. */
  static final Plan NONE = new Plan(null, false);

  /** The values of a kind. */
  private static final class Sequence {
    final ArrayDeque<Grant> grants = new ArrayDeque<>();
    long lastNanos;
    long leaseNanos;
  }

  // Guarded by "this", and so are the sequences.
  private final LinkedHashMap<Kind, Sequence> sequences = new LinkedHashMap<>(16, 0.75f, true);

  /** Space that will not be used any more and has not returned to the namenode yet. */
  private final ArrayDeque<Grant> unused = new ArrayDeque<>();

  /** Space that will not be used any more and that no write has begun to use. */
  private final ArrayDeque<Grant> untouched = new ArrayDeque<>();

  private volatile boolean any;

  /** Bytes of all space that is asked for, ready to be used, or unused. */
  private long bytes;

  /**
   * Plans a put; if it asks, {@link #answered} follows.
   *
   * @param leaseNanos of the namenode
   * @param incarnation the latest start of the namenode that is known
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

  /** A write that begins must have half a lease left. */
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
   * The request that asked for space has ended.
   *
   * @param grant the space that has come, or null
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

  /** Planned space was not used and waits for the next value. */
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

  /** Planned space will not be used, or may have been used in vain. */
  public synchronized void unused(Grant grant) {
    bytes += grant.extent.length();
    unused.add(grant);
  }

  /** True while there may be space to give back. */
  public boolean hasSome() {
    return any;
  }

  /** Gives back unused space that is too old to be used; called now and then. */
  public void tick(LoopContext context, long nowNanos) {
    if (!any) {
      return;
    }
    for (Grant grant : takeUntouched(nowNanos)) {
      // The request may get lost: then this space returns a lease later, as space that a write has
      // begun to use.
      SetSize.Request end = new SetSize.Request(grant.id, grant.token, 0, SetSize.END);
      context.namenodes().call(NameNodeOperations.SET_SIZE, end);
    }
  }

  /** Takes out the space that is too old to be used and that no write has begun to use. */
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

  /** Bytes that are given ahead or asked for; for tests. */
  synchronized long bytes() {
    return bytes;
  }
}
