/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.client.lease.Leases;
import io.crail.client.loop.LoopContext;
import io.crail.client.loop.Loops;
import io.crail.client.space.BlockLocations;
import io.crail.client.stream.StreamContext;
import io.crail.common.error.CrailException;
import io.crail.protocol.Routes;
import io.crail.protocol.part.NodeInfo;

/**
 * What handles and calls of a store have in common. Thread-safe.
 *
 * @param facade the store as its user sees it
 * @param names the names of owners and groups
 * @param locations where bytes lie, for schedulers
 * @param handles makes the handles of listed nodes
 * @param routes the spread directories that it knows
 * @param randomizesListings whether several readers of a container get its children in different
 *     orders
 */
public record StoreContext(
    CrailStore facade,
    Loops loops,
    Leases leases,
    StreamContext streams,
    OwnerNames names,
    BlockLocations locations,
    Handles handles,
    Routes routes,
    boolean randomizesListings) {
  /** Makes handles of nodes that the namenode has listed. */
  @FunctionalInterface
  public interface Handles {
    /** The handle of a node. */
    CrailNode of(StoreContext store, String path, NodeInfo info);
  }

  /** As {@link Loops#context}. */
  public LoopContext context() throws CrailException {
    return loops.context();
  }

  /** As {@link Loops#checkOpen}. */
  public void checkOpen() throws CrailException {
    loops.checkOpen();
  }
}
