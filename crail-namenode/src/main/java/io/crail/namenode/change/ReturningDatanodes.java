/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.Keeping;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Region;

/**
 * Datanodes that keep their bytes, on the way from one process to the next: whether a process may
 * take the place of an earlier one whose bytes it has, and when it does. Under the lock of the
 * datanodes.
 */
public final class ReturningDatanodes {
  private final NameNodeOptions options;
  private final State state;
  private final DatanodeApplier applier;

  /** Looks after those of a state. */
  public ReturningDatanodes(NameNodeOptions options, State state, DatanodeApplier applier) {
    this.options = options;
    this.state = state;
    this.applier = applier;
  }

  /**
   * The datanode that a process may come back as; null for none.
   *
   * @throws CrailException when there is one, and another process is, or may be, ahead of it
   */
  public DatanodeSpace find(RegisterDatanode.Request process, long nowNanos) throws CrailException {
    DatanodeSpace kept = process.keeps() ? state.datanodes().findKeeper(process.keeper()) : null;
    if (kept == null) {
      return null;
    }
    RegisterDatanode.Description before = kept.description();
    RegisterDatanode.Description next = process.description();
    if (!before.tier().equals(next.tier())
        || before.storageClass() != next.storageClass()
        || before.traits().fence() != next.traits().fence()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(kept + " comes back with another tier or class");
    }
    Keeping keeping = kept.keeping();
    if (process.start() <= keeping.start()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "these bytes of " + kept + " are a copy, which another process has changed since");
    }
    boolean isKnown =
        keeping.coming() != null && keeping.coming().description().uuid().equals(next.uuid());
    if (!isKnown && kept.signs().isConnected(nowNanos, options.presentNanos())) {
      throw ErrorCode.ADDRESS_TAKEN.exception(kept + " has another process, which is alive");
    }
    return kept;
  }

  /**
   * Takes a region that a process has brought back.
   *
   * @param known the region as the process before it had lent it
   */
  public void brought(DatanodeSpace datanode, Region known, Region region) throws CrailException {
    if (datanode.keeping().coming() == null) {
      return;
    }
    if (known.length() != region.length()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "region " + region.index() + " of " + datanode + " has come back with another length");
    }
    if (!known.equals(region)) {
      applier.renew(datanode, region);
    }
    datanode.keeping().brought(region.index());
  }

  /**
   * Sends clients to a process that has come back, once it has brought all regions.
   *
   * @return false while it has not
   */
  public boolean isBack(DatanodeSpace datanode, long nowNanos) throws CrailException {
    if (!datanode.keeping().isWhole()) {
      return false;
    }
    RegisterDatanode.Request process = datanode.keeping().coming();
    applier.keep(datanode, state.hosts().add(process.description().host()), process);
    datanode.signs().seen(nowNanos);
    return true;
  }
}
