/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.Utf8;
import io.crail.namenode.lease.LeaseWriter;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.space.MovingBytes;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.RestingMoves;
import io.crail.namenode.space.SpaceWriter;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Share;
import io.crail.namenode.tree.TreeWriter;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.SetSize;

/**
 * Makes the changes of nodes that rules have decided: with the {@link DatanodeApplier} the only
 * writer of the {@link State}. Each method is one change. The caller holds the {@link Locks} of all
 * nodes that it names, has checked that the change is allowed, and has taken what it needs: heap,
 * names, space, a lease, and of quotas what a node has more afterwards. What it has less is given
 * back here. So no change fails. Each is reported to the {@link ChangeSink}, if there is one, as a
 * {@link Change}, except for what follows from others. Thread-safe.
 */
public final class Applier {
  /** All bytes of a small value are as they were. */
  public static final int ALL_BYTES = Integer.MAX_VALUE;

  private final State state;
  private final TreeWriter tree;
  private final SpaceWriter space;
  private final LeaseWriter<Node> leases;
  private final Locks locks;
  private final ChangeSink sink;
  private final Locks.Action release = node -> release(node, true);
  private final Locks.Action releaseReplaced = node -> release(node, false);

  /**
   * Creates the writer of a state.
   *
   * @param sink receives the changes; null for none
   */
  public Applier(State state, Locks locks, ChangeSink sink) {
    this.state = state;
    this.tree = new TreeWriter(state.tree());
    this.space = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.leases = new LeaseWriter<>(state.leases());
    this.locks = locks;
    this.sink = sink;
  }

  private void report(Change change) {
    sink.changed(change);
  }

  /**
   * A new node appears under a name that no node has.
   *
   * @param space its first bytes; null for none
   * @param lease the lease of its writer; null for none
   * @param extras what a compound operation or its container gives it; null for nothing
   */
  public void link(
      Node node,
      NodeSpace space,
      WriteLease<Node> lease,
      NodeExtras extras,
      Container parent,
      PathBytes path) {
    prepare(node, space, lease, extras, parent, path, null);
    if (sink != null) {
      report(Change.Link.of(node, 0, -1, extras(node)));
    }
    tree.link(node);
  }

  /** As {@link #link}, in the place of another node with bytes, which ends. */
  public void replace(
      Node node,
      NodeSpace space,
      WriteLease<Node> lease,
      NodeExtras extras,
      PathBytes path,
      Node old) {
    prepare(node, space, lease, extras, Container.of(old), path, old);
    if (sink != null) {
      report(Change.Link.of(node, old.id(), -1, extras(node)));
    }
    shrunk(node, old.space(), space);
    tree.link(node, old);
    destroy(old, releaseReplaced);
  }

  private void prepare(
      Node node,
      NodeSpace space,
      WriteLease<Node> lease,
      NodeExtras extras,
      Container parent,
      PathBytes path,
      Node old) {
    tree.prepare(node, space, lease, parent, path, old);
    if (extras != null) {
      tree.extras(node, extras);
    }
  }

  /**
   * A new node is to replace another, as soon as its value is whole. A node that was to replace it
   * before ends.
   *
   * @param extras what its container gives it; null for nothing
   * @param length the bytes of the whole value
   */
  public void linkPending(
      Node node,
      NodeSpace space,
      WriteLease<Node> lease,
      NodeExtras extras,
      PathBytes path,
      Node present,
      long length) {
    prepare(node, space, lease, extras, Container.of(present), path, present);
    if (sink != null) {
      report(Change.Link.of(node, present.id(), length, extras(node)));
    }
    Node former = tree.linkPending(node, present, length);
    if (former != null) {
      destroy(former);
    }
  }

  /**
   * A writer gets space for bytes that no reader sees, in a node that no name leads to.
   *
   * @param length how many bytes they will be
   */
  public void stage(
      Node node,
      NodeSpace space,
      WriteLease<Node> lease,
      Container parent,
      PathBytes path,
      long length) {
    prepare(node, space, lease, null, parent, path, null);
    if (sink != null) {
      report(Change.Link.of(node, 0, length, extras(node)));
    }
    tree.stage(node);
  }

