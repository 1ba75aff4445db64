/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.namenode.change.Applier;
import io.crail.namenode.change.ReserveChange;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.Datanodes;
import io.crail.namenode.tree.Tree;

/**
 * Decides ahead which numbers may be given without a record: the id of a spread directory is said
 * to other namenodes before the directory is made, and the versions of its states are in no record.
 * For one thread.
 */
public final class ReserveRule {
  /** Ids that are reserved at a time; many more than are given between two ticks. */
  private static final long IDS = 1L << 24;

  /** Ids of datanodes that are reserved at a time. */
  private static final int DATANODE_IDS = 1 << 10;

  /** Versions that are reserved at a time: as many as the clock counts in 17 minutes. */
  private static final long VERSIONS = 1L << 30;

  private final int namenodes;
  private final Tree tree;
  private final Datanodes datanodes;
  private final SpreadStandings standings;
  private final Applier applier;
  private long nodeIds;
  private int datanodeIds;
  private long versions;

  /** Creates it, with nothing reserved. */
  public ReserveRule(
      NameNodeOptions options, State state, SpreadStandings standings, Applier applier) {
    this.namenodes = options.count();
    this.tree = state.tree();
    this.datanodes = state.datanodes();
    this.standings = standings;
    this.applier = applier;
  }

  /** The numbers that have been given so far; null if there are none. */
  public ReserveChange given() {
    return tree.lastId() == tree.rootId()
        ? null
        : new ReserveChange(tree.lastId(), datanodes.lastId(), standings.lastVersion());
  }

  /** Reserves numbers again, when half of them are given. */
  public void tick() {
    long id = tree.lastId();
    int datanodeId = datanodes.lastId();
    long version = standings.lastVersion();
    boolean needsVersions = namenodes > 1 && versions - version < VERSIONS / 2;
    if (nodeIds - id < namenodes * IDS / 2
        || datanodeIds - datanodeId < namenodes * DATANODE_IDS / 2
        || needsVersions) {
      nodeIds = id + namenodes * IDS;
      // Behind the highest number, they begin again.
      datanodeIds = Math.max(0, datanodeId + namenodes * DATANODE_IDS);
      versions = version + VERSIONS;
      applier.reserve(new ReserveChange(nodeIds, datanodeIds, versions));
    }
  }
}
