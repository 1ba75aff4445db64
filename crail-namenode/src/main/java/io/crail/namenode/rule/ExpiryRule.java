/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.Outcome;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.SpreadPath;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the nodes whose lifetime is over, as a request would: whoever finds such a node before
 * may still use it, and a compound operation sees it for all of its steps or for none. An access
 * only notes its time; what that puts off is decided here, when the node would have ended. One
 * thread calls {@link #tick}; others may ask meanwhile whether a node is due.
 */
public final class ExpiryRule {
  private static final Logger LOG = LoggerFactory.getLogger(ExpiryRule.class);

  /** Most nodes that are removed in a tick, and how long that may take. */
  private static final int MOST_PER_TICK = 50_000;

  private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** A namenode that stood still for so long may have missed accesses. */
  private static final long STANDSTILL_MILLIS = TimeUnit.SECONDS.toMillis(1);

  /** A shorter standstill than this part of a lifetime leaves time enough for an access. */
  private static final int STANDSTILL_PART = 8;

  /** After this time it is tried again to remove what other namenodes have not let go. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Marks a removal that other namenodes still work on. */
  private static final long UNDER_WAY = Long.MAX_VALUE;

  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final SpreadRule removals;
  private final Clock clock;
  private final RateLimitedLog log;

  /** When those that could not be removed are tried again; the others come from {@link Tree}. */
  private final Map<Node, Long> retries = new ConcurrentHashMap<>();

  /**
   * When the last standstill ended that took at least 2^i milliseconds, in milliseconds since 1970;
   * 0 for none.
   */
  private final AtomicLongArray resumed = new AtomicLongArray(Long.SIZE);

  private final LongAdder expired = new LongAdder();

  // When the last tick ended.
  private long tickNanos;
  private long tickMillis;

  /** Creates the rule. */
  public ExpiryRule(State state, Locks locks, Applier applier, SpreadRule removals, Clock clock) {
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.removals = removals;
    this.clock = clock;
    this.log = new RateLimitedLog(LOG, clock, 1);
    this.tickNanos = clock.nanoTime();
    this.tickMillis = clock.currentTimeMillis();
  }

  /**
   * Begins after a start from records: for any time there was no namenode, which had seen accesses,
   * and the records have none.
   */
  public void replayed() {
    noteStandstill(Long.MAX_VALUE, clock.currentTimeMillis());
  }

  /** Removes what is due. */
  public void tick() {
    long begin = clock.nanoTime();
    long now = clock.currentTimeMillis();
    // A host that was suspended may not count that time as passed.
    noteStandstill(
        Math.max(TimeUnit.NANOSECONDS.toMillis(begin - tickNanos), now - tickMillis), now);
    retries.values().removeIf(at -> at != UNDER_WAY && at - begin <= 0);
    int[] removed = new int[1];
    tree.extras()
        .expiries()
        .visitDue(
            now,
            node -> {
              removed[0] += end(node) ? 1 : 0;
              return removed[0] < MOST_PER_TICK && clock.nanoTime() - begin < MOST_NANOS;
            });
    tickNanos = clock.nanoTime();
    tickMillis = clock.currentTimeMillis();
  }

  /**
   * Nodes whose removal this has begun, each with all below it; one that other namenodes have not
   * let go counts again.
   */
  public long expired() {
    return expired.sum();
  }

  private void noteStandstill(long millis, long nowMillis) {
    if (millis >= STANDSTILL_MILLIS) {
      for (int i = 0; i <= log2(millis); i++) {
        resumed.set(i, nowMillis);
      }
    }
  }

  private static int log2(long number) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(number);
  }

  /** When the last standstill ended in which accesses may have been missed that count. */
  private long resumed(long idleMillis) {
    return resumed.get(log2(Math.max(STANDSTILL_MILLIS, idleMillis / STANDSTILL_PART)) + 1);
  }

  /** Returns whether it did some work. */
  private boolean end(Node node) {
    if (retries.containsKey(node)) {
      return false;
    }
    try {
      if (!locks.of(node, () -> isDue(node))) {
        return true;
      }
      remove(node);
    } catch (CrailException e) {
      boolean hasMoved =
          e.code() == ErrorCode.CONDITION_FAILED
              || e.code() == ErrorCode.NODE_NOT_FOUND
              || e.code() == ErrorCode.PARENT_NOT_FOUND
              || e.code() == ErrorCode.STALE_NODE;
      // A pending value has the name of another node, and others are found in the next tick.
      if (hasMoved && !node.isPending()) {
        retries.remove(node);
      } else {
        retryLater(node);
      }
    } catch (RuntimeException | AssertionError e) {
      // One node must not keep all others from ending.
      retryLater(node);
      log.warn("cannot remove node " + node.id() + " at the end of its lifetime", e);
    }
    return true;
  }

  private void retryLater(Node node) {
    retries.put(node, clock.nanoTime() + RETRY_NANOS);
  }

  private void remove(Node node) throws CrailException {
    retries.put(node, UNDER_WAY);
    Outcome<Remove.Response> outcome =
        removals.remove(
            new Remove.Request(true, node.id(), pathOf(node)), this::isDue, () -> retryLater(node));
    expired.increment();
    if (outcome instanceof Outcome.Now) {
      retries.remove(node);
    }
  }

  /** Whether the lifetime is over and no access has put the end off. Under the node's lock. */
  private boolean isDue(Node node) {
    NodeExtras extras = tree.extras().of(node);
    long now = clock.currentTimeMillis();
    if (extras.endMillis() == 0 || extras.endMillis() > now) {
      return false;
    }
    long idle = extras.idleMillis();
    if (idle == 0) {
      return true;
    }
    // A clock that was set back leaves times that are still to come.
    long last = Math.max(before(node.accessedMillis(), now), before(resumed(idle), now));
    long end = (node.lease() != null ? now : last) + idle;
    if (end <= now) {
      return true;
    }
    applier.putOff(node, end);
    return false;
  }

  /** A time that is over; for one that is not, none. */
  private static long before(long millis, long nowMillis) {
    return millis <= nowMillis ? millis : 0;
  }

  /** The path by which a request would come to the node. */
  private static Utf8 pathOf(Node node) {
    Utf8 path = Utf8.of(node.path());
    Container top = Container.of(node);
    while (top != null && top.parent() != null) {
      top = Container.of(top);
    }
    return top == null || top.topLength() == 0
        ? path
        : SpreadPath.of(top.id(), top.topLength(), path);
  }
}
