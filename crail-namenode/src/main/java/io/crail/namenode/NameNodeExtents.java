/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeTable;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists the extents at a datanode. The namenode continues in the meantime, so a page shows each
 * node as it was at a moment of its own.
 */
final class NameNodeExtents {
  /** The most extents that a page looks at, since other requests wait while it is made. */
  private static final int MOST_EXTENTS = 1 << 13;

  /** The most places of the table that a page looks at, since most of them may be empty. */
  private static final int MOST_SLOTS = 1 << 14;

  private NameNodeExtents() {}

  /**
   * One page.
   *
   * @param caller who asks
   */
  static ListExtents.Response page(NameNode namenode, ListExtents.Request request, Caller caller) {
    Page page = new Page(namenode, request);
    long next = namenode.tree().walk(Math.max(0, request.cursor()), MOST_SLOTS, page);
    return new ListExtents.Response(next, page.stoppedIn, page.stoppedAt, page.found);
  }

  private static final class Page implements NodeTable.Visitor {
    private final NameNode namenode;
    private final ListExtents.Request request;
    private final List<Placed> found = new ArrayList<>();
    private int looked;
    private long stoppedIn;
    private int stoppedAt;

    Page(NameNode namenode, ListExtents.Request request) {
      this.namenode = namenode;
      this.request = request;
    }

    @Override
    public boolean visit(Node node) {
      NodeSpace space = node.space();
      int count = space == null || namenode.tree().isDetached(node) ? 0 : space.count();
      for (int i = node.id() == request.id() ? Math.max(0, request.extent()) : 0; i < count; i++) {
        if (looked == MOST_EXTENTS || found.size() == ListExtents.MAX_EXTENTS) {
          stoppedIn = node.id();
          stoppedAt = i;
          return false;
        }
        looked++;
        Allocation extent = space.at(i);
        if (isAsked(extent)) {
          found.add(
              new Placed(
                  node.id(),
                  extent.fileOffset(),
                  extent.length(),
                  extent.place(),
                  extent.allocatedLength()));
        }
      }
      return true;
    }

    private boolean isAsked(Allocation extent) {
      return request.datanode() == ListExtents.ANY_DATANODE
          || extent.datanode().id() == request.datanode();
    }
  }
}