  /**
   * Staged bytes become the content of a key: their node gets its name. Under the locks of the
   * parent and of both nodes.
   *
   * @param size how many bytes they are
   * @param kept what is left of their space when that behind the size is cut off
   * @param attributes those of the key, whose owner and group are held
   * @param extras what the key has besides, for which heap was taken
   * @param old the node that has the name, and ends; null for none
   */
  public void linkStaged(
      Node staged,
      long size,
      NodeSpace kept,
      long attributes,
      NodeExtras extras,
      PathBytes path,
      Node old,
      long nowMillis) {
    NodeSpace former = staged.space();
    endLease(staged, staged.lease());
    space.commit(kept, size);
    int owner = staged.owner();
    int group = staged.group();
    long accessed = old == null ? nowMillis : old.accessedMillis();
    tree.attributes(staged, attributes, nowMillis, accessed);
    tree.unstage(staged, old == null || old.isEnumerable());
    prepare(staged, kept, null, extras, Container.of(staged), path, old);
    if (sink != null) {
      report(Change.Link.ofStaged(staged, Change.idOf(old), extras(staged)));
    }
    state.users().release(owner);
    state.users().release(group);
    tree.linkStaged(staged, old);
    giveBytes(staged, giveBackAfter(former, kept));
    if (old != null) {
      destroy(old);
    }
  }

  /**
   * The extents of staged bytes go behind those of a node. Under the locks of both, and of their
   * parent.
   *
   * @param size how many bytes they are
   * @param kept what is left of their space when that behind the size is cut off
   * @param extras what the node has besides, for which heap was taken
   */
  public void append(
      Node node, Node staged, long size, NodeSpace kept, NodeExtras extras, long nowMillis) {
    final long before = node.size();
    final boolean isSame = node.hasExtras() && extras(node).attributes() == extras.attributes();
    NodeSpace former = staged.space();
    endLease(staged, staged.lease());
    tree.space(staged, null);
    tree.space(node, space.join(node.space(), kept, size));
    tree.grown(node, nowMillis);
    tree.extras(node, extras);
    reportContents(
        node,
        Math.max(0, before - 1),
        before,
        ALL_BYTES,
        staged,
        isSame ? Change.Contents.SAME_ATTRIBUTES : Change.Contents.NEW_ATTRIBUTES);
    giveBytes(node, giveBackAfter(former, kept));
    tree.endStaged(staged);
    forget(staged);
  }

  /** Staged bytes end without a key. Under the lock of their node. */
  public void endStaged(Node staged, long nowMillis) {
    if (sink != null) {
      report(new Change.Unlink(staged.id(), nowMillis));
    }
    locks.apply(staged, release);
    tree.endStaged(staged);
    forget(staged);
  }

  /** A node with bytes ends, and one that was to replace it. */
  public void remove(Node node, long nowMillis) {
    if (sink != null) {
      report(new Change.Unlink(node.id(), nowMillis));
    }
    tree.unlink(node, nowMillis);
    giveName(Container.of(node));
    destroy(node);
  }

  /**
   * A container ends. What is below it is taken apart afterwards, see {@link #unlinkLastChild}.
   * Under the locks of its parent and of itself.
   */
  public void removeContainer(Container container, long nowMillis) {
    if (sink != null) {
      report(new Change.Unlink(container.id(), nowMillis));
    }
    tree.unlink(container, nowMillis);
    giveName(Container.of(container));
    forget(container);
  }

  /** The node that is to replace another ends. Under the parent's lock. */
  public void dropPending(Node present, long nowMillis) {
    Node node = tree.dropPending(present);
    if (node != null) {
      if (sink != null) {
        report(new Change.Unlink(node.id(), nowMillis));
      }
      destroy(node);
    }
  }

  /**
   * Takes the last child out of a removed container; it follows from the removal. Under the
   * container's lock.
   *
   * @return the child, which {@link #endUnlinked} ends without that lock; null when there is none
   */
  public Node unlinkLastChild(Container container) {
    Node child = tree.unlinkLast(container);
    if (child != null) {
      giveName(container);
    }
    return child;
  }

  /**
   * Ends a child of a removed container.
   *
   * @return whether it is a container that has children to take apart too
   */
  public boolean endUnlinked(Node child) {
    if (!(child instanceof Container container)) {
      destroy(child);
      return false;
    }
    boolean isFull =
        locks.of(
            container,
            () -> {
              tree.close(container);
              return container.childCount() > 0;
            });
    forget(container);
    return isFull;
  }

