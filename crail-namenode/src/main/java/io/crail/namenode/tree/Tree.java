/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.name.NameHash;
import io.crail.namenode.name.NodeName;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/**
 * The tree of nodes, and the two tables that find a node by name and by id. Thread-safe.
 *
 * <p>A change of a container's children holds that container's monitor. Several containers are
 * locked in the order of their ids. Once the locks are held, the nodes that were found before are
 * checked again: a container that was removed, or lies below a removed one, gets no child. Readers
 * take no lock. {@link RenameSequence} makes renames atomic for readers. It is locked last. A
 * rename of a container excludes all others, so that two renames cannot make a cycle or a path that
 * is too long; those of nodes with bytes do not exclude each other.
 *
 * <p>No node has a path that is too long for a request. Each container knows a limit for how much
 * longer the paths below it are than its own (its reach). Before a new node can be found, it
 * extends the reach of all containers above it. It first does that, then checks whether a rename
 * ran at the same time. A rename first marks that it runs, then reads the reach of its node. So one
 * of the two always sees the other.
 *
 * <p>A removed subtree is gone for all clients at once, since no path leads to it and {@link
 * #isDetached} is true for each of its nodes. The {@link NodeRemover} takes it apart later.
 */
public final class Tree {
  // Every user may create nodes in the root, and remove their own.
  private static final int ROOT_PERMISSIONS = 01777;

  private final int index;
  private final int count;
  private final Clock clock;
  private final HeapBudget budget;
  private final UserNames users;
  private final IdTable ids;
  private final NameTable names;
  private final ComingNodes coming;
  private final RenameSequence renames = new RenameSequence();
  private final AtomicLong nextId;

  /** The number of nodes by type; read only by those who look. */
  private final Map<NodeType, LongAdder> ofType = new EnumMap<>(NodeType.class);

  private final Container root;
  private final NodeWriter writer;

