/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailNode;
import io.crail.common.error.CrailException;
import io.crail.protocol.ListNodes;
import io.crail.protocol.Lookup;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.NodeInfo;
import io.crail.protocol.NodePath;
import io.crail.protocol.OperationCall;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The enumerable children of a container, page by page; the next page is on its way while one is
 * consumed. The root is listed at every namenode. Used by one thread at a time.
 */
final class Listing implements Iterator<CrailNode> {
  private final CoreStore store;
  private final LoopContext context;
  private final String path;
  private final boolean root;
  private final boolean randomize;
  private int namenode;
  private long containerId;
  private OperationCall<ListNodes.Request, ListNodes.Response> following;
  private List<ListNodes.Entry> page = List.of();
  private int index;

  Listing(
      CoreStore store,
      LoopContext context,
      CoreContainer container,
      long containerId,
      boolean randomize) {
    this.store = store;
    this.context = context;
    this.path = container.getPath();
    this.root = container.isRoot();
    this.randomize = randomize;
    this.containerId = containerId;
    this.following = ask(0);
  }

  /** The root of one namenode. */
  static NodeInfo rootAt(LoopContext context, int namenode)
      throws CrailException, InterruptedException {
    return context
        .namenodes()
        .callAt(namenode, NameNodeOperations.LOOKUP, new Lookup.Request(NodePath.ROOT))
        .join()
        .node();
  }

  private OperationCall<ListNodes.Request, ListNodes.Response> ask(long cursor) {
    return context
        .namenodes()
        .call(
            NameNodeOperations.LIST_NODES,
            new ListNodes.Request(containerId, cursor, ListNodes.MAX_ENTRIES));
  }

  @Override
  public boolean hasNext() {
    try {
      return fetch();
    } catch (CrailException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw CoreNode.interrupted(e);
    }
  }

  /** As {@link #hasNext}, with typed errors. */
  boolean fetch() throws CrailException, InterruptedException {
    while (index == page.size()) {
      if (following == null) {
        int next = namenode + 1;
        if (!root || next >= context.namenodes().count()) {
          return false;
        }
        containerId = rootAt(context, next).id();
        namenode = next;
        following = ask(0);
      }
      ListNodes.Response response = following.join();
      following = response.next() == -1 ? null : ask(response.next());
      page = response.entries();
      if (randomize) {
        page = new ArrayList<>(page);
        Collections.shuffle(page, ThreadLocalRandom.current());
      }
      index = 0;
    }
    return true;
  }

  private ListNodes.Entry nextEntry() {
    if (!hasNext()) {
      throw new NoSuchElementException(path + " has no more children");
    }
    return page.get(index++);
  }

  /** The path of the next child. */
  String nextPath() {
    return NodePath.child(path, nextEntry().name().toString());
  }

  @Override
  public CoreNode next() {
    ListNodes.Entry entry = nextEntry();
    return CoreNode.of(
        store, NodePath.child(path, entry.name().toString()), entry.node(), List.of(), 0);
  }
}