  /**
   * A node gets another name, and perhaps another parent. What it has of quotas was moved before.
   *
   * @param old the node in whose place it will be, which the caller ends afterwards; null for none
   * @param heir the node that was to replace it, and keeps its name; null for none
   * @param source the present name
   */
  public void rename(
      Node node,
      PathBytes source,
      Container to,
      PathBytes target,
      Node old,
      Node heir,
      long nowMillis) {
    if (sink != null) {
      int length = target.nameLength();
      report(
          new Change.Rename(
              node.id(),
              to.id(),
              nowMillis,
              Change.idOf(old),
              Change.idOf(heir),
              Utf8.copyOf(target.bytes(), target.nameStart(), length)));
    }
    tree.rename(node, to, target, old, heir, source, nowMillis);
  }

  /** Frees what a node had that was replaced by {@link #rename}, after the sequence of renames. */
  public void end(Node replaced) {
    if (replaced instanceof Container) {
      forget(replaced);
    } else {
      destroy(replaced);
    }
  }

  /**
   * Attributes and times of a node change. Under its lock and its parent's.
   *
   * @param attributes from {@link Node#attributes(int, int, int)}
   */
  public void attributes(Node node, long attributes, long modifiedMillis, long accessedMillis) {
    int owner = node.owner();
    int group = node.group();
    if (sink != null) {
      report(new Change.Attributes(node.id(), attributes, modifiedMillis, accessedMillis));
    }
    tree.attributes(node, attributes, modifiedMillis, accessedMillis);
    // The new ones are held already, also where they are the same.
    state.users().release(owner);
    state.users().release(group);
  }

  private void reportShare(Share share, int newState) {
    if (sink != null) {
      report(ShareChange.of(share, newState, extras(share).lifetimeOfChildren()));
    }
  }

  /**
   * This namenode gets a share of a spread directory.
   *
   * @param extras what it has besides, for which heap was taken; null for nothing
   * @param isLimited whether the directory has limits: then nothing of them is its own yet, and
   *     heap was taken for its account
   */
  public void addShare(Share share, boolean isSealed, NodeExtras extras, boolean isLimited) {
    if (extras != null) {
      tree.extras(share, extras);
    }
    reportShare(share, isSealed ? SetShare.SEALED : SetShare.OPEN);
    if (isLimited) {
      lend(share, new Quota.Limits(0, 0));
    }
    tree.addShare(share, isSealed);
  }

  /**
   * A share gets another state. Under its monitor.
   *
   * @param attributes from {@link Node#attributes(int, int, int)}
   * @param extras what it has besides, for which heap was taken; null for what it has
   */
  public void setShare(
      Share share,
      boolean isSealed,
      long version,
      long attributes,
      long modifiedMillis,
      NodeExtras extras) {
    if (extras != null) {
      tree.extras(share, extras);
    }
    attributes(
        share,
        attributes,
        Math.max(share.modifiedMillis(), modifiedMillis),
        share.accessedMillis());
    tree.seal(share, isSealed, version);
    reportShare(share, isSealed ? SetShare.SEALED : SetShare.OPEN);
  }

  /**
   * A share ends. What is below it is taken apart afterwards, see {@link #unlinkLastChild}. Under
   * its monitor.
   */
  public void removeShare(Share share) {
    reportShare(share, SetShare.GONE);
    tree.removeShare(share);
    forget(share);
  }

  /**
   * A spread directory takes no new children, or takes them again. It is in no record: a namenode
   * that starts removes no directory. Under its monitor.
   */
  public void seal(Container directory, boolean isSealed) {
    tree.seal(directory, isSealed, 0);
  }

  /**
   * A compound operation changes a node that stays. Under its lock.
   *
   * @param value all its bytes, in memory that was taken for them; null for none
   * @param unchanged the first bytes, which are as they were; {@link #ALL_BYTES} if the value is
   *     not used
   * @param extras what it has besides, for which heap was taken
   */
  public void operate(
      Node node, SmallBytes value, int unchanged, NodeExtras extras, long nowMillis) {
    NodeSpace former = unchanged == ALL_BYTES ? null : node.space();
    if (unchanged != ALL_BYTES) {
      shrunk(node, former, value);
      tree.space(node, value);
      tree.grown(node, nowMillis);
    }
    boolean isSame = node.hasExtras() && extras(node).attributes() == extras.attributes();
    tree.extras(node, extras);
    reportContents(
        node,
        0,
        0,
        unchanged,
        null,
        isSame ? Change.Contents.SAME_ATTRIBUTES : Change.Contents.NEW_ATTRIBUTES);
    SmallBytes small = former == null ? null : former.small();
    if (small != null) {
      space.succeed(small, value);
    }
  }

