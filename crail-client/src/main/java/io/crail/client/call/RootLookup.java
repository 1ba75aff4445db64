/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.StoreContext;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.part.NodePath;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A lookup of the root, which every namenode has. The first answer is taken, so the root is found
 * as long as one namenode is up.
 */
public final class RootLookup extends Completion implements Awaitable<CrailNode> {
  private final LoopContext context;
  private final long deadlineNanos;
  private final AtomicInteger left;
  private volatile CrailNode node;

  private RootLookup(LoopContext context) {
    this.context = context;
    this.deadlineNanos = context.namenodes().newDeadlineNanos();
    this.left = new AtomicInteger(context.namenodes().count());
  }

  /** Asks all namenodes. */
  public static RootLookup submit(StoreContext store, LoopContext context) {
    RootLookup lookup = new RootLookup(context);
    NameNodeClient namenodes = context.namenodes();
    String name = NodePath.ROOT.toString();
    for (int i = 0; i < namenodes.count(); i++) {
      LookupCall call = new LookupCall(store, context, namenodes.peer(i), name, NodePath.ROOT);
      call.whenComplete(() -> lookup.answered(call));
      call.submit();
    }
    return lookup;
  }

  private void answered(LookupCall call) {
    boolean last = left.decrementAndGet() == 0;
    if (!call.isFailed()) {
      node = call.result();
      succeed();
    } else if (last) {
      // Without effect when another namenode has answered before.
      fail(call.failure());
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
    return "lookup /";
  }
}
