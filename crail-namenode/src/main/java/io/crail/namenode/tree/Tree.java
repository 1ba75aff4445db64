/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.HostNames;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * The tree of nodes, and the two tables that find a node by name and by id. Thread-safe.
 *
 * <p>A change of a container's children holds that container's monitor; several are locked in the
 * order of their ids. What was found before is checked again once the locks are held: a container
 * that was removed, or lies below one that was, gets no child. Readers take no lock; {@link
 * RenameSequence} makes renames atomic for them, and for each other, so that no two can make a
 * cycle between them.
 *
 * <p>No node has a path that a request could not name. Each container knows how far the paths below
 * it reach at the most, which whoever comes tells all containers that it lies in before it can be
 * found: it first says so, then looks whether a rename ran meanwhile; a rename first says that it
 * runs, then asks how far its node reaches. So one of two always sees the other.
 *
 * <p>A removed subtree is gone for everybody at once, for nobody reaches it from the root and
 * {@link #isDetached} is true for each of its nodes; taking it apart is left to the {@link
 * NodeRemover}.
 */
public final class Tree {
  // Everybody may create in the root, and remove what is his own.
  private static final int ROOT_PERMISSIONS = 01777;

  private final int index;
  private final int count;
  private final Clock clock;
  private final IdTable ids = new IdTable();
  private final NameTable names;
  private final RenameSequence renames = new RenameSequence();
  private final AtomicLong nextId;
  private final AtomicLong nodes = new AtomicLong(1);
  private final long maxNodes;
  private final Container root;
  private final NodeWriter writer;

  /** Creates a tree that has only the root; {@code writer} frees what nodes have when they go. */
  public Tree(NameNodeOptions options, Clock clock, RandomGenerator random, NodeWriter writer) {
    this.index = options.index();
    this.count = options.count();
    this.maxNodes = options.maxNodes();
    this.clock = clock;
    this.writer = writer;
    this.names = new NameTable(new NameHash(random));
    // Anywhere, so that an id from before a restart names nobody rather than somebody else.
    long start = random.nextLong() >>> 2;
    this.nextId = new AtomicLong(start - Long.remainderUnsigned(start, count) + index);
    this.root =
        new Container(
            newId(), NodeType.DIRECTORY, options.rootClass(), HostNames.ANY, NodeInfo.ENUMERABLE);
    root.attributes(ROOT_PERMISSIONS, UserNames.OWN, UserNames.OWN);
    root.touch(clock.currentTimeMillis());
    root.accessed(root.modifiedMillis());
    ids.add(root);
  }

  public Container root() {
    return root;
  }

  public NameTable names() {
    return names;
  }

  public RenameSequence renames() {
    return renames;
  }

  public IdTable ids() {
    return ids;
  }

  /** The id of the root. */
  public long rootId() {
    return root.id();
  }

  /** Visits nodes as {@link NodeTable#walk} does, in the order of a table of their ids. */
  public long walk(long cursor, long most, NodeTable.Visitor visitor) {
    return ids.walk(cursor, most, visitor);
  }

  /** Compares the sizes of the tables with the number of nodes; for tests. */
  public void verify() {
    if (ids.size() != size() || names.size() + 1 != size()) {
      throw new AssertionError(
          size()
              + " nodes, but "
              + ids.size()
              + " ids and "
              + names.size()
              + " names beside the root");
    }
  }

  /** Nodes in the tree, and those of removed subtrees that are still to be taken apart. */
  public long size() {
    return nodes.get();
  }

  /** The node of an id, also one that is gone but has its space yet; null when there is none. */
  public Node find(long id) {
    return ids.find(id);
  }

  /**
   * The node of an id.
   *
   * @throws CrailException with {@link ErrorCode#WRONG_NAMENODE} when another namenode gave that
   *     id, with {@link ErrorCode#STALE_NODE} when the node is gone
   */
  public Node require(long id) throws CrailException {
    if (count > 1 && Long.remainderUnsigned(id, count) != index) {
      throw ErrorCode.WRONG_NAMENODE.exception("node " + id);
    }
    Node node = ids.find(id);
    if (node == null || isDetached(node)) {
      throw ErrorCode.STALE_NODE.exception("node " + id);
    }
    return node;
  }

  /** True when the node, or a container that it lies in, was removed. */
  public boolean isDetached(Node node) {
    // On the way up, a move may lead past a container that the node no longer lies in; only then
    // is the answer worth a second look.
    return reachesRemoved(node) && renames.read(() -> reachesRemoved(node));
  }

