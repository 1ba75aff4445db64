/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.error.CrailException;
import io.crail.nvmf.NamespaceData;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Transfer;
import java.util.List;
import java.util.Map;

/** What a datanode has lent of its targets, as its description says. Immutable. */
final class LentSpace {
  private final DatanodeDescription datanode;
  private final LentTargets lent;
  private final Map<Integer, Region> regions;
  private final int granularity;

  /**
   * Reads a description.
   *
   * @throws CrailException when its targets cannot be read
   */
  LentSpace(DatanodeDescription datanode) throws CrailException {
    this.datanode = datanode;
    this.lent = LentTargets.parse(datanode.traits().details().toString());
    this.regions = datanode.regions();
    this.granularity = datanode.traits().granularity();
  }

  DatanodeDescription datanode() {
    return datanode;
  }

  LentTargets lent() {
    return lent;
  }

  /** The region of a transfer; null when it is not known. */
  Region region(Transfer transfer) {
    return regions.get(transfer.region());
  }

  /** The numbers of the namespaces of a target that have regions. */
  List<Integer> namespaces(int target) {
    return regions.values().stream()
        .filter(region -> LentTargets.target(region.key()) == target)
        .map(region -> LentTargets.namespace(region.key()))
        .distinct()
        .sorted()
        .toList();
  }

  /** Why a namespace does not hold its regions any more; null when it does. */
  String problem(int target, NamespaceData namespace) {
    long key = LentTargets.key(target, namespace.number());
    long end =
        regions.values().stream()
            .filter(region -> region.key() == key)
            .mapToLong(region -> region.address() + region.length())
            .max()
            .orElse(0);
    if (namespace.blockLength() > granularity) {
      return "namespace "
          + namespace.number()
          + " has blocks of "
          + namespace.blockLength()
          + " bytes in place of "
          + granularity;
    }
    return end > namespace.bytes()
        ? "namespace "
            + namespace.number()
            + " has shrunk to "
            + namespace.bytes()
            + " bytes; lent were "
            + end
        : null;
  }
}
