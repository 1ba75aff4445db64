/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.SmallBytes;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
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
 * {@link #isDetached} is true for each of its nodes; taking it apart is left to {@link #dismantle}.
 */
public final class Tree {
  // Children that a page looks at, so that unlisted ones cannot make it long.
  private static final int MAX_VISITED = 4_096;
  // Nodes that a removal takes apart itself, so that small subtrees leave nothing behind.
  private static final int DISMANTLED_AT_ONCE = 256;
  // Everybody may create in the root, and remove what is his own.
  private static final int ROOT_PERMISSIONS = 01777;

  private final int index;
  private final int count;
  private final int storageClasses;
  private final Clock clock;
  private final HostNames hosts;
  private final UserNames users;
  private final IdTable ids = new IdTable();
  private final NameTable names;
  private final RenameSequence renames = new RenameSequence();
  private final AtomicLong nextId;
  private final AtomicLong nodes = new AtomicLong(1);
  private final long maxNodes;
  private final Container root;
  private final NodeWriter writer;
  private final Dismantler dismantler;

  /** Creates a tree that has only the root; {@code writer} frees what nodes have when they go. */
  public Tree(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      HostNames hosts,
      UserNames users,
      NodeWriter writer) {
    this.index = options.index();
    this.count = options.count();
    this.storageClasses = options.storageClasses();
    this.maxNodes = options.maxNodes();
    this.clock = clock;
    this.hosts = hosts;
    this.users = users;
    this.writer = writer;
    this.dismantler = new Dismantler(this::forget, this::destroy);
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

  /** A path that is checked, in the form in which names are read. */
  private static final class PathBytes {
    private final Utf8 text;
    private final ByteBuffer bytes;
    private final int end;

    PathBytes(Utf8 text) throws CrailException {
      this.text = text;
      this.bytes = ByteBuffer.wrap(text.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
      this.end = text.length();
      try {
        NodePath.check(bytes, 0, end);
      } catch (CrailException e) {
        throw e.code().exception(e.detail() + ": " + text);
      }
    }

    boolean isRoot() {
      return end == 1;
    }
  }

  /**
   * Where a path leads.
   *
   * @param parent the container of the last component; null on failure
   * @param child what is there now, or null; the root for the root
   * @param nameStart where the last component begins
   * @param failure why there is no parent, or null
   */
  private record Place(Container parent, Node child, int nameStart, ErrorCode failure) {}

  private Place locate(PathBytes path) {
    return renames.read(() -> walk(path));
  }

  private Place walk(PathBytes path) {
    if (path.isRoot()) {
      return new Place(null, root, 1, null);
    }
    Container container = root;
    int start = 1;
    while (true) {
      int end = NodeName.endOfComponent(path.bytes, start, path.end);
      Node child = names.find(container, path.bytes, start, end);
      if (end == path.end) {
        return new Place(container, child, start, null);
      }
      if (child == null) {
        return new Place(null, null, start, ErrorCode.PARENT_NOT_FOUND);
      }
      if (!(child instanceof Container)) {
        return new Place(null, null, start, ErrorCode.NOT_A_CONTAINER);
      }
      container = (Container) child;
      start = end + 1;
    }
  }

  /**
   * Creates a node, which takes the place of one with bytes where the request says so, and in a
   * table.
   *
   * @param clientId who gets the write lease, if the request asks for one
   * @param user whom the node belongs to; its group is its parent's
   * @param whenThere gets the node when it can be found, and what it has replaced still has its
   *     space
   */
  public NodeInfo create(Create.Request request, long clientId, int user, Consumer<Node> whenThere)
      throws CrailException {
    PathBytes path = new PathBytes(request.path());
    requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    if (request.storageClass() != Create.PARENT_CLASS
        && (request.storageClass() < 0 || request.storageClass() >= storageClasses)) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "storage class " + request.storageClass() + ", there are " + storageClasses);
    }
    requirePermissions(path, request.permissions());
    writer.prepare(request);
    Created created = null;
    while (created == null) {
      Container parent = requireParent(path, locate(path)).parent;
      created = create(request, path, parent, clientId, user);
    }
    try {
      whenThere.accept(created.node);
    } finally {
      if (created.replaced != null) {
        destroy(created.replaced);
      }
    }
    return created.info;
  }

  /** What was created, what is told of it, and whose place it took, or null. */
  private record Created(Node node, NodeInfo info, Node replaced) {}

  /**
   * Creates under the lock; null when the parent is gone, and another may have come in its place.
   */
  private Created create(
      Create.Request request, PathBytes path, Container parent, long clientId, int user)
      throws CrailException {
    if (!parent.type().mayHold(request.type())) {
      throw ErrorCode.WRONG_TYPE.exception(
          path.text + ": no " + request.type() + " in a " + parent.type());
    }
    int storageClass =
        request.storageClass() == Create.PARENT_CLASS
            ? parent.storageClass()
            : request.storageClass();
    int host =
        request.host().equals(Create.PARENT_HOST) ? parent.host() : hosts.find(request.host());
    int flags =
        (request.enumerable() ? NodeInfo.ENUMERABLE : 0) | (request.strict() ? NodeInfo.STRICT : 0);
    NodeType type = request.type();
    Node node =
        type.isContainer()
            ? new Container(newId(), type, storageClass, host, flags)
            : new Node(newId(), type, storageClass, host, flags);
    synchronized (parent) {
      if (isDetached(parent) || !reach(parent, path.end - nameStart(path))) {
        return null;
      }
      node.attributes(request.permissions(), user, parent.group());
      Node replaced = put(node, parent, path, request, clientId);
      return new Created(node, node.info(), replaced);
    }
  }

  /**
   * Notes how far a path in a container will reach, in all that it lies in. Under its monitor.
   *
   * @return false when the path would be too long: the container was moved since it was found
   */
  private boolean reach(Container parent, int nameLength) {
    long before = renames.read();
    int length = extendReach(parent, 1 + nameLength);
    if (!renames.isUnchanged(before)) {
      length = renames.read(() -> extendReach(parent, 1 + nameLength));
    }
    return length <= NodePath.MAX_LENGTH;
  }

  /** Notes how far paths reach below a container and all that it lies in; their whole length. */
  private static int extendReach(Container container, int bytes) {
    int length = bytes;
    for (Container at = container; at.parent() != null; at = at.parent()) {
      at.extendReach(length);
      length += 1 + at.nameLength();
    }
    return length;
  }

  /** Bytes of a container's path, without the slash of the root. */
  private static int pathLength(Container container) {
    int length = 0;
    for (Container at = container; at.parent() != null; at = at.parent()) {
      length += 1 + at.nameLength();
    }
    return length;
  }

  /** Puts a new node into its parent and the tables; gives the one whose place it took, or null. */
  private Node put(
      Node node, Container parent, PathBytes path, Create.Request request, long clientId)
      throws CrailException {
    int start = nameStart(path);
    Node old = names.find(parent, path.bytes, start, path.end);
    boolean replaces = request.replace() || parent.type() == NodeType.TABLE;
    if (old != null && !(replaces && isWithBytes(old) && isWithBytes(node))) {
      throw ErrorCode.NODE_EXISTS.exception(path.text.toString());
    }
    if (old == null && nodes.incrementAndGet() > maxNodes) {
      nodes.decrementAndGet();
      throw ErrorCode.LIMIT_EXCEEDED.exception(path.text + ": there are " + maxNodes + " nodes");
    }
    long now = clock.currentTimeMillis();
    long sequence = old == null ? parent.children().nextSequence() : old.sequence();
    node.place(parent, path.bytes, start, path.end, sequence);
    node.touch(now);
    node.accessed(now);
    try {
      writer.equip(node, request, old, clientId);
    } catch (CrailException e) {
      if (old == null) {
        nodes.decrementAndGet();
      }
      throw e;
    }
    link(node, old, parent, now);
    return old;
  }

  /** Puts a node that has its place into the tables and its parent's order. Under the lock. */
  private void link(Node node, Node old, Container parent, long now) {
    ids.add(node);
    if (old == null) {
      names.add(node);
      parent.add(node, now);
    } else {
      names.replace(old, node);
      parent.replace(old, node, now);
      old.markRemoved();
    }
  }

  /**
   * Puts a small value into a table, as {@link #create} does, without an object that does not stay.
   *
   * @param user whom the node belongs to; its group is the table's
   * @return null, and nothing is done, when something is in the way: there is no such table, or no
   *     memory; the general way finds out what
   */
  public Node putSmall(SmallPut put, int user) {
    Container table = tableOf(put);
    if (table == null || !writer.hasMemory(put.valueLength())) {
      return null;
    }
    Node node =
        new Node(newId(), NodeType.KEYVALUE, put.storageClass(table), put.host(table), put.flags());
    // Before anything is taken, for there may be no heap, and while nobody waits for the table.
    SmallBytes value = new SmallBytes(put.value());
    Node old;
    synchronized (table) {
      if (isDetached(table) || !reach(table, put.pathEnd() - put.nameStart())) {
        return null;
      }
      old = names.find(table, put.bytes(), put.nameStart(), put.pathEnd());
      boolean isRoom = old != null || nodes.incrementAndGet() <= maxNodes;
      if (!isRoom || !writer.equipSmall(node, value, old)) {
        if (old == null) {
          nodes.decrementAndGet();
        }
        return null;
      }
      long now = clock.currentTimeMillis();
      long sequence = old == null ? table.children().nextSequence() : old.sequence();
      node.place(table, put.bytes(), put.nameStart(), put.pathEnd(), sequence);
      node.touch(now);
      node.accessed(now);
      node.attributes(put.permissions(), user, table.group());
      link(node, old, table, now);
    }
    if (old != null) {
      destroy(old);
    }
    return node;
  }

  /** The table that a value goes into; null when it is not found at once. */
  private Container tableOf(SmallPut put) {
    ByteBuffer in = put.bytes();
    long before = renames.read();
    Container container = root;
    int start = put.path() + 1;
    while (start < put.nameStart()) {
      int end = NodeName.endOfComponent(in, start, put.nameStart());
      if (!(names.find(container, in, start, end) instanceof Container child)) {
        return null;
      }
      container = child;
      start = end + 1;
    }
    return renames.isUnchanged(before) && container.type() == NodeType.TABLE ? container : null;
  }

  private static void requirePermissions(PathBytes path, int permissions) throws CrailException {
    if (permissions > NodeInfo.PERMISSIONS) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path.text + ": permission bits 0" + Integer.toOctalString(permissions));
    }
  }

  /** Sets what the request asks for, and leaves the rest. */
  public NodeInfo setAttributes(SetAttributes.Request request) throws CrailException {
    PathBytes path = new PathBytes(request.path());
    requireOwn(path);
    int which = request.which();
    if (which > SetAttributes.ALL) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path.text + ": attributes " + which);
    }
    requirePermissions(path, request.permissions());
    boolean setsOwner = (which & SetAttributes.OWNER) != 0;
    boolean setsGroup = (which & SetAttributes.GROUP) != 0;
    while (true) {
      Place place = locate(path);
      if (place.failure != null || place.child == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path.text.toString());
      }
      // Only for a node that is there, so that mistakes use up no numbers.
      int owner = setsOwner ? users.number(request.owner()) : 0;
      int group = setsGroup ? users.number(request.group()) : 0;
      NodeInfo info = setAttributes(place, path, request, owner, group);
      if (info != null) {
        return info;
      }
    }
  }

  /** Sets attributes; null when the node is no longer where it was found. */
  private NodeInfo setAttributes(
      Place place, PathBytes path, SetAttributes.Request request, int owner, int group) {
    Node node = place.child;
    int which = request.which();
    synchronized (path.isRoot() ? root : place.parent) {
      if (!path.isRoot() && !isStill(node, place.parent, path)) {
        return null;
      }
      node.attributes(
          (which & SetAttributes.PERMISSIONS) != 0 ? request.permissions() : node.permissions(),
          (which & SetAttributes.OWNER) != 0 ? owner : node.owner(),
          (which & SetAttributes.GROUP) != 0 ? group : node.group());
      if ((which & SetAttributes.MODIFIED) != 0) {
        node.touch(request.modifiedMillis());
      }
      if ((which & SetAttributes.ACCESSED) != 0) {
        node.accessed(request.accessedMillis());
      }
      return node.info();
    }
  }

  private static boolean isWithBytes(Node node) {
    return !(node instanceof Container);
  }

  /** Removes a node, and with {@code recursive} all that lies below it. */
  public NodeInfo remove(Utf8 pathText, boolean recursive) throws CrailException {
    PathBytes path = new PathBytes(pathText);
    requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    while (true) {
      Place place = locate(path);
      if (place.failure != null || place.child == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path.text.toString());
      }
      NodeInfo info =
          place.child instanceof Container
              ? remove(place, (Container) place.child, path, recursive)
              : remove(place, path);
      if (info != null) {
        return info;
      }
    }
  }

  /** Removes a node with bytes; null when it is no longer where it was found. */
  private NodeInfo remove(Place place, PathBytes path) {
    Node node = place.child;
    synchronized (place.parent) {
      if (!isStill(node, place.parent, path)) {
        return null;
      }
      unlink(node, place.parent);
    }
    NodeInfo info = node.info();
    destroy(node);
    return info;
  }

  /** Removes a container; null when it is no longer where it was found. */
  private NodeInfo remove(Place place, Container container, PathBytes path, boolean recursive)
      throws CrailException {
    NodeInfo info;
    Container parent = place.parent;
    boolean parentFirst = Long.compareUnsigned(parent.id(), container.id()) < 0;
    synchronized (parentFirst ? parent : container) {
      synchronized (parentFirst ? container : parent) {
        if (!isStill(container, parent, path)) {
          return null;
        }
        if (container.childCount() > 0 && !recursive) {
          throw ErrorCode.NOT_EMPTY.exception(path.text.toString());
        }
        info = container.info();
        container.markRemoved();
        unlink(container, parent);
      }
    }
    if (info.childCount() > 0) {
      dismantler.add(container);
      dismantle(DISMANTLED_AT_ONCE);
    }
    return info;
  }

  /** True when a node is in its place, and that place in the tree. Under the parent's monitor. */
  private boolean isStill(Node node, Container parent, PathBytes path) {
    return names.find(parent, path.bytes, nameStart(path), path.end) == node && !isDetached(parent);
  }

  /** Takes a node out of its parent and the tables. Under the parent's monitor. */
  private void unlink(Node node, Container parent) {
    parent.remove(node, clock.currentTimeMillis());
    forget(node);
  }

  /** Takes a node out of the tables; one with bytes is found under its id until it has no space. */
  private void forget(Node node) {
    names.remove(node);
    if (node instanceof Container) {
      ids.remove(node);
    } else {
      node.markRemoved();
    }
    nodes.decrementAndGet();
  }

  /** Frees what a node with bytes has, which is marked as removed. */
  private void destroy(Node node) {
    writer.destroy(node);
    // Not before, so that the farewell of its writer always meets either the node or its space.
    ids.remove(node);
  }

  /**
   * Gives a node another name, and perhaps another parent.
   *
   * @param replace whether it takes the place of what is there: a node with bytes that of one, a
   *     container that of an empty one of its type
   */
  public NodeInfo rename(Utf8 sourceText, Utf8 targetText, boolean replace) throws CrailException {
    PathBytes source = new PathBytes(sourceText);
    PathBytes target = new PathBytes(targetText);
    requireOwn(source);
    if (source.isRoot() || target.isRoot()) {
      throw ErrorCode.ROOT.exception("rename " + source.text + " to " + target.text);
    }
    if (NodePath.namenodeOf(targetText, count) != index) {
      throw ErrorCode.CROSS_NAMENODE.exception(source.text + " to " + target.text);
    }
    while (true) {
      Place from = locate(source);
      if (from.failure != null || from.child == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(source.text.toString());
      }
      Place to = requireParent(target, locate(target));
      NodeInfo info = rename(from, source, to, target, replace);
      if (info != null) {
        if (to.child != null && isWithBytes(to.child)) {
          destroy(to.child);
        }
        return info;
      }
    }
  }

  /** Renames under the locks; null when something was no longer as it was found. */
  private NodeInfo rename(Place from, PathBytes source, Place to, PathBytes target, boolean replace)
      throws CrailException {
    // A container that is replaced has to stay empty, so its lock is taken too.
    Container third = replace && to.child instanceof Container ? (Container) to.child : to.parent;
    Container[] locks = {from.parent, to.parent, third};
    Arrays.sort(locks, (a, b) -> Long.compareUnsigned(a.id(), b.id()));
    synchronized (locks[0]) {
      synchronized (locks[1]) {
        synchronized (locks[2]) {
          if (!isStill(from.child, from.parent, source)
              || isDetached(to.parent)
              || names.find(to.parent, target.bytes, nameStart(target), target.end) != to.child) {
            return null;
          }
          return renames.run(
              () -> {
                requireRename(from.child, source, to, target, replace);
                return isReachable(from.child, source, to.parent, target)
                    ? move(from.child, from.parent, to, target)
                    : null;
              });
        }
      }
    }
  }

  /** Refuses a rename that may not be. Under the locks, within the sequence. */
  private void requireRename(
      Node node, PathBytes source, Place to, PathBytes target, boolean replace)
      throws CrailException {
    for (Container at = to.parent; at != null; at = at.parent()) {
      if (at == node) {
        throw ErrorCode.CYCLE.exception(source.text + " to " + target.text);
      }
    }
    if (!to.parent.type().mayHold(node.type())) {
      throw ErrorCode.WRONG_TYPE.exception(
          target.text + ": no " + node.type() + " in a " + to.parent.type());
    }
    Node old = to.child;
    if (old != null) {
      boolean alike = isWithBytes(node) ? isWithBytes(old) : node.typeNumber() == old.typeNumber();
      if (!replace || !alike || node == old) {
        throw ErrorCode.NODE_EXISTS.exception(target.text.toString());
      }
      if (old.childCount() > 0) {
        throw ErrorCode.NOT_EMPTY.exception(target.text.toString());
      }
    }
  }

  /**
   * True when all paths will be short enough, as the containers of the new place then know; false
   * when that place was moved to where even the node's own is too long. Within the sequence.
   *
   * @throws CrailException when a path below the node would become too long
   */
  private static boolean isReachable(Node node, PathBytes source, Container to, PathBytes target)
      throws CrailException {
    int own = 1 + target.end - nameStart(target);
    int below = node.reach();
    int length = pathLength(to) + own;
    if (length > NodePath.MAX_LENGTH) {
      return false;
    }
    boolean longer = length > pathLength(node.parent()) + 1 + node.nameLength();
    if (longer && length + below > NodePath.MAX_LENGTH) {
      throw ErrorCode.INVALID_PATH.exception(
          "paths below have up to "
              + below
              + " bytes more, which is more than "
              + NodePath.MAX_LENGTH
              + ": "
              + source.text
              + " to "
              + target.text);
    }
    extendReach(to, own + below);
    return true;
  }

  /**
   * Moves a node to its new place, from which it drives the one that is there. Under the locks,
   * within the sequence.
   */
  private NodeInfo move(Node node, Container from, Place place, PathBytes target) {
    Container to = place.parent;
    Node old = place.child;
    long now = clock.currentTimeMillis();
    boolean stays = from == to && old == null;
    if (!stays) {
      from.remove(node, now);
    }
    // In the old node's place in the order, so that a listing shows each name once.
    long sequence =
        old != null ? old.sequence() : stays ? node.sequence() : to.children().nextSequence();
    names.remove(node);
    node.place(to, target.bytes, nameStart(target), target.end, sequence);
    if (old == null) {
      names.add(node);
    } else {
      names.replace(old, node);
    }
    if (old != null) {
      to.replace(old, node, now);
      old.markRemoved();
      nodes.decrementAndGet();
      if (!isWithBytes(old)) {
        ids.remove(old);
      }
    } else if (stays) {
      to.touch(now);
    } else {
      to.add(node, now);
    }
    return node.info();
  }

  /** Lists a page of a container's children. */
  public ListNodes.Response list(ListNodes.Request request) throws CrailException {
    Node node = require(request.id());
    if (!(node instanceof Container)) {
      throw ErrorCode.NOT_A_CONTAINER.exception(node.toString());
    }
    if (request.maxEntries() == 0 || request.cursor() < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": cursor " + request.cursor() + ", at most " + request.maxEntries() + " entries");
    }
    Container container = (Container) node;
    Page page = new Page(Math.min(request.maxEntries(), ListNodes.MAX_ENTRIES));
    synchronized (container) {
      if (isDetached(container)) {
        throw ErrorCode.STALE_NODE.exception("node " + request.id());
      }
      long next = container.children().visitFrom(request.cursor(), page);
      return new ListNodes.Response(next, page.entries);
    }
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

  /** Takes removed subtrees apart, about {@code most} nodes; how many there were. */
  public int dismantle(int most) {
    return dismantler.run(most);
  }

  /** An id that nobody had before. */
  public long newId() {
    return nextId.addAndGet(count);
  }

  private static int nameStart(PathBytes path) {
    int start = path.end;
    while (path.bytes.get(start - 1) != '/') {
      start--;
    }
    return start;
  }

  private Place requireParent(PathBytes path, Place place) throws CrailException {
    if (place.failure != null) {
      throw place.failure.exception(path.text.toString());
    }
    return place;
  }

  private void requireOwn(PathBytes path) throws CrailException {
    if (!path.isRoot() && NodePath.namenodeOf(path.text, count) != index) {
      throw ErrorCode.WRONG_NAMENODE.exception(path.text.toString());
    }
  }
}
