/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.util.ArrayList;
import java.util.List;

/**
 * A datanode of the NVMf tier as a client reaches it: its targets. Clients have no connection to
 * the datanode itself. A target that is gone does not hinder the others.
 */
final class NvmfStorageEndpoint implements StorageEndpoint {
  private final DatanodeDescription datanode;
  private final List<TargetEndpoint> targets = new ArrayList<>();
  private LentSpace space;
  private CrailException unusable;

  /** Set when an unknown region was named: the datanode has to be described anew. */
  private volatile boolean outdated;

  NvmfStorageEndpoint(TargetAccess access, DatanodeDescription datanode) {
    this.datanode = datanode;
    try {
      space = new LentSpace(datanode);
      for (int i = 0; i < space.lent().targets().size(); i++) {
        targets.add(new TargetEndpoint(access, space, i));
      }
    } catch (CrailException e) {
      unusable = e;
    }
  }

  private CrailException refusal(Transfer transfer) {
    Region region = space.region(transfer);
    if (region == null) {
      // The region may have been lent after the datanode was described.
      outdated = true;
      return ErrorCode.UNAVAILABLE.exception(
          "datanode " + datanode.address() + " has no region " + transfer.region());
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
      int index = LentTargets.target(space.region(transfer).key());
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
    // A caller that forgets this closes it, and so ends the transfers with the other targets.
    return outdated || !targets.isEmpty() && targets.stream().allMatch(TargetEndpoint::isLost);
  }

  @Override
  public void close() {
    targets.forEach(TargetEndpoint::close);
  }
}
