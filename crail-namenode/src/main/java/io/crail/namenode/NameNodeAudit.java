/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.quota.QuotaAudit;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.SpaceAudit;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.user.UserNames;
import io.crail.rpc.reply.ReplyCache;
import java.util.HashMap;
import java.util.Map;

/** Counts all that a namenode has, and compares; for tests. Stateless. */
final class NameNodeAudit {
  private NameNodeAudit() {}

  /**
   * Counts all nodes and all space, and looks for space that has two owners, while nothing changes.
   *
   * @throws AssertionError that names what is wrong
   */
  static void verify(State state, NameNodeOptions options, ReplyCache replies) {
    Map<DatanodeSpace, Long> used = new HashMap<>();
    SpaceAudit audit = new SpaceAudit(options.blockSize());
    long[] small = new long[1];
    long[] heap = new long[1];
    long[] names = new long[1];
    QuotaAudit quotas = new QuotaAudit();
    state
        .tree()
        .walk(
            0,
            Long.MAX_VALUE,
            node -> {
              heap[0] += node.footprint() + state.tree().extras().footprint(node);
              names[0] += namesOf(node);
              NodeSpace space = node.space();
              if (space != null && space.small() != null) {
                small[0] += space.small().footprint();
                heap[0] += SmallBytes.HEAP;
              }
              for (int i = 0; space != null && i < space.count(); i++) {
                Allocation extent = space.at(i);
                used.merge(extent.datanode(), (long) extent.allocatedLength(), Long::sum);
                extent.audit(audit, node);
              }
              heap[0] += space == null ? 0 : space.count() * Allocation.FOOTPRINT;
              quotas.add(Container.quotaOf(node), Quota.bytesOf(space), node.isPending() ? 0 : 1);
              if (node instanceof Container container) {
                heap[0] += container.hasOwnQuota() ? Quota.FOOTPRINT : 0;
                quotas.add(container.quota(), 0, 0);
              }
              return true;
            });
    state.datanodes().verify(used, state.space(), state.moves(), audit);
    if (small[0] != state.values().used()) {
      throw new AssertionError(
          "small values of " + small[0] + " bytes, counted as " + state.values().used());
    }
    state.tree().verify();
    quotas.verify();
    long counted =
        heap[0]
            + state.tree().tableBytes()
            + state.leases().footprint()
            + state.users().footprint()
            + state.hosts().footprint()
            + replies.footprint()
            + state.datanodes().footprint(state.space(), state.moves());
    if (names[0] != state.users().held()) {
      throw new AssertionError(
          names[0] + " owners and groups of nodes, counted as " + state.users().held());
    }
    if (counted != state.budget().used()) {
      throw new AssertionError(counted + " bytes of heap, counted as " + state.budget().used());
    }
  }

  /** How many names other than {@link UserNames#OWN} a node holds. */
  private static int namesOf(Node node) {
    return (node.owner() == UserNames.OWN ? 0 : 1) + (node.group() == UserNames.OWN ? 0 : 1);
  }
}
