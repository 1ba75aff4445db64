/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeTable;
import io.crail.namenode.tree.Share;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Examine.Finding;
import io.crail.protocol.cluster.Examine.Lease;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the nodes whose bytes cannot be read, and those with write leases. The namenode continues
 * in the meantime, so a page shows each node as it was at a moment of its own.
 */
final class NameNodeExamination {
  /** The most extents of a page, since other requests wait while it is made. */
  private static final int MOST_EXTENTS = 2048;

  /** The most nodes of a page. */
  private static final int MOST_NODES = 1024;

  /** The most places of the table that a page looks at, since most of them may be empty. */
  private static final int MOST_SLOTS = 1 << 14;

  private NameNodeExamination() {}

  /**
   * One page.
   *
   * @param caller who asks
   */
  static Examine.Response page(NameNode namenode, Examine.Request request, Caller caller) {
    Page page = new Page(namenode, request);
    long next = namenode.tree().walk(Math.max(0, request.cursor()), MOST_SLOTS, page);
    return new Examine.Response(
        next,
        page.stoppedIn,
        page.stoppedAt,
        page.nodes - page.shares,
        page.allocated,
        page.findings,
        page.leases);
  }

  private static final class Page implements NodeTable.Visitor {
    private final NameNode namenode;
    private final Examine.Request request;
    private final Map<DatanodeSpace, Integer> kinds = new IdentityHashMap<>();
    private final List<Finding> findings = new ArrayList<>();
    private final List<Lease> leases = new ArrayList<>();
    private int findingsLength;
    private int leasesLength;
    private int nodes;
    private int shares;
    private int extents;
    private long allocated;
    private long stoppedIn;
    private int stoppedAt;

    Page(NameNode namenode, Examine.Request request) {
      this.namenode = namenode;
      this.request = request;
    }

    @Override
    public boolean visit(Node node) {
      if (nodes == MOST_NODES || extents >= MOST_EXTENTS) {
        return false;
      }
      int begun = node.id() == request.id() ? Math.max(0, request.extent()) : 0;
      if (begun == 0 && !addLease(node)) {
        return false;
      }
      NodeSpace space = node.space();
      if (space == null) {
        nodes++;
        // The directory is a node of its owner.
        shares += node instanceof Share ? 1 : 0;
        return true;
      }
      int from = Math.min(begun, space.count());
      int to = Math.min(space.count(), from + MOST_EXTENTS - extents);
      if (!examine(node, space, from, to)) {
        if (begun == 0) {
          leases.removeIf(lease -> lease.id() == node.id());
        }
        return false;
      }
      if (to < space.count()) {
        stoppedIn = node.id();
        stoppedAt = to;
        return false;
      }
      nodes++;
      return true;
    }

    /** Adds a write lease; false when it does not fit into this page. */
    private boolean addLease(Node node) {
      if (namenode.tree().isDetached(node)) {
        return true;
      }
      Lease found = namenode.locks().of(node, () -> lease(node));
      if (found == null) {
        return true;
      }
      if (leasesLength + found.wireLength() > Examine.MAX_LEASES_LENGTH) {
        return false;
      }
      leases.add(found);
      leasesLength += found.wireLength();
      return true;
    }

    /** The write lease of a node, under its lock; null for none. */
    private Lease lease(Node node) {
      WriteLease<Node> lease = node.lease();
      long now = namenode.clock().nanoTime();
      return lease == null
          ? null
          : new Lease(
              node.id(),
              lease.client().clientId(),
              lease.isHeld(),
              Math.max(0, now - lease.grantedNanos()) / 1_000_000,
              (lease.endNanos() - now) / 1_000_000,
              Utf8.of(node.path().toString()));
    }

    /** Examines some extents; false when what was found does not fit into this page. */
    private boolean examine(Node node, NodeSpace space, int from, int to) {
      boolean detached = namenode.tree().isDetached(node);
      int worst = 0;
      int datanode = 0;
      long bytes = 0;
      long sum = 0;
      for (int i = from; i < to; i++) {
        Allocation extent = space.at(i);
        DatanodeSpace place = extent.datanode();
        int kind = kinds.computeIfAbsent(place, this::kindOf);
        // A removed node counts until it is taken apart, but its bytes are no loss.
        if (kind != 0 && !detached) {
          bytes += Math.max(0, Math.min(extent.fileEnd(), space.size()) - extent.fileOffset());
          datanode = worst == 0 ? place.id() : datanode;
          worst = worst == 0 ? kind : Math.min(worst, kind);
        }
        sum += extent.allocatedLength();
      }
      if (worst == 0 && request.all() && !detached && to > from) {
        worst = Examine.READABLE;
        long end = Math.min(space.at(to - 1).fileEnd(), space.size());
        bytes = Math.max(0, end - space.at(from).fileOffset());
      }
      if (worst != 0 && bytes > 0) {
        Utf8 path = Utf8.of(node.path().toString());
        Finding finding = new Finding(worst, node.id(), bytes, space.size(), datanode, path);
        if (findingsLength + finding.wireLength() > Examine.MAX_FINDINGS_LENGTH) {
          // So that the next page begins with it.
          stoppedIn = from == 0 ? 0 : node.id();
          stoppedAt = from;
          return false;
        }
        findings.add(finding);
        findingsLength += finding.wireLength();
      }
      extents += to - from;
      allocated += sum;
      return true;
    }

    private int kindOf(DatanodeSpace datanode) {
      if (datanode.isGone()) {
        return Examine.LOST;
      }
      return namenode.datanodes().isOnline(datanode) ? 0 : Examine.SILENT;
    }
  }
}
