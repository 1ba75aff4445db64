/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
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
import io.crail.protocol.part.SpreadHint;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/**
 * The tree of nodes, and the two tables that find a node by name and by id. This class only reads;
 * the {@link TreeWriter} changes it. Thread-safe.
 *
 * <p>A change of a container's children holds that container's monitor. Once the locks are held,
 * the nodes that were found before are checked again: a container that was removed, or is below a
 * removed one, gets no child. Readers take no lock. {@link RenameSequence} makes renames atomic for
 * readers. A rename of a container excludes all others, so that two renames cannot make a cycle or
 * a path that is too long; those of nodes with bytes do not exclude each other.
 *
 * <p>No node has a path that is too long for a request. Each container knows a limit for how much
 * longer the paths below it are than its own (its reach). Before a new node can be found, it
 * extends the reach of all containers above it. It first does that, then checks whether a rename
 * ran at the same time. A rename first marks that it runs, then reads the reach of its node. So one
 * of the two always sees the other.
 *
 * <p>A removed subtree is gone for all clients at once, since no path leads to it and {@link
 * #isDetached} is true for each of its nodes. It is taken apart later.
 */
public final class Tree {
  // Every user may create nodes in the root, and remove their own.
  private static final int ROOT_PERMISSIONS = 01777;

  private final int index;
  private final int count;
  private final IdTable ids;
  private final NameTable names;
  private final PendingNodes pending;
  private final ExtrasTable extras;
  private final SpreadDirectories spread = new SpreadDirectories();
  private final RenameSequence renames = new RenameSequence();
  private final AtomicLong nextId;

  /** The number of nodes by type; read only by those who look. */
  private final Map<NodeType, LongAdder> ofType = new EnumMap<>(NodeType.class);

  private final Container root;