  private static boolean reachesRemoved(Node node) {
    for (Node at = node; at != null; at = at.parent()) {
      if (at.isRemoved()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Where a path leads.
   *
   * @param parent what the last component lies in, or null; may be no container
   * @param child what is there now, or null; the root for the root
   */
  record Place(Node parent, Node child) {
    /** The parent of a child that is there. */
    Container container() {
      return (Container) parent;
    }
  }

  /** Where a path leads, at one moment between renames. */
  Place locate(PathBytes path) {
    return renames.read(() -> walk(path));
  }

  private Place walk(PathBytes path) {
    if (path.isRoot()) {
      return new Place(null, root);
    }
    Node parent = walkToParent(path);
    return new Place(parent, parent instanceof Container container ? child(container, path) : null);
  }

  /** What the last component of a path lies in, or is to: nothing, or perhaps no container. */
  private Node walkToParent(PathBytes path) {
    Node at = root;
    int start = path.firstStart();
    while (start < path.nameStart() && at instanceof Container container) {
      int end = NodeName.endOfComponent(path.bytes(), start, path.nameStart());
      at = names.find(container, path.bytes(), start, end);
      start = end + 1;
    }
    return at;
  }

  /** What the last component of a path is to lie in, with no object but for a failure. */
  Container parentOf(PathBytes path) throws CrailException {
    long before = renames.read();
    Node parent = walkToParent(path);
    return requireContainer(
        renames.isUnchanged(before) ? parent : renames.read(() -> walkToParent(path)), path);
  }

  /** Refuses what is not there, or is no container. */
  static Container requireContainer(Node parent, PathBytes path) throws CrailException {
    if (parent == null) {
      throw ErrorCode.PARENT_NOT_FOUND.exception(path.toString());
    }
    if (!(parent instanceof Container container)) {
      throw ErrorCode.NOT_A_CONTAINER.exception(path.toString());
    }
    return container;
  }

  /** The child of a container that has the last component of a path for a name; or null. */
  Node child(Container container, PathBytes path) {
    return names.find(container, path.bytes(), path.nameStart(), path.end());
  }

  /** True when a node is in its place, and that place in the tree. Under the parent's monitor. */
  boolean isStill(Node node, Container parent, PathBytes path) {
    return child(parent, path) == node && !isDetached(parent);
  }

  /**
   * Whether a container may get a child; notes how far its path will reach, in all that it lies in.
   * Under its monitor.
   *
   * @return false when the container is gone, or was moved since it was found so that the path
   *     would be too long
   */
  boolean admits(Container parent, PathBytes path) {
    if (isDetached(parent)) {
      return false;
    }
    int own = 1 + path.nameLength();
    long before = renames.read();
    int length = extendReach(parent, own);
    if (!renames.isUnchanged(before)) {
      length = renames.read(() -> extendReach(parent, own));
    }
    return length <= NodePath.MAX_LENGTH;
  }

  /** Notes how far paths reach below a container and all that it lies in; their whole length. */
  static int extendReach(Container container, int bytes) {
    int length = bytes;
    for (Container at = container; at.parent() != null; at = at.parent()) {
      at.extendReach(length);
      length += 1 + at.nameLength();
    }
    return length;
  }

  static boolean isWithBytes(Node node) {
    return !(node instanceof Container);
  }

  /** Counts a node that is to come in the place of another, or null. */
  void count(Node old, PathBytes path) throws CrailException {
    if (old == null && nodes.incrementAndGet() > maxNodes) {
      nodes.decrementAndGet();
      throw ErrorCode.LIMIT_EXCEEDED.exception(path + ": there are " + maxNodes + " nodes");
    }
  }

  /** Takes back that a node was counted. */
  void uncount(Node old) {
    if (old == null) {
      nodes.decrementAndGet();
    }
  }

  /** Gives a new node its place, where nobody finds it yet. Under the parent's monitor. */
  void place(Node node, Container parent, PathBytes path, Node old) {
    long now = clock.currentTimeMillis();
    long sequence = old == null ? parent.children().nextSequence() : old.sequence();
    node.place(parent, path.bytes(), path.nameStart(), path.end(), sequence);
    node.touch(now);
    node.accessed(now);
  }

  /**
   * Puts a new node that has its place into the tables and its parent's order; {@code old} is the
   * one whose place it takes, or null. Under the parent's monitor.
   */
  void link(Node node, Node old, Container parent) {
    ids.add(node);
    if (old == null) {
      names.add(node);
      parent.add(node, node.modifiedMillis());
    } else {
      names.replace(old, node);
      parent.replace(old, node, node.modifiedMillis());
      old.markRemoved();
    }
  }

  /** Takes a node out of its parent and the tables. Under the parent's monitor. */
  void unlink(Node node, Container parent) {
    parent.remove(node, clock.currentTimeMillis());
    forget(node);
  }

  /** Takes a node out of the tables; one with bytes is found under its id until it has no space. */
  void forget(Node node) {
    names.remove(node);
    if (node instanceof Container) {
      ids.remove(node);
    } else {
      node.markRemoved();
    }
    nodes.decrementAndGet();
  }

  /** Frees what a node with bytes has, which is marked as removed. */
  void destroy(Node node) {
    writer.destroy(node);
    // Not before, so that the farewell of its writer always meets either the node or its space.
    ids.remove(node);
  }

  /** An id that nobody had before. */
  public long newId() {
    return nextId.addAndGet(count);
  }

  /** Refuses a path that another namenode owns. */
  void requireOwn(PathBytes path) throws CrailException {
    if (!path.isRoot() && path.namenode(count) != index) {
      throw ErrorCode.WRONG_NAMENODE.exception(path.toString());
    }
  }

  /** Refuses to move a node to where another namenode would look for it. */
  void requireOneNamenode(PathBytes source, PathBytes target) throws CrailException {
    if (target.namenode(count) != index) {
      throw ErrorCode.CROSS_NAMENODE.exception(source + " to " + target);
    }
  }

  static void requirePermissions(PathBytes path, int permissions) throws CrailException {
    if ((permissions & ~NodeInfo.PERMISSIONS) != 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + ": permission bits 0" + Integer.toOctalString(permissions));
    }
  }
}