  /** Creates a tree that has only the root; {@code writer} frees what nodes have when they go. */
  public Tree(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      HeapBudget budget,
      UserNames users,
      NodeWriter writer) {
    this.index = options.index();
    this.count = options.count();
    this.clock = clock;
    this.writer = writer;
    this.budget = budget;
    this.users = users;
    this.ids = new IdTable(budget);
    this.names = new NameTable(new NameHash(random), budget);
    this.coming = new ComingNodes(budget);
    // Random, so that an id from before a restart names no node rather than a wrong one.
    long start = random.nextLong() >>> 2;
    this.nextId = new AtomicLong(start - Long.remainderUnsigned(start, count) + index);
    this.root =
        new Container(
            newId(), NodeType.DIRECTORY, options.rootClass(), HostNames.ANY, NodeInfo.ENUMERABLE);
    root.attributes(ROOT_PERMISSIONS, UserNames.OWN, UserNames.OWN);
    budget.add(root.footprint());
    root.touch(clock.currentTimeMillis());
    root.accessed(root.modifiedMillis());
    ids.add(root);
    for (NodeType type : NodeType.values()) {
      ofType.put(type, new LongAdder());
    }
    ofType.get(root.type()).increment();
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

  ComingNodes coming() {
    return coming;
  }

  /** The id of the root. */
  public long rootId() {
    return root.id();
  }

  /** Visits nodes as {@link NodeTable#walk} does, in the order of a table of their ids. */
  public long walk(long cursor, long most, NodeTable.Visitor visitor) {
    return ids.walk(cursor, most, visitor);
  }

  /** Bytes of heap of a node and its name. */
  public long footprint(Node node) {
    return node.footprint();
  }

  /** How many names other than {@link UserNames#OWN} a node holds; for tests. */
  public int namesOf(Node node) {
    return (node.owner() == UserNames.OWN ? 0 : 1) + (node.group() == UserNames.OWN ? 0 : 1);
  }

  /** Bytes of heap of the tables; for tests. */
  public long tableBytes() {
    return ids.bytes() + names.bytes() + coming.bytes();
  }

  /** Compares the sizes of the tables, and the nodes themselves, with their numbers; for tests. */
  public void verify() {
    if (ids.size() != size() || names.size() + coming.size() + 1 != size()) {
      throw new AssertionError(
          size()
              + " nodes, but "
              + ids.size()
              + " ids and "
              + names.size()
              + " names beside the root and "
              + coming.size()
              + " nodes to come");
    }
    Map<NodeType, Long> found = new EnumMap<>(NodeType.class);
    for (NodeType type : NodeType.values()) {
      found.put(type, 0L);
    }
    walk(0, Long.MAX_VALUE, node -> found.merge(node.type(), 1L, Long::sum) > 0);
    if (!found.equals(sizes())) {
      throw new AssertionError(found + " are there, but counted are " + sizes());
    }
  }

  /** The number of nodes in the tree, and in removed subtrees that are not taken apart yet. */
  public long size() {
    return ofType.values().stream().mapToLong(LongAdder::sum).sum();
  }

  /** As {@link #size}, by type; while nodes come and go, not all of one moment. */
  public Map<NodeType, Long> sizes() {
    Map<NodeType, Long> sizes = new EnumMap<>(NodeType.class);
    ofType.forEach((type, count) -> sizes.put(type, Math.max(0, count.sum())));
    return sizes;
  }

  /**
   * The node of an id; null when there is none. Includes removed nodes that still have their space.
   */
  public Node find(long id) {
    return ids.find(id);
  }

  /**
   * The node of an id.
   *
   * @throws CrailException with {@link ErrorCode#WRONG_NAMENODE} when another namenode gave out
   *     that id; with {@link ErrorCode#STALE_NODE} when the node is gone
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
    // Because of a concurrent move, the way up may pass a container that the node no longer lies
    // in. So the answer true is checked again.
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
   * @param parent the node that the last component lies in, or null; it may not be a container
   * @param child the node that is there now, or null; the root for the path of the root
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

  /**
   * As {@link #locate}, but takes no lock for nodes with bytes that are renamed meanwhile. So the
   * child has to be looked at again, under the lock of its parent.
   */
  Place locateBeside(PathBytes path) {
    return renames.readWay(() -> walk(path));
  }

  private Place walk(PathBytes path) {
    if (path.isRoot()) {
      return new Place(null, root);
    }
    Node parent = walkToParent(path);
    return new Place(parent, parent instanceof Container container ? child(container, path) : null);
  }

  /**
   * The node in which the last component of a path is looked up: null when it does not exist; it
   * may not be a container.
   */
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

  /** The container for the last component of a path. Allocates nothing unless it fails. */
  Container parentOf(PathBytes path) throws CrailException {
    long before = renames.read();
    Node parent = walkToParent(path);
    return requireContainer(
        renames.isUnchanged(before) ? parent : renames.read(() -> walkToParent(path)), path);
  }

  /** Refuses a parent that does not exist or is no container. */
  static Container requireContainer(Node parent, PathBytes path) throws CrailException {
    if (parent == null) {
      throw ErrorCode.PARENT_NOT_FOUND.exception(path.toString());
    }
    if (!(parent instanceof Container container)) {
      throw ErrorCode.NOT_A_CONTAINER.exception(path.toString());
    }
    return container;
  }

  /** The child of a container whose name is the last component of a path, or null. */
  Node child(Container container, PathBytes path) {
    return names.find(container, path.bytes(), path.nameStart(), path.end());
  }

  /**
   * True when a node is still at its place and the place is still in the tree. Under the parent's
   * monitor.
   */
  boolean isStill(Node node, Container parent, PathBytes path) {
    return child(parent, path) == node && !isDetached(parent);
  }

  /**
   * Whether a container may get a child. Extends the reach of the container and of all above it.
   * Under its monitor.
   *
   * @return false when the container is gone, or has moved since it was found so that the path
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

  /**
   * Extends the reach of a container and of all containers above it. Returns the length of the
   * whole path.
   */
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

  /**
   * Takes the heap for a new node, which may replace an old one.
   *
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when there is none
   */
  void charge(Node node, Node old, PathBytes path) throws CrailException {
    budget.require(node.footprint(path.nameLength()), old == null ? 0 : old.footprint(), path);
  }

  /** Gives the heap and the names of a node back that was not made, or is not there any more. */
  void discharge(Node node) {
    budget.give(node.footprint());
    users.release(node.owner());
    users.release(node.group());
  }

  /** Takes the heap for a longer name of a node, or gives that of a shorter one back. */
  void chargeName(Node node, PathBytes path) throws CrailException {
    long more = node.footprint(path.nameLength()) - node.footprint();
    if (more > 0) {
      budget.require(more, 0, path);
    } else {
      budget.give(-more);
    }
  }

  /** Gives a new node its place, where no reader finds it yet. Under the parent's monitor. */
  void place(Node node, Container parent, PathBytes path, Node old) {
    long now = clock.currentTimeMillis();
    long sequence = old == null ? parent.children().nextSequence() : old.sequence();
    node.place(parent, path.bytes(), path.nameStart(), path.end(), sequence);
    node.touch(now);
    node.accessed(now);
  }

  /**
   * Adds a placed new node to the tables and its parent's order. It replaces {@code old}, unless
   * that is null: a value by a value that is being put only once that is whole. Under the parent's
   * monitor.
   *
   * @param length the bytes of a value that is being put
   * @return the node that is not found any more, which the caller destroys; or null
   */
  Node link(Node node, Node old, Container parent, long length) {
    ofType.get(node.type()).increment();
    if (old == null) {
      ids.add(node);
      names.add(node);
      parent.add(node, node.modifiedMillis());
      return null;
    }
    if (!node.isBeingPut()) {
      ids.add(node);
      replace(old, node, parent);
      return old;
    }
    // So that a value which its writer ends now is either there before, or refused.
    synchronized (old) {
      boolean waits = old.hasValue();
      node.coming(waits);
      ids.add(node);
      if (!waits) {
        replace(old, node, parent);
        return old;
      }
    }
    return ended(coming.put(old, node, length));
  }

  /** Replaces a node, which the caller destroys. Under the parent's monitor. */
  void replace(Node old, Node node, Container parent) {
    names.replace(old, node);
    parent.replace(old, node, node.modifiedMillis());
    old.markRemoved();
    ofType.get(old.type()).decrement();
  }

  /**
   * Ends the put that is to replace a node. Returns its node, which the caller destroys; or null.
   */
  Node giveUp(Node present) {
    return ended(coming.remove(present));
  }

  private Node ended(Node node) {
    if (node != null) {
      drop(node);
    }
    return node;
  }

  /** Removes a node from its parent and the tables. Under the parent's monitor. */
  void unlink(Node node, Container parent) {
    parent.remove(node, clock.currentTimeMillis());
    forget(node);
  }

  /**
   * Removes a node from the tables. A node with bytes is still found by its id until its space is
   * freed.
   */
  void forget(Node node) {
    names.remove(node);
    drop(node);
  }

  /** Counts the end of a node that has no name any more, as {@link #forget} does. */
  void drop(Node node) {
    ofType.get(node.type()).decrement();
    if (node instanceof Container) {
      ids.remove(node);
      discharge(node);
    } else {
      node.markRemoved();
    }
  }

  /**
   * Frees the space and the lease of a node with bytes that was marked as removed, and those of the
   * node that was to replace it.
   */
  void destroy(Node node) {
    Node successor = giveUp(node);
    if (successor != null) {
      destroy(successor);
    }
    writer.destroy(node);
    // Only now, so that the close of its writer always finds either the node or its resting space.
    ids.remove(node);
    discharge(node);
  }

  /** An id that no node had before. */
  public long newId() {
    return nextId.addAndGet(count);
  }

  /** Refuses a path that another namenode owns. */
  void requireOwn(PathBytes path) throws CrailException {
    if (!path.isRoot() && path.namenode(count) != index) {
      throw ErrorCode.WRONG_NAMENODE.exception(path.toString());
    }
  }

  /** Refuses to move a node to a path that another namenode owns. */
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