  /** The end of a node is put off, since it was accessed. Under its lock. */
  public void putOff(Node node, long endMillis) {
    tree.putOff(node, endMillis);
    reportContents(node, 0, 0, ALL_BYTES, null);
  }

  /**
   * A share may use a slice of the limits of its directory. Under its monitor.
   *
   * @param slice the slice; where it has no account of its own, one begins, for which heap was
   *     taken
   * @return what it uses, and may use
   */
  public Quota.Report lend(Share share, Quota.Limits slice) {
    boolean begins = !share.hasOwnQuota();
    if (begins) {
      tree.quota(share, new Quota(share, null));
    }
    Quota.Limits before = share.quota().usage().limits();
    Quota.Report report = share.quota().slice(slice);
    if (sink != null && (begins || !before.equals(report.usage().limits()))) {
      report(LimitChange.of(share, extras(share)));
    }
    return report;
  }

  /**
   * A compound operation limits what a container may hold, and perhaps changes what it has besides.
   * Under its lock, and that of its parent.
   *
   * @param limits the limits; where it has no account of its own, one begins, for which heap was
   *     taken
   * @param extras what it has besides, for which heap was taken; null for what it has
   */
  public void limit(Container container, Quota.Limits limits, NodeExtras extras) {
    if (!container.hasOwnQuota()) {
      tree.quota(container, new Quota(container, container.quota()));
    }
    container.quota().limit(limits);
    if (extras != null) {
      tree.extras(container, extras);
    }
    if (sink != null) {
      report(LimitChange.of(container, extras(container)));
    }
  }

  /** A client gets the write lease of a node. */
  public void lease(Node node, WriteLease<Node> lease) {
    tree.lease(node, lease);
    reportContents(node, 0, 0, ALL_BYTES, null);
  }

  /**
   * A writer gets space, and perhaps makes bytes visible.
   *
   * @param size the new size; the present one to change nothing
   * @param added extents after the present ones; null for none
   */
  public void extend(Node node, long size, NodeSpace added, long nowMillis) {
    long end = node.space() == null ? 0 : node.space().end();
    NodeSpace freed = grow(node, size, nowMillis);
    for (int i = 0; added != null && i < added.count(); i++) {
      tree.space(node, space.append(node.space(), added.at(i)));
    }
    reportContents(node, end, Long.MAX_VALUE, ALL_BYTES, null);
    giveBytes(node, lengthOf(giveBackValue(freed)));
  }

  /**
   * Makes bytes visible that are in the space of a node.
   *
   * @return the former content whose small value is not needed any more; null for none
   */
  private NodeSpace grow(Node node, long size, long nowMillis) {
    if (size <= node.size()) {
      return null;
    }
    NodeSpace former = null;
    if (node.space() instanceof MovingBytes moving) {
      NodeSpace extents = moving.extents();
      space.commit(extents, size);
      tree.space(node, extents);
      former = moving;
    } else {
      space.commit(node.space(), size);
    }
    tree.grown(node, nowMillis);
    return former;
  }

  /** A writer gets other space for an extent whose bytes no reader sees. The extent rests. */
  public void exchange(Node node, int index, NodeSpace others) {
    Allocation present = node.space().at(index);
    exchangeAt(node, index, others);
    WriteLease<Node> lease = node.lease();
    reportContents(node, present.fileOffset(), present.fileEnd(), ALL_BYTES, null);
    space.release(present, lease.endNanos(), writer(lease), false);
  }

  private void exchangeAt(Node node, int index, NodeSpace others) {
    long before = node.space().at(index).allocatedLength();
    tree.space(node, space.replace(node.space(), index, others));
    // A copy is as short as its bytes allow, and the former extent may have been longer.
    Quota quota = Container.quotaOf(node);
    if (quota != null) {
      quota.give(before - Quota.bytesOf(others), 0);
    }
  }

  /**
   * The copy of an extent takes its place. The former extent rests until it is known that the copy
   * is safe.
   */
  public void move(Node node, int index, Allocation target, RestingMoves.Move move) {
    exchangeAt(node, index, target);
    reportMove(node, target, Change.Contents.MOVED);
    space.rest(move);
  }

  /** A moved extent goes back to its former place. The place that it leaves rests. */
  public void moveBack(Node node, int index, Allocation former) {
    Allocation present = node.space().at(index);
    exchangeAt(node, index, former);
    reportMove(node, former, Change.Contents.MOVED_BACK);
    space.releaseMoved(present);
  }

