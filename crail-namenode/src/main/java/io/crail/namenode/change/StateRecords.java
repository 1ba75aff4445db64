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
import java.util.ArrayDeque;

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
    state.datanodes().all().forEach(this::datanode);
    container(tree.root());
    tree.spread().shares().values().forEach(this::share);
    while (!containers.isEmpty()) {
      children(containers.pollLast());
    }
    tree.walk(0, Long.MAX_VALUE, this::staged);
    number(NumberChange.NODE_IDS, 0, tree.lastId());
    space.forEachResting(this::resting);
    state.datanodes().all().forEach(this::cutOffs);
  }

  private void number(int of, long id, long number) {
    out.changed(new NumberChange(of, id, 0, number));
  }

  private void datanode(DatanodeSpace datanode) {
    out.changed(SpaceChange.Datanode.of(datanode, datanode.state().number(), datanode.isStopped()));
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
          out.changed(Change.Link.of(child, 0, -1, extras(child)));
          Node heir = tree.pending().of(child);
          if (heir != null) {
            long length = tree.pending().length(child);
            out.changed(Change.Link.of(heir, child.id(), length, extras(heir)));
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

  private boolean staged(Node node) {
    if (node.isStaged()) {
      long length = node.space() == null ? 0 : node.space().end();
      out.changed(Change.Link.of(node, 0, length, extras(node)));
    }
    return true;
  }

  private NodeExtras extras(Node node) {
    return tree.extras().of(node);
  }
}
