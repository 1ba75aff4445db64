/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
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

/**
 * Removes the nodes whose lifetime is over, as a request would: whoever finds such a node before
 * may still use it, and a compound operation sees it for all of its steps or for none. An access
 * only notes its time; what that puts off is decided here, when the node would have ended. For one
 * thread.
 */
public final class ExpiryRule {
  /** Most nodes that are looked at in a tick. */
  private static final int MOST_PER_TICK = 50_000;

  /** A namenode that was not here for so long may have missed accesses. */
  private static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What could not be removed is tried again after this time. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The time of a try again that other namenodes are still at. */
  private static final long UNDER_WAY = Long.MAX_VALUE;

  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final SpreadRule removals;
  private final Clock clock;

  /** When those that could not be removed are tried again; the others come from {@link Tree}. */
  private final Map<Node, Long> retries = new ConcurrentHashMap<>();

  private long tickNanos;
  private long resumedMillis;

  /** Creates the rule. */
  public ExpiryRule(State state, Locks locks, Applier applier, SpreadRule removals, Clock clock) {
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.removals = removals;
    this.clock = clock;
    this.tickNanos = clock.nanoTime();
    this.resumedMillis = clock.currentTimeMillis();
  }

  /** Removes what is due. */
  public void tick() {
    long nowNanos = clock.nanoTime();
    long nowMillis = clock.currentTimeMillis();
    if (nowNanos - tickNanos > STANDSTILL_NANOS) {
      resumedMillis = nowMillis;
    }
    tickNanos = nowNanos;
    retries.values().removeIf(at -> at != UNDER_WAY && at - nowNanos <= 0);
    tree.extras().expiries().visitDue(nowMillis, MOST_PER_TICK, node -> end(node, nowMillis));
  }

  private void end(Node node, long nowMillis) {
    if (retries.containsKey(node) || locks.of(node, () -> isPutOff(node, nowMillis))) {
      return;
    }
    long retry = clock.nanoTime() + RETRY_NANOS;
    retries.put(node, UNDER_WAY);
    try {
      Outcome<Remove.Response> outcome =
          removals.remove(
              new Remove.Request(true, node.id(), pathOf(node)),
              found -> isDue(found, nowMillis),
              () -> retries.put(node, retry));
      if (outcome instanceof Outcome.Now) {
        retries.remove(node);
      }
    } catch (CrailException e) {
      // It was renamed meanwhile, or lives longer now, or its value is not whole yet.
      retries.put(node, retry);
    }
  }

  /** Puts the end of a node off that was accessed. Under its lock. */
  private boolean isPutOff(Node node, long nowMillis) {
    NodeExtras extras = tree.extras().of(node);
    if (extras.idleMillis() == 0 || !isOver(extras, nowMillis)) {
      return false;
    }
    long accessed =
        node.lease() != null ? nowMillis : Math.max(node.accessedMillis(), resumedMillis);
    long end = Math.min(accessed, nowMillis) + extras.idleMillis();
    if (end <= nowMillis) {
      return false;
    }
    applier.putOff(node, end, nowMillis);
    return true;
  }

  /** Under the node's lock. */
  private boolean isDue(Node node, long nowMillis) {
    return isOver(tree.extras().of(node), nowMillis) && !isPutOff(node, nowMillis);
  }

  private static boolean isOver(NodeExtras extras, long nowMillis) {
    return extras.endMillis() != 0 && extras.endMillis() <= nowMillis;
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
