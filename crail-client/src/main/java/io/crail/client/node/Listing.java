/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailNode;
import io.crail.client.loop.IoWait;
import io.crail.client.loop.LoopContext;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
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
import java.util.function.Consumer;

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
  // Null when a part that is missing is an error.
  private final Consumer<MissingNamenode> leftOut;
  // Ids of the shares that are still to be listed, each with its namenode.
  private final Deque<Share> shares = new ArrayDeque<>();
  private final List<MissingNamenode> missing = new ArrayList<>();
  private Share share;
  private OperationCall<ListNodes.Request, ListNodes.Response> following;
  private List<ListNodes.Entry> page = List.of();
  private int index;

  /** A container, or a share of it, at a namenode. */
  private record Share(int namenode, long id) {}

  /**
   * Asks for the first page.
   *
   * @param isSpread whether each namenode has a share of the children
   * @param leftOut gets each namenode whose part is missing; null when that is an error
   */
  Listing(
      StoreContext store,
      LoopContext context,
      String path,
      long containerId,
      boolean isSpread,
      boolean randomize,
      Consumer<MissingNamenode> leftOut)
      throws CrailException, InterruptedException {
    this.store = store;
    this.context = context;
    this.path = path;
    this.randomize = randomize;
    this.leftOut = leftOut;
    this.isSpread = isSpread;
    int count = context.namenodes().count();
    if (isSpread && path.equals(NodePath.ROOT.toString())) {
      Answers<Lookup.Response> roots = everywhere(context, NodePath.ROOT);
      roots
          .present()
          .forEach(root -> shares.add(new Share(owner(root.node().id()), root.node().id())));
      missing.addAll(roots.missing());
    } else if (isSpread) {
      for (int i = 0; i < count; i++) {
        shares.add(new Share(i, containerId));
      }
    } else {
      shares.add(new Share(owner(containerId), containerId));
    }
    this.share = shares.remove();
    this.following = ask(0);
  }

  private int owner(long id) {
    return (int) Long.remainderUnsigned(id, context.namenodes().count());
  }

  /** What every namenode that answers finds at a path. */
  static Answers<Lookup.Response> everywhere(LoopContext context, Utf8 path)
      throws CrailException, InterruptedException {
    return Answers.of(context.namenodes(), NameNodeOperations.LOOKUP, new Lookup.Request(path));
  }

  private OperationCall<ListNodes.Request, ListNodes.Response> ask(long cursor) {
    return context
        .namenodes()
        .callAt(
            share.namenode,
            NameNodeOperations.LIST_NODES,
            new ListNodes.Request(share.id, cursor, ListNodes.MAX_ENTRIES));
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
      if (following == null && !shares.isEmpty()) {
        share = shares.remove();
        following = ask(0);
      }
      if (following == null) {
        if (leftOut != null) {
          missing.forEach(leftOut);
          missing.clear();
        } else if (!missing.isEmpty()) {
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
      if (e.code() == ErrorCode.WRONG_NAMENODE) {
        e = ErrorCode.NO_SHARE.exception(path);
      }
      missing.add(Answers.missing(context.namenodes(), share.namenode, e));
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
