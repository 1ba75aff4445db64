/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.query;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Locks;
import io.crail.namenode.tree.ChildList;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.node.ListNodes;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.List;

/** Lists the children of containers, page by page. Thread-safe. */
public final class NodeLister {
  // The most children that a page looks at, so that unlisted ones cannot make it take long.
  private static final int MAX_VISITED = 4_096;

  private final Tree tree;
  private final Locks locks;

  public NodeLister(Tree tree, Locks locks) {
    this.tree = tree;
    this.locks = locks;
  }

  /**
   * Lists a page of a container's children.
   *
   * @param caller who asks
   */
  public ListNodes.Response list(ListNodes.Request request, Caller caller) throws CrailException {
    Node node = tree.require(request.id());
    if (!(node instanceof Container)) {
      throw ErrorCode.NOT_A_CONTAINER.exception(node.toString());
    }
    if (request.maxEntries() == 0 || request.cursor() < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": cursor " + request.cursor() + ", at most " + request.maxEntries() + " entries");
    }
    Container container = (Container) node;
    Page page = new Page(Math.min(request.maxEntries(), ListNodes.MAX_ENTRIES));
    return locks.of(
        container,
        () -> {
          if (tree.isDetached(container)) {
            throw ErrorCode.STALE_NODE.exception("node " + request.id());
          }
          long next = container.visitFrom(request.cursor(), page);
          return new ListNodes.Response(next, page.entries);
        });
  }

  /** Collects the entries of a page. */
  private static final class Page implements ChildList.Visitor {
    private final List<ListNodes.Entry> entries = new ArrayList<>();
    private final int maxEntries;
    private int length;
    private int visited;

    Page(int maxEntries) {
      this.maxEntries = maxEntries;
    }

    @Override
    public boolean visit(Node child) {
      if (visited++ == MAX_VISITED) {
        return false;
      }
      if (!child.isEnumerable()) {
        return true;
      }
      int entryLength = ListNodes.Entry.LAYOUT.fixedLength() + child.nameLength();
      if (entries.size() == maxEntries || length + entryLength > ListNodes.MAX_ENTRIES_LENGTH) {
        return false;
      }
      byte[] name = child.nameBytes();
      entries.add(new ListNodes.Entry(child.info(), Utf8.copyOf(name, 0, name.length)));
      length += entryLength;
      return true;
    }
  }
}
