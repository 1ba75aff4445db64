/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

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
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SpaceWriter;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Share;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.tree.TreeWriter;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Makes the changes that records say, in the order in which they were made: it turns a {@link
 * State} without nodes into the one that a namenode had. What has no record and follows from others
 * is made with them: what is below a removed container ends at once, space is taken where the
 * records say, accounts are kept. Each lease begins anew with its whole time.
 *
 * <p>Space that becomes free rests only at the end, see {@link #end}: until then the records say
 * who gets it. Nothing is refused for a limit, since it was admitted before. A record that does not
 * fit to those before it is damage, and ends the replay with {@link ErrorCode#INTERNAL}. For one
 * thread; nothing else may use the state meanwhile.
 */
public final class Replay {
  private final NameNodeOptions options;
  private final State state;
  private final Tree tree;
  private final Clock clock;
  private final Applier applier;
  private final DatanodeApplier datanodes;
  private final TreeWriter nodes;
  private final SpaceWriter space;
  private final LeaseWriter<Node> leases;

  /** Begins the replay into a state without nodes. */
  public Replay(NameNodeOptions options, State state, Locks locks, Clock clock) {
    this.options = options;
    this.state = state;
    this.tree = state.tree();
    this.clock = clock;
    this.applier = new Applier(state, locks, null);
    this.datanodes = new DatanodeApplier(state, null);
    this.nodes = new TreeWriter(tree);
    this.space = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.leases = new LeaseWriter<>(state.leases());
    space.beginReplay();
  }

  /**
   * Notes when the next changes were made.
   *
   * @param millis milliseconds since 1970
   */
  public void at(long millis) {
    space.replayedAt(millis);
  }

  /** Ends the replay. What the last records have freed rests, as clients may still access it. */
  public void end() {
    space.endReplay();
  }

  /**
   * Makes a change.
   *
   * @throws CrailException with {@link ErrorCode#INTERNAL} when it does not fit to the others; with
   *     {@link ErrorCode#LIMIT_EXCEEDED} when the namenode has less memory than before
   */
  public void apply(Change change) throws CrailException {
    if (change instanceof Change.Contents contents) {
      contents(contents);
    } else if (change instanceof Change.Link link) {
      link(link);
    } else if (change instanceof Change.Unlink unlink) {
      unlink(unlink);
    } else if (change instanceof Change.Attributes attributes) {
      attributes(attributes);
    } else if (change instanceof Change.Rename rename) {
      rename(rename);
    } else if (change instanceof Change.Grant grant) {
      // Who copies is not known any more, and has to begin anew.
      space.granted(grant.extent().extent(), grant.extent().allocated());
    } else if (change instanceof LimitChange limit) {
      limit(limit);
    } else if (change instanceof ShareChange share) {
      share(share);
    } else {
      number((SpaceChange) change);
    }
  }

  private static CrailException damage(Change change, String why) {
    return ErrorCode.INTERNAL.exception(change + ": " + why);
  }

  private static void require(boolean holds, Change change, String why) throws CrailException {
    if (!holds) {
      throw damage(change, why);
    }
  }

  private void number(SpaceChange change) throws CrailException {
    if (change instanceof SpaceChange.User user) {
      require(state.users().restore(user.user(), user.name()), change, "the number is in use");
    } else if (change instanceof SpaceChange.Host host) {
      require(state.hosts().restore(host.host(), host.name()), change, "the number is in use");
    } else if (change instanceof SpaceChange.Datanode datanode) {
      datanode(datanode);
    } else {
      region((SpaceChange.LentRegion) change);
    }
  }

  private void datanode(SpaceChange.Datanode change) throws CrailException {
    requireHost(change.host(), change);
    long now = clock.nanoTime();
    DatanodeSpace datanode = state.datanodes().find(change.id());
    if (change.state() == SpaceChange.Datanode.FORGOTTEN) {
      require(datanode != null, change, "no such datanode");
      require(datanode.isEmpty(), change, "it has space of nodes");
      datanodes.forget(List.of(datanode));
      return;
    }
    if (datanode == null) {
      datanode =
          new DatanodeSpace(
              change.id(),
              change.host(),
              change.description(),
              options.blockSize(),
              now,
              state.budget());
      datanodes.add(datanode);
    }
    require(change.state() < DatanodeSpace.State.values().length, change, "unknown state");
    datanodes.state(datanode, DatanodeSpace.State.values()[change.state()], change.stopped(), now);
  }

  private void region(SpaceChange.LentRegion change) throws CrailException {
    DatanodeSpace datanode = state.datanodes().find(change.datanode());
    require(datanode != null, change, "no such datanode");
    datanode.admit(change.region(), change.generation());
    datanodes.add(datanode, change.region(), change.generation(), 0);
  }

  /** Holds the owner and the group of attributes for a node. */
  private void hold(long attributes, Change change) throws CrailException {
    for (int user : new int[] {Node.owner(attributes), Node.group(attributes)}) {
      require(state.users().knows(user), change, "user " + user);
      state.users().hold(user);
    }
  }

  private void requireHost(int number, Change change) throws CrailException {
    require(state.hosts().knows(number), change, "host " + number);
  }

  private static PathBytes path(Utf8 name) throws CrailException {
    return PathBytes.of(Utf8.of("/" + name));
  }

  private static PathBytes pathOf(Node node) throws CrailException {
    return path(Change.nameOf(node));
  }

  private void link(Change.Link link) throws CrailException {
    if (!(tree.find(link.parent()) instanceof Container parent)) {
      // What is created in a removed container ends with it.
      endStaged(link.contents().id(), link.contents().modifiedMillis());
      return;
    }
    PathBytes path = path(link.name());
    Node old = link.replaces() == 0 ? null : tree.find(link.replaces());
    require(old != null || link.replaces() == 0, link, "replaces a node that is not there");
    Node present = tree.find(link.contents().id());
    hold(link.attributes(), link);
    requireHost(link.host(), link);
    if (present != null) {
      require(present.isStaged(), link, "the id is in use");
      linkStaged(present, link, path, old);
      return;
    }
    NodeExtras extras = extras(link.contents(), null);
    Node node = node(link);
    nodes.haveGiven(node.id());
    state
        .budget()
        .add(
            Node.footprint(node.type(), path.nameLength())
                + (extras == null ? 0 : extras.footprint()));
    Tree.extendReach(parent, 1 + path.nameLength());
    NodeSpace own = space(link.contents(), null, null);
    WriteLease<Node> lease = lease(link.contents(), node);
    boolean isToCome = link.whole() >= 0;
    boolean isStaged = isToCome && old == null;
    boolean isInPlace = !isToCome && old != null;
    take(
        parent.quota(),
        Math.max(0, Quota.bytesOf(own) - (isInPlace ? Quota.bytesOf(old.space()) : 0)),
        old == null && !isStaged ? 1 : 0);
    if (isStaged) {
      applier.stage(node, own, lease, parent, path, link.whole());
    } else if (isToCome) {
      applier.linkPending(node, own, lease, extras, path, old, link.whole());
    } else if (isInPlace) {
      applier.replace(node, own, lease, extras, path, old);
    } else {
      require(tree.child(parent, path) == null, link, "the name is in use");
      applier.link(node, own, lease, extras, parent, path);
    }
    // A staged node does not take them over when it is made.
    if (isStaged && extras != null) {
      nodes.extras(node, extras);
    }
    nodes.attributes(
        node, link.attributes(), link.contents().modifiedMillis(), link.accessedMillis());
  }

  /** Ends a staged node that has become a part of what is below a removed container. */
  private void endStaged(long id, long millis) {
    Node node = tree.find(id);
    if (node != null && node.isStaged()) {
      applier.endStaged(node, millis);
    }
  }

  private static void take(Quota quota, long bytes, long names) {
    if (quota != null) {
      quota.give(-bytes, -names);
    }
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
    Change.Contents contents = link.contents();
    NodeExtras extras = extras(contents, staged);
    state.budget().add(extras == null ? 0 : extras.footprint());
    take(Container.quotaOf(staged), 0, old == null ? 1 : 0);
    NodeSpace former = staged.space();
    int kept = 0;
    while (former != null && kept < former.count() && former.at(kept).fileEnd() <= contents.end()) {
      kept++;
    }
    applier.linkStaged(
        staged,
        contents.size(),
        former == null ? null : AllocationList.prefix(former, kept, contents.size()),
        link.attributes(),
        extras,
        path,
        old,
        contents.modifiedMillis());
    nodes.flags(staged, contents.flags());
    nodes.attributes(staged, link.attributes(), contents.modifiedMillis(), link.accessedMillis());
  }

  private void unlink(Change.Unlink unlink) throws CrailException {
    Node node = tree.find(unlink.id());
    if (node == null) {
      // It was in a removed container.
      return;
    }
    if (node.isStaged()) {
      applier.endStaged(node, unlink.millis());
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
    if (node != null) {
      hold(change.attributes(), change);
      applier.attributes(
          node, change.attributes(), change.modifiedMillis(), change.accessedMillis());
    }
  }

  private void rename(Change.Rename rename) throws CrailException {
    Node node = tree.find(rename.id());
    if (node == null) {
      return;
    }
    require(tree.find(rename.parent()) instanceof Container, rename, "there is no such container");
    Container to = (Container) tree.find(rename.parent());
    Node old = rename.replaces() == 0 ? null : tree.find(rename.replaces());
    require(old != null || rename.replaces() == 0, rename, "replaces a node that is not there");
    Node heir = tree.pending().of(node);
    require(Change.idOf(heir) == rename.heir(), rename, "the heir is " + heir);
    PathBytes target = path(rename.name());
    Quota from = Container.quotaOf(node);
    long bytes = from == to.quota() ? 0 : Quota.bytesOf(node.space());
    take(from, -bytes, heir == null ? -1 : 0);
    take(to.quota(), bytes, old == null ? 1 : 0);
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
      return;
    }
    require(node instanceof Container, limit, "it is no container");
    Container container = (Container) node;
    contents(limit.contents());
    state.budget().add(container.hasOwnQuota() ? 0 : Quota.FOOTPRINT);
    Quota.Limits limits = new Quota.Limits(limit.bytes(), limit.names());
    if (container instanceof Share share) {
      applier.lend(share, limits);
    } else {
      applier.limit(container, limits, null);
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
    requireHost(change.host(), change);
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
    require(type.isContainer(), change, "type " + change.type());
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

  /** The extras that a record says; null for none. */
  private NodeExtras extras(Change.Contents contents, Node node) throws CrailException {
    if (contents.attributes() == Change.Contents.NO_EXTRAS) {
      return null;
    }
    require(contents.extras().size() == 1, contents, "there are no extras");
    NodeExtras extras = contents.extras().get(0);
    return contents.attributes() == Change.Contents.NEW_ATTRIBUTES
        ? extras
        : extras.withAttributes(tree.extras().of(node).attributes());
  }

  /** The lease that a record says for a node that has none, or another one; null for none. */
  private WriteLease<Node> lease(Change.Contents contents, Node node) throws CrailException {
    if (contents.token() == 0) {
      return null;
    }
    WriteLease<Node> lease = state.leases().grant(node, contents.client(), contents.token());
    // Whether it has asked for space is in no record.
    lease.spaceInUse();
    if (contents.ending()) {
      leases.endLater(lease);
    }
    return lease;
  }

  private void contents(Change.Contents contents) throws CrailException {
    Node node = tree.find(contents.id());
    if (node == null) {
      // It was in a removed container.
      endStaged(contents.replaces(), contents.modifiedMillis());
      return;
    }
    NodeExtras extras = extras(contents, node);
    Node other = contents.replaces() == 0 ? null : tree.find(contents.replaces());
    require(other != null || contents.replaces() == 0, contents, "the other node is not there");
    if (other != null && other.isStaged()) {
      append(node, other, contents, extras);
      return;
    }
    if (extras != null) {
      state.budget().add(extras.footprint());
      nodes.extras(node, extras);
    }
    WriteLease<Node> lease = node.lease();
    NodeSpace former = node.space();
    List<Allocation> freed = new ArrayList<>();
    NodeSpace next = space(contents, former, freed);
    if (next != null || former != null) {
      SmallBytes before = former == null ? null : former.small();
      take(Container.quotaOf(node), Quota.bytesOf(next) - Quota.bytesOf(former), 0);
      nodes.space(node, next);
      if (before != null && (next == null || next.small() != before)) {
        space.succeed(before, next == null ? null : next.small());
      }
      Quarantine.Writer writer = lease == null ? null : Applier.writer(lease);
      freed.forEach(extent -> space.release(extent, 0, writer, false));
    }
    if (lease == null || lease.token() != contents.token()) {
      if (lease != null) {
        leases.end(lease);
      }
      nodes.lease(node, lease(contents, node));
    } else if (contents.ending() && !lease.isEnding()) {
      leases.endLater(lease);
    }
    nodes.flags(node, contents.flags());
    nodes.attributes(node, node.attributes(), contents.modifiedMillis(), node.accessedMillis());
    if (other != null) {
      require(tree.pending().of(other) == node, contents, "it replaces another node");
      applier.takePlace(node, other);
    }
  }

  /** The extents of a staged node go behind those of a node. */
  private void append(Node node, Node staged, Change.Contents contents, NodeExtras extras)
      throws CrailException {
    require(extras != null, contents, "there are no extras");
    long more = contents.size() - node.size();
    NodeSpace extents = staged.space();
    require(more > 0 && extents != null && extents.end() >= more, contents, "too long");
    state.budget().add(extras.footprint());
    applier.append(
        node,
        staged,
        more,
        AllocationList.prefix(extents, extents.indexOf(more - 1) + 1, more),
        extras,
        contents.modifiedMillis());
    state.budget().add(extras.footprint());
    nodes.extras(node, extras);
    nodes.flags(node, contents.flags());
  }

  /**
   * The space of a node after a change.
   *
   * @param former its space before; null for none
   * @param freed gets the extents that it has no longer; null where it had none
   */
  private NodeSpace space(Change.Contents contents, NodeSpace former, List<Allocation> freed)
      throws CrailException {
    List<Allocation> extents = new ArrayList<>();
    List<Allocation> replaced = new ArrayList<>();
    int count = former == null ? 0 : former.count();
    for (int i = 0; i < count; i++) {
      Allocation extent = former.at(i);
      boolean isListed = extent.fileEnd() > contents.from() && extent.fileOffset() < contents.to();
      boolean isKept = !isListed && extent.fileOffset() < contents.end();
      (isKept ? extents : replaced).add(extent);
    }
    // What is given up first, since it may be granted in smaller or larger pieces.
    List<Change.Held> taken = new ArrayList<>();
    for (Change.Held held : contents.extents()) {
      Allocation same = sameOf(replaced, held);
      if (same == null) {
        taken.add(held);
      } else {
        replaced.remove(same);
        extents.add(same.extent().equals(held.extent()) ? same : space.same(same, held.extent()));
      }
    }
    for (Change.Held held : taken) {
      Extent extent = held.extent();
      Allocation claimed = space.claim(extent, held.allocated());
      require(claimed != null, contents, extent + " is not free");
      extents.add(claimed);
    }
    extents.sort((one, two) -> Long.compare(one.fileOffset(), two.fileOffset()));
    if (freed != null) {
      freed.addAll(replaced);
    }
    return space.restored(value(contents, former), extents, contents.size());
  }

  private static Allocation sameOf(List<Allocation> extents, Change.Held held) {
    for (Allocation extent : extents) {
      if (extent.place().equals(held.extent().place())
          && extent.allocatedLength() == held.allocated()) {
        return extent;
      }
    }
    return null;
  }

  private SmallBytes value(Change.Contents contents, NodeSpace former) throws CrailException {
    SmallBytes before = former == null ? null : former.small();
    byte[] bytes = contents.bytes().bytes();
    switch (contents.value()) {
      case Change.Contents.NO_VALUE:
        return null;
      case Change.Contents.SAME_VALUE:
        require(before != null, contents, "there is no value");
        return before;
      case Change.Contents.NEW_VALUE:
        break;
      default:
        require(
            before != null && before.length() >= contents.size() - bytes.length,
            contents,
            "there is no such value");
        int kept = (int) contents.size() - bytes.length;
        byte[] all = Arrays.copyOf(before.bytes(), (int) contents.size());
        System.arraycopy(bytes, 0, all, kept, bytes.length);
        bytes = all;
    }
    SmallBytes value = space.restoredValue(bytes);
    if (value == null) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "there is less memory for small values than the namenode had before");
    }
    return value;
  }
}
