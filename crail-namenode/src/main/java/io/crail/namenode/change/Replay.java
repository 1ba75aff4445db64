/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import static io.crail.namenode.change.ContentsReplay.require;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Lifetime;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.LeaseWriter;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.SpaceWriter;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Share;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.tree.TreeWriter;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the changes that records say, in the order in which they were made: it turns a {@link
 * State} without nodes into the one that a namenode had. What has no record and follows from others
 * is made with them: what is below a removed container ends at once, space is taken where the
 * records say, accounts are kept. Each lease begins anew with its whole time.
 *
 * <p>Space that becomes free rests only at the end, see {@link #end}: until then the records say
 * who gets it. Nothing is refused for a limit, since it was admitted before. A record that does not
 * fit those before it is damage, and ends the replay with {@link ErrorCode#INTERNAL}. For one
 * thread; nothing else may use the state meanwhile.
 */
public final class Replay {
  private static final Logger LOG = LoggerFactory.getLogger(Replay.class);

  /** Ids begin below two thirds of this with that of the root, and never come so far. */
  private static final long MOST_ID = 1L << 62 | 1L << 61;

  /** A number of nodes above this is damage: tables are made for it. */
  private static final long MOST_NODES = 1L << 32;

  private final NameNodeOptions options;
  private final State state;
  private final Tree tree;
  private final Clock clock;
  private final Applier applier;
  private final TreeWriter nodes;
  private final SpaceReplay space;
  private final SpaceWriter writer;
  private final LeaseWriter<Node> leases;
  private final ContentsReplay contents;
  private final LongConsumer onEnd;
  private final NamePath named = new NamePath();
  private final NamePath present = new NamePath();
  private long reservedId;
  private long reservedVersion;

  /**
   * Begins the replay into a state without nodes.
   *
   * @param onEnd begins what is kept beside the state, as soon as the state is whole; gets the
   *     version that states of spread directories were not above
   */
  public Replay(
      NameNodeOptions options, State state, Locks locks, Clock clock, LongConsumer onEnd) {
    this.options = options;
    this.state = state;
    this.tree = state.tree();
    this.clock = clock;
    this.applier = new Applier(state, locks, null);
    this.nodes = new TreeWriter(tree);
    this.space = new SpaceReplay(options, state, clock);
    this.writer = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.leases = new LeaseWriter<>(state.leases());
    this.contents = new ContentsReplay(state, applier, options.count());
    this.onEnd = onEnd;
    state.budget().replay(true);
    writer.beginReplay();
  }

  /**
   * Notes when the next changes were made. What was freed a lease and a margin before has rested.
   *
   * @param nanos time that had passed since the lineage began, which no change of a clock moves;
   *     never more than really had
   */
  public void at(long nanos) {
    writer.replayedAt(nanos);
  }

  /** Notes which numbers may have been given that are in no other record. */
  private void reserved(ReserveChange numbers) throws CrailException {
    requireOwn(numbers.nodeIds(), numbers);
    reservedId = Math.max(reservedId, numbers.nodeIds());
    reservedVersion = Math.max(reservedVersion, numbers.versions());
    require(numbers.datanodeIds() >= 0, numbers, "below zero");
    writer.haveGiven(numbers.datanodeIds());
  }

  /** The last changes before this moment are missing. These clients may know them. */
  public void lost(Collection<Long> clients) {
    contents.sealAll();
    writer.lost(clients);
  }

  /**
   * Ends the replay, before the namenode serves or ticks for the first time. What the last records
   * have freed rests, as clients may still access it. All leases last for their whole time from now
   * on, and each datanode has as much time to show that it is alive. The other namenodes hear of
   * spread directories, so that their shares remain.
   */
  public void end() {
    nodes.haveGiven(reservedId);
    writer.endReplay();
    state.budget().replay(false);
    contents.endAbandoned();
    leases.renewAll();
    long now = clock.nanoTime();
    state.datanodes().all().forEach(datanode -> datanode.signs().seen(now));
    onEnd.accept(reservedVersion);
    LOG.info(
        "there are {} nodes after the replay; {} records came after the end of their nodes",
        tree.size(),
        contents.skipped());
  }

  /**
   * Makes a change. After an error the state is of no use.
   *
   * @throws CrailException with {@link ErrorCode#INTERNAL} when it does not fit the others; with
   *     {@link ErrorCode#LIMIT_EXCEEDED} when the namenode has less memory than before
   */
  public void apply(Change change) throws CrailException {
    try {
      make(change);
    } catch (CrailException e) {
      boolean isSaid = e.code() == ErrorCode.INTERNAL || e.code() == ErrorCode.LIMIT_EXCEEDED;
      throw isSaid ? e : damage(change, e);
    } catch (RuntimeException | AssertionError e) {
      // The classes of the state check their callers, which no record has passed through.
      throw damage(change, e);
    }
  }

  private static CrailException damage(Change change, Throwable cause) {
    CrailException damage = ErrorCode.INTERNAL.exception(change + ": " + cause);
    damage.initCause(cause);
    return damage;
  }

  private void make(Change change) throws CrailException {
    if (change instanceof Change.Contents changed) {
      contents.apply(changed);
    } else if (change instanceof Change.Link link) {
      link(link);
    } else if (change instanceof Change.Unlink unlink) {
      unlink(unlink);
    } else if (change instanceof Change.Attributes attributes) {
      attributes(attributes);
    } else if (change instanceof Change.Rename rename) {
      rename(rename);
    } else if (change instanceof Change.Grant grant) {
      requireOwn(grant.grant(), grant);
      nodes.haveGiven(grant.grant());
      contents.mayBeAccessed(grant);
    } else if (change instanceof LimitChange limit) {
      limit(limit);
    } else if (change instanceof ReserveChange numbers) {
      reserved(numbers);
    } else if (change instanceof ShareChange share) {
      share(share);
    } else if (change instanceof NumberChange noted) {
      noted(noted);
    } else {
      space.apply((SpaceChange) change);
    }
  }

  private void noted(NumberChange change) throws CrailException {
    switch (change.of()) {
      case NumberChange.NODE_IDS -> {
        require(change.value() >= tree.rootId() && change.value() < MOST_ID, change, "no id");
        nodes.haveGiven(change.value());
      }
      case NumberChange.NODES -> {
        require(change.value() >= 0 && change.value() <= MOST_NODES, change, "so many nodes");
        nodes.expect(change.value());
      }
      case NumberChange.CHILDREN -> {
        require(tree.find(change.id()) instanceof Container, change, "there is no such container");
        Container container = (Container) tree.find(change.id());
        require(change.value() >= container.nextSequence(), change, "an earlier child has it");
        nodes.nextSequence(container, change.value());
      }
      default -> space.apply(change);
    }
  }

  /** Holds the owner and the group of attributes for a node. */
  private void hold(long attributes, Change change) throws CrailException {
    int owner = Node.owner(attributes);
    require(state.users().hold(owner) != null, change, "user ", owner);
    int group = Node.group(attributes);
    require(state.users().hold(group) != null, change, "group ", group);
  }

  /** The name of a node as a path. There are millions of them, so they are in the same memory. */
  private static final class NamePath {
    private final ByteBuffer bytes =
        ByteBuffer.allocate(1 + Change.MOST_NAME).order(ByteOrder.LITTLE_ENDIAN);
    private final PathBytes path = new PathBytes();

    /** The path of a name, until this is called again. */
    PathBytes of(Utf8 name) throws CrailException {
      bytes.put(0, (byte) '/');
      name.copyTo(bytes, 1);
      path.read(bytes, 0, 1 + name.length());
      if (path.nameLength() != name.length()) {
        throw ErrorCode.INVALID_PATH.exception("name '" + name + "'");
      }
      return path;
    }
  }

  /** Refuses an id that this namenode cannot have given. */
  private void requireOwn(long id, Change change) throws CrailException {
    boolean isOwn =
        Long.remainderUnsigned(id, options.count()) == options.index()
            && id >= tree.rootId()
            && id < MOST_ID;
    require(isOwn, change, "the id is of another namenode");
  }

  private PathBytes pathOf(Node node) throws CrailException {
    return present.of(Change.nameOf(node));
  }

  private void link(Change.Link link) throws CrailException {
    requireOwn(link.contents().id(), link);
    if (!(tree.find(link.parent()) instanceof Container parent)) {
      // What is created in a removed container ends with it. Its writer does not know that yet.
      contents.skip(link.parent(), link);
      nodes.haveGiven(link.contents().id());
      contents.mayBeAccessed(link.contents());
      contents.endStaged(link.contents().id(), link.contents().modifiedMillis());
      return;
    }
    PathBytes path = named.of(link.name());
    Node old = link.replaces() == 0 ? null : tree.find(link.replaces());
    require(old != null || link.replaces() == 0, link, "replaces a node that is not there");
    // Without it, the tables refuse an id and a name that are in use.
    Node staged = tree.pending().isAnyStaged() ? tree.find(link.contents().id()) : null;
    hold(link.attributes(), link);
    space.requireHost(link.host(), link);
    if (staged != null) {
      require(staged.isStaged() && link.whole() < 0, link, "the id is in use");
      linkStaged(staged, link, path, old);
      return;
    }
    NodeExtras extras = contents.extras(link.contents(), null);
    Node node = node(link);
    requireBytes(node, link);
    nodes.haveGiven(node.id());
    state
        .budget()
        .add(
            Node.footprint(node.type(), path.nameLength())
                + (extras == null ? 0 : extras.footprint()));
    Tree.extendReach(parent, 1 + path.nameLength());
    NodeSpace own = contents.space(link.contents(), null, null);
    WriteLease<Node> lease = contents.lease(link.contents(), node);
    boolean isToCome = link.whole() >= 0;
    boolean isStaged = isToCome && old == null;
    boolean isInPlace = !isToCome && old != null;
    ContentsReplay.take(
        parent.quota(),
        Math.max(0, Quota.bytesOf(own) - (isInPlace ? Quota.bytesOf(old.space()) : 0)),
        old == null && !isStaged ? 1 : 0);
    if (isStaged) {
      applier.stage(node, own, lease, parent, path, link.whole());
      contents.noteStaged(node);
    } else if (isToCome) {
      applier.linkPending(node, own, lease, extras, path, old, link.whole());
    } else if (isInPlace) {
      applier.replace(node, own, lease, extras, path, old);
    } else {
      applier.link(node, own, lease, extras, parent, path);
    }
    nodes.attributes(
        node, link.attributes(), link.contents().modifiedMillis(), link.accessedMillis());
  }

  /** Refuses bytes of a container, and what contradicts itself about where the bytes belong. */
  private static void requireBytes(Node node, Change.Link link) throws CrailException {
    boolean isStaged = link.whole() >= 0 && link.replaces() == 0;
    require(node.isStaged() == isStaged, link, "staged or not");
    Change.Contents bytes = link.contents();
    boolean isEmpty = bytes.token() == 0 && bytes.size() == 0 && bytes.end() == 0;
    require(isEmpty || Tree.isWithBytes(node), link, "bytes of a container");
  }

  private static Node node(Change.Link link) throws CrailException {
    Change.Contents contents = link.contents();
    NodeType type = NodeType.of(link.type());
    int flags = contents.flags() & ~NodeInfo.EXTENDED;
    return type.isContainer()
        ? new Container(
            contents.id(),
            type,
            link.storageClass(),
            link.host(),
            flags,
            link.attributes(),
            contents.modifiedMillis())
        : new Node(
            contents.id(),
            type,
            link.storageClass(),
            link.host(),
            flags,
            link.attributes(),
            contents.modifiedMillis());
  }

  /** A staged node gets its name. Its extents are not in the record. */
  private void linkStaged(Node staged, Change.Link link, PathBytes path, Node old)
      throws CrailException {
    Change.Contents named = link.contents();
    NodeExtras extras = contents.extras(named, staged);
    state.budget().add(extras == null ? 0 : extras.footprint());
    ContentsReplay.take(Container.quotaOf(staged), 0, old == null ? 1 : 0);
    NodeSpace former = staged.space();
    int kept = 0;
    while (former != null && kept < former.count() && former.at(kept).fileEnd() <= named.end()) {
      kept++;
    }
    NodeSpace own = former == null ? null : AllocationList.prefix(former, kept, named.size());
    ContentsReplay.requireWhole(named, own);
    applier.linkStaged(
        staged, named.size(), own, link.attributes(), extras, path, old, named.modifiedMillis());
    nodes.flags(staged, named.flags());
    nodes.attributes(staged, link.attributes(), named.modifiedMillis(), link.accessedMillis());
  }

  private void unlink(Change.Unlink unlink) throws CrailException {
    Node node = tree.find(unlink.id());
    if (node == null) {
      contents.skip(unlink.id(), unlink);
      return;
    }
    if (node.isStaged()) {
      contents.endStaged(node, unlink.millis());
    } else if (node.isPending()) {
      Node present = tree.child(Container.of(node), pathOf(node));
      require(present != null && tree.pending().of(present) == node, unlink, "it replaces no node");
      applier.dropPending(present, unlink.millis());
    } else if (node instanceof Container container) {
      require(container.parent() != null, unlink, "the root");
      applier.removeContainer(container, unlink.millis());
      takeApart(container);
    } else {
      applier.remove(node, unlink.millis());
    }
  }

  /** Ends all that is below a removed container. */
  private void takeApart(Container removed) {
    ArrayDeque<Container> containers = new ArrayDeque<>(List.of(removed));
    while (!containers.isEmpty()) {
      Node child = applier.unlinkLastChild(containers.peek());
      if (child == null) {
        containers.pop();
      } else if (applier.endUnlinked(child)) {
        containers.push((Container) child);
      }
    }
  }

  private void attributes(Change.Attributes change) throws CrailException {
    Node node = tree.find(change.id());
    if (node == null) {
      contents.skip(change.id(), change);
      return;
    }
    hold(change.attributes(), change);
    applier.attributes(node, change.attributes(), change.modifiedMillis(), change.accessedMillis());
  }

  private void rename(Change.Rename rename) throws CrailException {
    Node node = tree.find(rename.id());
    if (node == null) {
      contents.skip(rename.id(), rename);
      return;
    }
    require(tree.find(rename.parent()) instanceof Container, rename, "there is no such container");
    Container to = (Container) tree.find(rename.parent());
    Node old = rename.replaces() == 0 ? null : tree.find(rename.replaces());
    require(old != null || rename.replaces() == 0, rename, "replaces a node that is not there");
    Node heir = tree.pending().of(node);
    require(Change.idOf(heir) == rename.heir(), rename, "the heir is ", Change.idOf(heir));
    PathBytes target = named.of(rename.name());
    Quota from = Container.quotaOf(node);
    long bytes = from == to.quota() ? 0 : Quota.bytesOf(node.space());
    ContentsReplay.take(from, -bytes, heir == null ? -1 : 0);
    ContentsReplay.take(to.quota(), bytes, old == null ? 1 : 0);
    long before = node.footprint();
    Tree.extendReach(to, 1 + target.nameLength() + node.reach());
    applier.rename(node, pathOf(node), to, target, old, heir, rename.millis());
    state.budget().add(node.footprint() - before);
    if (old != null) {
      applier.end(old);
    }
  }

  private void limit(LimitChange limit) throws CrailException {
    Node node = tree.find(limit.contents().id());
    if (node == null) {
      contents.skip(limit.contents().id(), limit);
      return;
    }
    require(node instanceof Container, limit, "it is no container");
    Container container = (Container) node;
    contents.apply(limit.contents());
    state.budget().add(container.hasOwnQuota() ? 0 : Quota.FOOTPRINT);
    Quota.Limits limits = new Quota.Limits(limit.bytes(), limit.names());
    if (container instanceof Share share) {
      applier.lend(share, limits);
      return;
    }
    boolean begins = !container.hasOwnQuota();
    applier.limit(container, limits, null);
    if (begins && container.isSpread()) {
      // The others may use all that is not known to be theirs.
      container.quota().divide(options.count(), options.index());
    }
  }

  private void share(ShareChange change) throws CrailException {
    Node present = tree.find(change.id());
    require(present == null || present instanceof Share, change, "the id is in use");
    Share share = (Share) present;
    if (change.state() == SetShare.GONE) {
      require(share != null, change, "there is no such share");
      applier.removeShare(share);
      takeApart(share);
      return;
    }
    hold(change.attributes(), change);
    space.requireHost(change.host(), change);
    boolean isSealed = change.state() == SetShare.SEALED;
    NodeExtras extras = null;
    if ((change.flags() & NodeInfo.EXTENDED) != 0) {
      NodeExtras before = share == null ? NodeExtras.NONE : tree.extras().of(share);
      extras =
          before.withLifetimeOfChildren(new Lifetime(change.childMillis(), change.childIdle()));
      state.budget().add(extras.footprint());
    }
    if (share != null) {
      applier.setShare(
          share, isSealed, change.version(), change.attributes(), change.modifiedMillis(), extras);
      return;
    }
    NodeType type = NodeType.of(change.type());
    require(type.isContainer(), change, "type ", change.type());
    share =
        new Share(
            change.id(),
            type,
            change.storageClass(),
            change.host(),
            change.flags() & ~NodeInfo.EXTENDED,
            change.attributes(),
            change.modifiedMillis(),
            change.path(),
            change.owner(),
            change.incarnation(),
            change.version());
    state.budget().add(share.footprint());
    applier.addShare(share, isSealed, extras, false);
  }
}
