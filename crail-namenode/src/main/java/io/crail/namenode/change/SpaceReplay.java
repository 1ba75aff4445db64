/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import static io.crail.namenode.change.ContentsReplay.require;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.SpaceWriter;
import io.crail.protocol.part.Region;
import java.util.List;

/** The part of {@link Replay} that makes what nodes refer to by number. For one thread. */
final class SpaceReplay {
  private final NameNodeOptions options;
  private final State state;
  private final SpaceWriter space;
  private final Clock clock;
  private final DatanodeApplier datanodes;

  SpaceReplay(NameNodeOptions options, State state, Clock clock) {
    this.options = options;
    this.state = state;
    this.space = new SpaceWriter(state.datanodes(), state.space(), state.moves(), state.values());
    this.clock = clock;
    this.datanodes = new DatanodeApplier(state, null);
  }

  /** Refuses a number of a host that no record has given. */
  void requireHost(int number, Change change) throws CrailException {
    require(state.hosts().knows(number), change, "host ", number);
  }

  /** Notes a number of a datanode. */
  void apply(NumberChange change) throws CrailException {
    DatanodeSpace datanode = state.datanodes().find((int) change.id());
    require(datanode != null, change, "no such datanode");
    if (change.of() == NumberChange.GENERATIONS) {
      space.haveGiven(datanode, change.region(), change.value());
    } else {
      require(change.of() == NumberChange.CUT_OFFS, change, "it is of nothing");
      space.cutOff(datanode, change.value());
    }
  }

  void apply(SpaceChange change) throws CrailException {
    if (change instanceof SpaceChange.User user) {
      require(state.users().restore(user.user(), user.name()), change, "the number is in use");
    } else if (change instanceof SpaceChange.Host host) {
      require(state.hosts().restore(host.host(), host.name()), change, "the number is in use");
    } else if (change instanceof SpaceChange.Datanode datanode) {
      datanode(datanode);
    } else if (change instanceof SpaceChange.Kept kept) {
      requireHost(kept.host(), change);
      DatanodeSpace datanode = state.datanodes().find(kept.id());
      require(datanode != null, change, "no such datanode");
      datanodes.keep(kept, datanode);
    } else if (change instanceof SpaceChange.HeldBack held) {
      DatanodeSpace datanode = state.datanodes().find(held.datanode());
      require(datanode != null, change, "no such datanode");
      if (held.isHeld()) {
        space.hold(datanode, held.clients());
      } else {
        space.release(datanode);
      }
    } else {
      region((SpaceChange.LentRegion) change);
    }
  }

  private void datanode(SpaceChange.Datanode change) throws CrailException {
    requireHost(change.host(), change);
    require(
        change.id() >= 0 && change.id() % options.count() == options.index(),
        change,
        "the id is of another namenode");
    require(change.state() <= SpaceChange.Datanode.FORGOTTEN, change, "unknown state");
    long now = clock.nanoTime();
    DatanodeSpace datanode = state.datanodes().find(change.id());
    if (change.state() == SpaceChange.Datanode.FORGOTTEN) {
      require(datanode != null, change, "no such datanode");
      require(datanode.holdsOnly(datanode.restingBytes()), change, "it has space of nodes");
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
    datanodes.state(datanode, DatanodeSpace.State.values()[change.state()], change.stopped(), now);
  }

  private void region(SpaceChange.LentRegion change) throws CrailException {
    DatanodeSpace datanode = state.datanodes().find(change.datanode());
    require(datanode != null, change, "no such datanode");
    Region known = datanode.region(change.region().index());
    if (known != null && known.length() == change.region().length()) {
      datanodes.renew(datanode, change.region());
      return;
    }
    datanode.admit(change.region(), change.generation());
    // In the hands of an earlier start's clients, unless it is new.
    datanodes.add(
        datanode,
        change.region(),
        change.generation(),
        change.generation() == 0 ? 0 : state.space().restNanos(datanode));
  }
}
