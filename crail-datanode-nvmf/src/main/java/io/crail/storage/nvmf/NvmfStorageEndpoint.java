/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.NamespaceData;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A datanode of the NVMf tier as a client reaches it: its targets. Clients have no connection to
 * the datanode itself. A target that is gone does not hinder the others.
 */
final class NvmfStorageEndpoint implements StorageEndpoint {
  private final DatanodeDescription datanode;
  private final Map<Integer, Region> regions;
  private final int granularity;
  private final List<TargetEndpoint> targets = new ArrayList<>();
  private LentTargets lent;
  private CrailException unusable;

  /** Set when an unknown region was named: the datanode has to be described anew. */
  private volatile boolean outdated;

  NvmfStorageEndpoint(NvmfStorageClient client, DatanodeDescription datanode) {
    this.datanode = datanode;
    this.regions = datanode.regions();
    this.granularity = datanode.traits().granularity();
    try {
      lent = LentTargets.parse(datanode.traits().details().toString());
      for (int i = 0; i < lent.targets().size(); i++) {
        targets.add(new TargetEndpoint(client, this, i, lent.targets().get(i)));
      }
    } catch (CrailException e) {
      unusable = e;
    }
  }

  DatanodeDescription datanode() {
    return datanode;
  }

  LentTargets lent() {
    return lent;
  }

  /** The region of a transfer that was not refused. */
  Region region(Transfer transfer) {
    return regions.get(transfer.extent().region());
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

  private CrailException refusal(Transfer transfer) {
    Region region = region(transfer);
    if (region == null) {
      // The region may have been lent after the datanode was described.
      outdated = true;
      return ErrorCode.UNAVAILABLE.exception(
          "datanode " + datanode.address() + " has no region " + transfer.extent().region());
    }
    long offset = transfer.regionOffset();
    return offset >= 0 && offset <= region.length() - transfer.length()
        ? null
        : ErrorCode.OUT_OF_RANGE.exception(
            transfer.length()
                + " bytes at "
                + offset
                + " of region "
                + region.index()
                + " of datanode "
                + datanode.address()
                + ", which has "
                + region.length());
  }

  private TargetEndpoint target(Transfer transfer) {
    CrailException refusal = unusable != null ? unusable : refusal(transfer);
    if (refusal == null) {
      int index = LentTargets.target(region(transfer).key());
      if (index >= 0 && index < targets.size()) {
        return targets.get(index);
      }
      refusal =
          ErrorCode.PROTOCOL.exception(
              "datanode " + datanode.address() + " has no target " + index);
    }
    transfer.end(refusal);
    return null;
  }

  @Override
  public void read(Transfer transfer) {
    TargetEndpoint target = target(transfer);
    if (target != null) {
      target.read(transfer);
    }
  }

  @Override
  public void write(Transfer transfer) {
    TargetEndpoint target = target(transfer);
    if (target != null) {
      target.write(transfer);
    }
  }

  @Override
  public void flush(Transfer transfer) {
    // A write without bytes.
    write(transfer);
  }

  @Override
  public boolean isLocal() {
    return false;
  }

  @Override
  public boolean isLost() {
    // Who forgets this closes it, which would end the transfers with the other targets.
    return outdated || !targets.isEmpty() && targets.stream().allMatch(TargetEndpoint::isLost);
  }

  @Override
  public void close() {
    targets.forEach(TargetEndpoint::close);
  }
}
