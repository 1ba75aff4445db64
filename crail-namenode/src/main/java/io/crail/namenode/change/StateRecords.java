/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SpaceWriter;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Share;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The records that make a state, in place of all those that have led to it: a {@link Replay} of
 * them gives the same nodes, space, names and accounts. They are in an order that a replay accepts:
 * what nodes refer to by number, containers before what is in them, children in their order. For a
 * state that nothing else uses meanwhile.
 */
public final class StateRecords {
  private final State state;
  private final Tree tree;
  private final SpaceWriter space;
  private final ChangeSink out;
  private final ArrayDeque<Container> containers = new ArrayDeque<>();

  private StateRecords(State state, ChangeSink out) {
    this.state = state;
    this.tree = state.tree();
    this.space = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.out = out;
  }

  /** Hands all records out, one after the other. */
  public static void write(State state, ChangeSink out) {
    new StateRecords(state, out).write();
  }

  private void write() {
    state.users().forEach((name, number) -> out.changed(new SpaceChange.User(number, name)));
    state.hosts().forEach((name, number) -> out.changed(new SpaceChange.Host(number, name)));
    // First, since what is removed refers to containers that are not there any more.
    number(NumberChange.NODE_IDS, 0, tree.lastId());
    number(NumberChange.NODES, 0, tree.size());
    state.datanodes().all().forEach(this::datanode);
    container(tree.root());
    tree.spread().shares().values().forEach(this::share);
    while (!containers.isEmpty()) {
      children(containers.pollLast());
    }
    tree.walk(0, Long.MAX_VALUE, this::staged);
    space.forEachResting(this::resting);
    state.datanodes().all().forEach(this::cutOffs);
  }

  private void number(int of, long id, long number) {
    out.changed(new NumberChange(of, id, 0, number));
  }

  private void datanode(DatanodeSpace datanode) {
    out.changed(SpaceChange.Datanode.of(datanode, datanode.state().number(), datanode.isStopped()));
    if (datanode.keeping().keeps()) {
      out.changed(SpaceChange.Kept.of(datanode));
    }
    held(datanode);
    space.forEachRegion(
        datanode,
        (region, generation, isResting) -> {
          // One that does not rest must not begin to rest again.
          out.changed(
              new SpaceChange.LentRegion(datanode.id(), isResting ? generation : 0, region));
          out.changed(
              new NumberChange(
                  NumberChange.GENERATIONS, datanode.id(), region.index(), generation));
        });
  }

  private void held(DatanodeSpace datanode) {
    List<Long> clients = space.heldFor(datanode);
    int most = SpaceChange.HeldBack.MAX_CLIENTS;
    for (int from = 0; clients != null && (from == 0 || from < clients.size()); from += most) {
      int to = Math.min(clients.size(), from + most);
      out.changed(new SpaceChange.HeldBack(datanode.id(), true, clients.subList(from, to)));
    }
  }

  /** Space that rests is like space of a copy that has to begin anew. */
  private void resting(Allocation extent, Quarantine.Writer writer) {
    out.changed(
        new Change.Grant(
            tree.lastId(),
            writer == null ? 0 : writer.token(),
            writer == null ? 0 : writer.client(),
            0,
            0,
            Change.Held.of(extent)));
  }

  private void cutOffs(DatanodeSpace datanode) {
    for (long client : state.space().cutOffs(datanode).clients()) {
      number(NumberChange.CUT_OFFS, datanode.id(), client);
    }
  }

  private void share(Share share) {
    int stands = share.isSealed() ? SetShare.SEALED : SetShare.OPEN;
    out.changed(ShareChange.of(share, stands, extras(share).lifetimeOfChildren()));
    container(share);
  }

  /** What a container has besides its children, which follow later. */
  private void container(Container container) {
    if (container.hasOwnQuota()) {
      out.changed(LimitChange.of(container, extras(container)));
    }
    containers.addLast(container);
  }

  private void children(Container container) {
    long[] next = {1};
    container.visitFrom(
        0,
        child -> {
          if (child.sequence() != next[0]) {
            number(NumberChange.CHILDREN, container.id(), child.sequence());
          }
          next[0] = child.sequence() + 1;
          link(Change.Link.of(child, 0, -1, extras(child)));
          Node heir = tree.pending().of(child);
          if (heir != null) {
            long length = tree.pending().length(child);
            link(Change.Link.of(heir, child.id(), length, extras(heir)));
          }
          if (child instanceof Container below) {
            container(below);
          }
          return true;
        });
    if (container.nextSequence() != next[0]) {
      number(NumberChange.CHILDREN, container.id(), container.nextSequence());
    }
    // Each child has changed the times.
    out.changed(
        new Change.Attributes(
            container.id(),
            container.attributes(),
            container.modifiedMillis(),
            container.accessedMillis()));
  }

  /** A node; if it has more extents than a record may have, the others follow. */
  private void link(Change.Link link) {
    Change.Contents all = link.contents();
    int count = all.extents().size();
    int most = Change.MAX_EXTENTS;
    if (count <= most) {
      out.changed(link);
      return;
    }
    out.changed(
        new Change.Link(
            link.parent(),
            link.accessedMillis(),
            link.attributes(),
            link.replaces(),
            link.whole(),
            link.type(),
            link.storageClass(),
            link.host(),
            link.name(),
            part(all, 0, most)));
    for (int from = most; from < count; from += most) {
      out.changed(part(all, from, Math.min(count, from + most)));
    }
  }

  /**
   * A part of contents that list all extents, as if the node had got them one part after the other.
   *
   * @param first index of the first extent; only if it is 0, the record is that of a new node
   */
  private static Change.Contents part(Change.Contents all, int first, int to) {
    Extent last = all.extents().get(to - 1).extent();
    long end = last.fileOffset() + last.length();
    boolean isWhole = first == 0 || all.attributes() == Change.Contents.NO_EXTRAS;
    boolean hasValue = first > 0 && all.value() != Change.Contents.NO_VALUE;
    return new Change.Contents(
        all.id(),
        Math.min(all.size(), end),
        all.modifiedMillis(),
        all.flags(),
        all.token(),
        all.client(),
        all.ending(),
        all.extents().get(first).extent().fileOffset(),
        Long.MAX_VALUE,
        end,
        hasValue ? Change.Contents.SAME_VALUE : all.value(),
        0,
        all.moved(),
        all.extents().subList(first, to),
        first == 0 ? all.bytes() : SmallValue.NONE,
        isWhole ? all.attributes() : Change.Contents.SAME_ATTRIBUTES,
        isWhole ? all.extras() : List.of(all.extras().get(0).withoutAttributes()));
  }

  private boolean staged(Node node) {
    if (node.isStaged()) {
      long length = node.space() == null ? 0 : node.space().end();
      link(Change.Link.of(node, 0, length, extras(node)));
    }
    return true;
  }

  private NodeExtras extras(Node node) {
    return tree.extras().of(node);
  }
}
