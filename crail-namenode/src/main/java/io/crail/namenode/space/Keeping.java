/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Region;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Whose bytes a datanode has, if it keeps them over the end of its process, and the process that is
 * coming back with them. Clients are sent to that process when it has brought all regions: until
 * then some of their addresses and keys are those of the process before it. Changed under the lock
 * of the datanodes, read by any thread.
 */
public final class Keeping {
  private volatile UUID keeper = RegisterDatanode.KEEPS_NOTHING;
  private volatile long start;
  private volatile RegisterDatanode.Request coming;
  private final Set<Integer> missing = new HashSet<>();

  Keeping() {}

  /** Whether the datanode keeps its bytes. */
  public boolean keeps() {
    return !keeper.equals(RegisterDatanode.KEEPS_NOTHING);
  }

  /** The identity of the bytes. */
  public UUID keeper() {
    return keeper;
  }

  /** How many processes have had them. */
  public long start() {
    return start;
  }

  /** The process that is coming back; null for none. */
  public RegisterDatanode.Request coming() {
    return coming;
  }

  /** Whether it keeps the bytes of an identity. */
  public boolean isOf(UUID bytes) {
    return keeps() && keeper.equals(bytes);
  }

  /** Whether a process is the one that has the bytes now, or is coming back with them. */
  public boolean isOf(long processStart) {
    RegisterDatanode.Request next = coming;
    return processStart == (next == null ? start : next.start());
  }

  /** A process is coming back, and has brought none of the regions yet. */
  public void comes(RegisterDatanode.Request process, List<Region> regions) {
    coming = process;
    missing.clear();
    regions.forEach(region -> missing.add(region.index()));
  }

  /** Notes that the process that is coming back has brought a region. */
  public void brought(int region) {
    missing.remove(region);
  }

  /** True when a process is coming back that has brought all regions. */
  public boolean isWhole() {
    return coming != null && missing.isEmpty();
  }

  void set(UUID newKeeper, long newStart) {
    keeper = newKeeper;
    start = newStart;
    coming = null;
    missing.clear();
  }
}