  /** Space is granted to a client for the copy of an extent. */
  public void grant(Allocation extent, Quarantine.Grant grant) {
    if (sink != null) {
      report(Change.Grant.of(grant, extent));
    }
    space.grant(extent, grant);
  }

  /**
   * A writer makes bytes visible, and perhaps ends its lease.
   *
   * @param size the new size; one below the present size changes nothing
   * @param value all bytes of the node, in memory that was taken for them; null for none
   * @param close as in {@link SetSize}
   * @param kept with {@link SetSize#END}: what is left of the space when that behind the size is
   *     cut off; null for nothing
   * @param present the node whose place it takes, since its value is whole; null for none. Then the
   *     lock of that node's parent is held too
   */
  public void resize(
      Node node,
      long size,
      SmallBytes value,
      int close,
      NodeSpace kept,
      Node present,
      long nowMillis) {
    WriteLease<Node> lease = node.lease();
    NodeSpace former = node.space();
    NodeSpace freedValue;
    state.tree().extras().accessed(node, extras(node), nowMillis);
    if (value != null) {
      tree.space(node, value);
      tree.grown(node, nowMillis);
      freedValue = former;
    } else {
      freedValue = grow(node, size, nowMillis);
    }
    if (close == SetSize.END) {
      tree.lease(node, null);
      if (value == null) {
        tree.space(node, kept);
      }
      tree.abandon(node);
    } else if (close == SetSize.EXPIRE) {
      leases.endLater(lease);
    }
    if (present != null) {
      tree.complete(node);
    }
    reportContents(node, node.size(), Long.MAX_VALUE, value != null ? 0 : ALL_BYTES, present);
    if (present != null) {
      tree.takePlace(node, present);
    }
    long freed = lengthOf(giveBackValue(freedValue));
    if (close == SetSize.END) {
      leases.end(lease);
    }
    if (value != null) {
      shrunk(node, former, value);
      // Its writer may be writing to space that it has asked for.
      giveBackAll(former, lease.mayBeWriting() ? lease : null);
    } else {
      if (close == SetSize.END) {
        // All writes were acknowledged, so none is on its way to the extents that are cut off.
        freed += giveBackAfter(former, kept);
      }
      giveBytes(node, freed);
    }
    if (present != null) {
      destroy(present);
    }
  }

  /**
   * The node that was to replace another takes its place. Under the locks of both and of their
   * parent.
   */
  void takePlace(Node node, Node present) {
    tree.takePlace(node, present);
    destroy(present);
  }

  /**
   * The lease of a node has run out. Space behind its bytes rests.
   *
   * @param lease the lease
   * @param kept what is left of its space; null for nothing
   * @param sealed the last extent if it was sealed, so that the next writer continues in another
   *     one
   */
  public void expire(
      Node node, WriteLease<Node> lease, NodeSpace kept, Allocation sealed, long now) {
    NodeSpace former = node.space();
    tree.abandon(node);
    tree.space(node, kept);
    tree.lease(node, null);
    reportContents(node, Math.max(0, node.size() - 1), Long.MAX_VALUE, ALL_BYTES, null);
    int first = kept == null ? 0 : kept.count();
    long freed = 0;
    for (int i = former == null ? -1 : former.count() - 1; i >= first; i--) {
      freed += former.at(i).allocatedLength();
      space.release(former.at(i), now, writer(lease), false);
    }
    giveBytes(node, freed);
    if (sealed != null) {
      space.cutOff(sealed, lease.client().clientId());
    }
  }

  /** The holder ends the lease of a node that ends too, or has ended. Its space need not rest. */
  public void endLease(Node node, WriteLease<Node> lease) {
    leases.end(lease);
    tree.lease(node, null);
  }

  /** Numbers may be given from now on that no other record shows. */
  public void reserve(ReserveChange numbers) {
    if (sink != null) {
      report(numbers);
    }
  }

  private NodeExtras extras(Node node) {
    return state.tree().extras().of(node);
  }

  private static int sameAttributes(Node node) {
    return node.hasExtras() ? Change.Contents.SAME_ATTRIBUTES : Change.Contents.NO_EXTRAS;
  }

  private void reportContents(Node node, long from, long to, int unchanged, Node replaced) {
    reportContents(node, from, to, unchanged, replaced, sameAttributes(node));
  }

