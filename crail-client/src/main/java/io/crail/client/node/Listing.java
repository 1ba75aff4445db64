/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailNode;
import io.crail.client.loop.IoWait;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The enumerable children of a container, page by page; the request for the next page is in flight
 * while one page is consumed. The root is listed at every namenode. When a namenode is down, the
 * children at the other namenodes are still listed. Used by one thread at a time.
 */
final class Listing implements Iterator<CrailNode> {
  private final StoreContext store;
  private final LoopContext context;
  private final String path;
  private final boolean isSpread;
  private final boolean randomize;
  // The parts that are still to be listed: the root has one at each namenode.
  private final Deque<NodeInfo> parts = new ArrayDeque<>();
  private final List<MissingNamenode> missing = new ArrayList<>();
  private long containerId;
  private OperationCall<ListNodes.Request, ListNodes.Response> following;
  private List<ListNodes.Entry> page = List.of();
  private int index;

  Listing(StoreContext store, LoopContext context, String path, long containerId, boolean randomize)
      throws CrailException, InterruptedException {
    this.store = store;
    this.context = context;
    this.path = path;
    this.randomize = randomize;
    this.isSpread = path.equals(NodePath.ROOT.toString()) && context.namenodes().count() > 1;
    if (isSpread) {
      Answers<Lookup.Response> roots = rootEverywhere(context);
      roots.present().forEach(root -> parts.add(root.node()));
      missing.addAll(roots.missing());
      this.containerId = parts.remove().id();
    } else {
      this.containerId = containerId;
    }
    this.following = ask(0);
  }

  /** The root of every namenode that answers. */
  static Answers<Lookup.Response> rootEverywhere(LoopContext context)
      throws CrailException, InterruptedException {
    return Answers.of(
        context.namenodes(), NameNodeOperations.LOOKUP, new Lookup.Request(NodePath.ROOT));
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
      throw new UncheckedIOException(IoWait.interrupted(e));
    }
  }

  /**
   * As {@link #hasNext}, with typed errors. The error of a missing part comes after all children of
   * the other parts.
   */
  boolean fetch() throws CrailException, InterruptedException {
    while (index == page.size()) {
      if (following == null && !parts.isEmpty()) {
        containerId = parts.remove().id();
        following = ask(0);
      }
      if (following == null) {
        if (!missing.isEmpty()) {
          throw new IncompleteException(path, missing);
        }
        return false;
      }
      page = nextPage();
      index = 0;
    }
    return true;
  }

  private List<ListNodes.Entry> nextPage() throws CrailException, InterruptedException {
    ListNodes.Response response;
    try {
      response = following.join();
    } catch (CrailException e) {
      if (!isSpread) {
        throw e;
      }
      int count = context.namenodes().count();
      int namenode = (int) Long.remainderUnsigned(containerId, count);
      missing.add(Answers.missing(context.namenodes(), namenode, e));
      following = null;
      return List.of();
    }
    following = response.next() == -1 ? null : ask(response.next());
    List<ListNodes.Entry> entries = response.entries();
    if (randomize) {
      entries = new ArrayList<>(entries);
      Collections.shuffle(entries, ThreadLocalRandom.current());
    }
    return entries;
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
  public CrailNode next() {
    ListNodes.Entry entry = nextEntry();
    return store.handles().of(store, NodePath.child(path, entry.name().toString()), entry.node());
  }
}