  /**
   * Creates a tree that has only the root.
   *
   * @param rootId the id of the root; new ids follow it
   */
  public Tree(
      NameNodeOptions options,
      long rootId,
      long nowMillis,
      RandomGenerator random,
      HeapBudget budget) {
    this.index = options.index();
    this.count = options.count();
    this.ids = new IdTable(budget);
    this.names = new NameTable(new NameHash(random), budget);
    this.pending = new PendingNodes(budget);
    this.extras = new ExtrasTable(budget);
    this.nextId = new AtomicLong(rootId);
    this.root =
        new Container(
            rootId,
            NodeType.DIRECTORY,
            options.rootClass(),
            HostNames.ANY,
            NodeInfo.ENUMERABLE,
            Node.attributes(ROOT_PERMISSIONS, UserNames.OWN, UserNames.OWN),
            nowMillis);
    budget.add(root.footprint());
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

  /** The spread directories, and the shares of them. */
  public SpreadDirectories spread() {
    return spread;
  }

  /** What compound operations have given nodes. */
  public ExtrasTable extras() {
    return extras;
  }

  public PendingNodes pending() {
    return pending;
  }

  /** Counts a node that has come, or with -1 one that has gone. */
  void count(Node node, int more) {
    ofType.get(node.type()).add(more);
  }

  /** The id of the root. */
  public long rootId() {
    return root.id();
  }

  /** Visits nodes as {@link NodeTable#walk} does, in the order of a table of their ids. */
  public long walk(long cursor, long most, NodeTable.Visitor visitor) {
    return ids.walk(cursor, most, visitor);
  }

  /** Bytes of heap of the tables; for tests. */
  public long tableBytes() {
    return ids.bytes() + names.bytes() + pending.bytes();
  }

  /** Compares the sizes of the tables, and the nodes themselves, with their numbers; for tests. */
  public void verify() {
    long tops = 1 + spread.shares().size();
    if (ids.size() != size() || names.size() + pending.size() + tops != size()) {
      throw new AssertionError(
          size()
              + " nodes, but "
              + ids.size()
              + " ids and "
              + names.size()
              + " names, "
              + tops
              + " nodes without one and "
              + pending.size()
              + " nodes to come");
    }
    Map<NodeType, Long> found = new EnumMap<>(NodeType.class);
    for (NodeType type : NodeType.values()) {
      found.put(type, 0L);
    }
    long[] spreads = new long[2];
    walk(
        0,
        Long.MAX_VALUE,
        node -> {
          spreads[0] += node.isSpread() && !(node instanceof Share) && !isDetached(node) ? 1 : 0;
          spreads[1] += node instanceof Container container && container.isSealed() ? 1 : 0;
          return found.merge(node.type(), 1L, Long::sum) > 0;
        });
    spread.verify(spreads[0], spreads[1]);
    if (!found.equals(sizes())) {
      throw new AssertionError(found + " are there, but counted are " + sizes());
    }
  }

  /** The number of nodes in the tree, and in removed subtrees that are not taken apart yet. */
  public long size() {
    long[] size = new long[1];
    ofType.forEach((type, count) -> size[0] += count.sum());
    return size[0];
  }

  /** As {@link #size}, by type; while nodes come and go, not all of one moment. */
  public Map<NodeType, Long> sizes() {
    Map<NodeType, Long> sizes = new EnumMap<>(NodeType.class);
    ofType.forEach((type, count) -> sizes.put(type, Math.max(0, count.sum())));
    return sizes;
  }

  /** The node of an id, also a removed one that still has its space; null when there is none. */
  public Node find(long id) {
    return ids.find(id);
  }

  /**
   * The node of an id.
   *
   * @throws CrailException with {@link ErrorCode#WRONG_NAMENODE} when another namenode gave out
   *     that id, and this one has no share of it; with {@link ErrorCode#STALE_NODE} when the node
   *     is gone
   */
  public Node require(long id) throws CrailException {
    Node node = ids.find(id);
    if (node == null && count > 1 && Long.remainderUnsigned(id, count) != index) {
      throw ErrorCode.WRONG_NAMENODE.exception("node " + id);
    }
    if (node == null || isDetached(node)) {
      throw ErrorCode.STALE_NODE.exception("node " + id);
    }
    return node;
  }

  /** True when the node, or a container above it, was removed. */
  public boolean isDetached(Node node) {
    // Because of a concurrent move, the way up may pass a container that the node is no longer
    // in. So the answer true is checked again.
    return reachesRemoved(node) && renames.read(() -> reachesRemoved(node));
  }

  /** As {@link #isDetached}, while no container is renamed. */
  public static boolean reachesRemoved(Node node) {
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
   * @param parent the node that the last component is in, or null; it may not be a container
   * @param child the node that is there now, or null; the root for the path of the root
   */
  public record Place(Node parent, Node child) {
    /** The parent of a child that is there. */
    public Container container() {
      return (Container) parent;
    }
  }

  /** Where a path leads, at one moment between renames. */
  public Place locate(PathBytes path) {
    return renames.read(() -> walk(path));
  }

  /**
   * As {@link #locate}, but takes no lock for nodes with bytes that are renamed meanwhile. So the
   * child has to be looked at again, under the lock of its parent.
   */
  public Place locateBeside(PathBytes path) {
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
    Node at = top(path);
    int start = path.firstStart();
    while (start < path.nameStart() && at instanceof Container container) {
      int end = NodeName.endOfComponent(path.bytes(), start, path.nameStart());
      at = names.find(container, path.bytes(), start, end);
      start = end + 1;
    }
    return at;
  }

  /** The container in which the first component of a path is looked up; null when it is gone. */
  public Container top(PathBytes path) {
    return path.spread() == 0 ? root : spreadOf(path.spread());
  }

  /**
   * This namenode's share of a spread directory, or the directory itself; null for none, and for a
   * share that is sealed, since only the owner knows whether the directory is still there.
   */
  public Container spreadOf(long id) {
    Container container = shareOf(id);
    // In this order: a share that ends is marked before its seal is taken off.
    return container instanceof Share && (container.isSealed() || container.isRemoved())
        ? null
        : container;
  }

  /** As {@link #spreadOf}, also when it is sealed: for who asks about the share itself. */
  public Container shareOf(long id) {
    return ids.find(id) instanceof Container container
            && container.isSpread()
            // A spread directory, and all above it, keep their names.
            && !reachesRemoved(container)
        ? container
        : null;
  }

  /** The container for the last component of a path. Allocates nothing unless it fails. */
  public Container parentOf(PathBytes path) throws CrailException {
    long before = renames.read();
    Node parent = walkToParent(path);
    return requireContainer(
        renames.isUnchanged(before) ? parent : renames.read(() -> walkToParent(path)), path);
  }

  /**
   * Refuses a parent that does not exist or is no container, and a child of a spread directory that
   * belongs to another namenode.
   */
  public Container requireContainer(Node parent, PathBytes path) throws CrailException {
    if (parent == null) {
      throw absent(path, ErrorCode.PARENT_NOT_FOUND);
    }
    if (!(parent instanceof Container container)) {
      throw ErrorCode.NOT_A_CONTAINER.exception(path.toString());
    }
    if (container.isSpread() && path.spread() != container.id()) {
      requireOwnChild(container, path, path.nameStart(), path.end());
    }
    return container;
  }

  private void requireOwnChild(Container directory, PathBytes path, int start, int end)
      throws CrailException {
    Utf8 child = Utf8.copyOf(path.bytes(), start - 1, end - start + 1);
    if (NodePath.namenodeOf(child, count) != index) {
      throw ErrorCode.SPREAD.exception(path.hint(directory.id(), start - 1).toString());
    }
  }

  /**
   * Why there is no node at a path: because another namenode has it, as the child of a spread
   * directory, or because of {@code otherwise}.
   */
  public CrailException absent(PathBytes path, ErrorCode otherwise) {
    if (path.spread() == 0 && spread.owned().isEmpty()) {
      return otherwise.exception(path.toString());
    }
    return renames.read(
        () -> {
          Node at = top(path);
          int start = path.firstStart();
          try {
            requireShare(path);
            while (start < path.end() && at instanceof Container container) {
              int end = NodeName.endOfComponent(path.bytes(), start, path.end());
              if (container.isSpread()) {
                requireOwnChild(container, path, start, end);
              }
              at = names.find(container, path.bytes(), start, end);
              start = end + 1;
            }
          } catch (CrailException e) {
            return e;
          }
          return otherwise.exception(path.toString());
        });
  }

  /** Refuses a path that begins at a spread directory of which this namenode has no share. */
  private void requireShare(PathBytes path) throws CrailException {
    boolean isItself = path.isSpreadItself();
    if (path.spread() != 0
        && (isItself ? shareOf(path.spread()) : spreadOf(path.spread())) == null) {
      boolean isSealed = spread.shares().containsKey(path.spread());
      throw (isSealed ? ErrorCode.BEING_REMOVED : ErrorCode.NO_SHARE)
          .exception(path.hint(path.spread(), path.firstStart() - 1).toString());
    }
  }

  /**
   * Refuses a new child of a container that is being removed, or is below one. Under the monitor of
   * the container.
   */
  public void requireOpen(Container parent) throws CrailException {
    if (!spread.isAnySealed()) {
      return;
    }
    for (Container at = parent; at != null; at = Container.of(at)) {
      if (at.isSealed()) {
        throw ErrorCode.BEING_REMOVED.exception(
            new SpreadHint(at.id(), Utf8.of(at.path())).toString());
      }
    }
  }

  /** Bytes of the path of a container that is not the root. */
  private static int pathLength(Container container) {
    int length = 0;
    Node at = container;
    for (; at.parent() != null; at = at.parent()) {
      length += 1 + at.nameLength();
    }
    return length + at.topLength();
  }

  /** The child of a container whose name is the last component of a path, or null. */
  public Node child(Container container, PathBytes path) {
    return names.find(container, path.bytes(), path.nameStart(), path.end());
  }

  /**
   * True when a node is still at its place and the place is still in the tree. Under the parent's
   * monitor.
   */
  public boolean isStill(Node node, Container parent, PathBytes path) {
    return child(parent, path) == node && !isDetached(parent);
  }

  /**
   * Whether a container may get a child. Extends the reach of the container and of all above it.
   * Under its monitor.
   *
   * @return false when the container is gone, or has moved since it was found so that the path
   *     would be too long
   */
  public boolean admits(Container parent, PathBytes path) {
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

  /** Extends the reach of a container and of all above it. Returns the length of the path. */
  public static int extendReach(Container container, int bytes) {
    int length = bytes;
    Container at = container;
    while (at.parent() != null) {
      at.extendReach(length);
      length += 1 + at.nameLength();
      at = Container.of(at);
    }
    return length + at.topLength();
  }

  public static boolean isWithBytes(Node node) {
    return !(node instanceof Container);
  }

  /** Lets no new node get this id, nor an earlier one. */
  void haveGiven(long id) {
    nextId.accumulateAndGet(id, Math::max);
  }

  /** The last id that was given. */
  public long lastId() {
    return nextId.get();
  }

  /** An id that no node had before. */
  public long newId() {
    return nextId.addAndGet(count);
  }

  /** Refuses a path that another namenode owns. */
  public void requireOwn(PathBytes path) throws CrailException {
    if (path.spread() != 0 && !path.isSpreadItself()) {
      Container directory = spreadOf(path.spread());
      if (directory != null && pathLength(directory) != path.spreadLength()) {
        throw ErrorCode.INVALID_PATH.exception(path + " is not below " + directory.path());
      }
    }
    if (path.isSpreadItself()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path + ": only a lookup may ask for a share");
    }
    if (!path.isRoot() && path.namenode(count) != index) {
      throw ErrorCode.WRONG_NAMENODE.exception(path.toString());
    }
    requireShare(path);
  }

  /** Refuses to move a node to a path that another namenode owns. */
  public void requireOneNamenode(PathBytes source, PathBytes target) throws CrailException {
    if (!target.isSpreadItself() && target.namenode(count) != index) {
      throw ErrorCode.CROSS_NAMENODE.exception(source + " to " + target);
    }
    requireOwn(target);
  }
}