  private void reportContents(
      Node node, long from, long to, int unchanged, Node replaced, int attributes) {
    if (sink != null) {
      report(
          Change.Contents.of(
              node,
              from,
              to,
              unchanged,
              Change.idOf(replaced),
              Change.Contents.NOT_MOVED,
              attributes,
              extras(node)));
    }
  }

  private void reportMove(Node node, Allocation extent, int moved) {
    if (sink != null) {
      report(
          Change.Contents.of(
              node,
              extent.fileOffset(),
              extent.fileEnd(),
              ALL_BYTES,
              0,
              moved,
              sameAttributes(node),
              extras(node)));
    }
  }

  /** The writer that may still write under a lease. */
  static Quarantine.Writer writer(WriteLease<Node> lease) {
    return new Quarantine.Writer(lease.subject().id(), lease.token(), lease.client().clientId());
  }

  /** Gives the memory of a small value back, and returns that value; null for none. */
  private SmallBytes giveBackValue(NodeSpace former) {
    SmallBytes small = former == null ? null : former.small();
    if (small != null) {
      space.giveBack(small);
    }
    return small;
  }

  private static long lengthOf(SmallBytes value) {
    return value == null ? 0 : value.length();
  }

  /** Gives a name back to the quota of the container that it was in. */
  private static void giveName(Container parent) {
    Quota quota = parent.quota();
    if (quota != null) {
      quota.give(0, 1);
    }
  }

  /** Gives bytes back to the quota of a node. */
  private static void giveBytes(Node node, long freed) {
    Quota quota = Container.quotaOf(node);
    if (quota != null && freed > 0) {
      quota.give(freed, 0);
    }
  }

  /** Gives back what a node has less with its next space; what it has more was taken before. */
  private static void shrunk(Node node, NodeSpace former, NodeSpace next) {
    Quota quota = Container.quotaOf(node);
    if (quota != null) {
      quota.give(Math.max(0, Quota.bytesOf(former) - Quota.bytesOf(next)), 0);
    }
  }

  /** Gives all extents back; those that may be written under a lease, which may be null, rest. */
  private void giveBackAll(NodeSpace former, WriteLease<Node> lease) {
    for (int i = former == null ? -1 : former.count() - 1; i >= 0; i--) {
      if (lease == null) {
        space.giveBack(former.at(i));
      } else {
        space.release(former.at(i), lease.endNanos(), writer(lease), false);
      }
    }
  }

  /** Gives the extents back that are not kept, and returns how many bytes they were. */
  private long giveBackAfter(NodeSpace former, NodeSpace kept) {
    int first = kept == null ? 0 : kept.count();
    long freed = 0;
    for (int i = former == null ? -1 : former.count() - 1; i >= first; i--) {
      freed += former.at(i).allocatedLength();
      space.giveBack(former.at(i));
    }
    return freed;
  }

  /** Frees all that a node with bytes has which no name leads to any more. */
  private void destroy(Node node) {
    destroy(node, release);
  }

  private void destroy(Node node, Locks.Action action) {
    Node heir = tree.dropPending(node);
    if (heir != null) {
      destroy(heir);
    }
    locks.apply(node, action);
    // Only now, so that the close of its writer always finds either the node or its resting space.
    forget(node);
  }

  /**
   * Takes back bytes and lease of a node that is gone. The node keeps its extents, so that a reader
   * that found the node before does not see an empty one; of a small value it keeps the length, so
   * that the reader looks again.
   *
   * @param isCounted whether its quota still counts its bytes
   */
  private void release(Node node, boolean isCounted) {
    NodeSpace own = node.space();
    if (isCounted) {
      shrunk(node, own, null);
    }
    WriteLease<Node> lease = node.lease();
    Quarantine.Writer writer = own == null || lease == null ? null : writer(lease);
    for (int i = own == null ? -1 : own.count() - 1; i >= 0; i--) {
      boolean mayReport = lease != null && lease.isHeld();
      space.release(own.at(i), lease == null ? 0 : lease.endNanos(), writer, mayReport);
    }
    giveBackValue(own);
    if (lease != null) {
      leases.end(lease);
      tree.lease(node, null);
    }
  }

  /** Forgets the id of a node that has no name any more. */
  private void forget(Node node) {
    tree.forget(node);
    state.budget().give(node.footprint());
    if (node instanceof Container container && container.hasOwnQuota()) {
      state.budget().give(Quota.FOOTPRINT);
    }
    state.users().release(node.owner());
    state.users().release(node.group());
  }
}
