/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.daemon;

import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.part.Region;
import io.crail.storage.Fencer;
import io.crail.storage.LastingBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The regions that a datanode lends to one namenode, in the order in which it lends them. Those
 * that were lent before to another one, or to an earlier start of it, are fenced first. Used by one
 * thread.
 */
final class Lendings {
  private final Fencer fencer;
  private final LastingBytes kept;
  private final List<Region> regions;
  // The last lending of each region; null while the region was never lent.
  private final List<LastingBytes.Lending> lendings = new ArrayList<>();
  // Regions that were fenced and have not been lent since.
  private final Set<Integer> fenced = new HashSet<>();
  private int datanode;
  private long lineage;
  private int lent;

  /**
   * Begins with none lent, or with what the process before has lent.
   *
   * @param kept null when nothing is kept
   */
  Lendings(List<Region> regions, Fencer fencer, LastingBytes kept) {
    this.fencer = fencer;
    this.kept = kept;
    this.regions = new ArrayList<>(regions);
    regions.forEach(region -> lendings.add(kept == null ? null : kept.lending(region.index())));
  }

  int count() {
    return regions.size();
  }

  /** Whether any region was ever lent. */
  boolean isAnyLent() {
    return lendings.stream().anyMatch(Objects::nonNull);
  }

  /** Whether an earlier start of a namenode had some of the regions. */
  boolean isAnyLentBefore(long presentLineage) {
    return lendings.stream().anyMatch(each -> each != null && each.lineage() != presentLineage);
  }

  /** Whether the namenode has all regions. */
  boolean areAllLent() {
    return lent == regions.size();
  }

  /**
   * Lends to the namenode as it is now. Shuts out the clients that had any of the regions before.
   *
   * @param newDatanode the id that it has given the datanode
   */
  void beginAt(int newDatanode, long newLineage) {
    datanode = newDatanode;
    lineage = newLineage;
    lent = 0;
    List<Integer> others = new ArrayList<>();
    for (int i = 0; i < regions.size(); i++) {
      if (isKnown(i) && isLentOtherwise(i)) {
        others.add(regions.get(i).index());
      }
    }
    if (!others.isEmpty()) {
      try {
        fencer.beforeFences(others);
      } catch (IOException e) {
        throw new UncheckedIOException(e); // this process has to end
      }
    }
  }

  /**
   * The request that lends the next region: one that no earlier client is in the middle of a write
   * to. Other regions come later. Null when there is none now.
   */
  RegisterRegion.Request next() {
    for (int left = regions.size() - lent; left > 0; left--) {
      if (isLentOtherwise(lent)) {
        fence();
      }
      Region region = regions.get(lent);
      if (!fenced.contains(region.index()) || fencer.isQuiet(region.index())) {
        fenced.remove(region.index());
        LastingBytes.Lending lending = lendings.get(lent);
        note(region.index(), lending);
        return new RegisterRegion.Request(
            datanode,
            kept == null ? 0 : kept.start(),
            region.index(),
            region.length(),
            region.address(),
            region.key(),
            lending.generation());
      }
      Collections.rotate(regions.subList(lent, regions.size()), -1);
      Collections.rotate(lendings.subList(lent, lendings.size()), -1);
    }
    return null;
  }

  /** The namenode has the next region. */
  void haveLent() {
    lent++;
  }

  /** True when a region was never lent to the namenode as it is now. */
  private boolean isLentOtherwise(int position) {
    LastingBytes.Lending last = lendings.get(position);
    return last == null || last.datanode() != datanode || last.lineage() != lineage;
  }

  /** True when clients may know a region. */
  private boolean isKnown(int position) {
    return lendings.get(position) != null || fencer.wasLent(regions.get(position).index());
  }

  private void fence() {
    try {
      long generation = 0;
      if (isKnown(lent)) {
        Fencer.Fence fence = fencer.fence(regions.get(lent).index());
        regions.set(lent, fence.region());
        generation = fence.generation();
        fenced.add(fence.region().index());
      }
      lendings.set(lent, new LastingBytes.Lending(datanode, lineage, generation));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // this process has to end
    }
  }

  /**
   * Notes a lending for the next process, before it is known whether the request arrives. Not
   * earlier: what waits for a stopped writer, the next process fences again, and waits too.
   */
  private void note(int region, LastingBytes.Lending lending) {
    try {
      if (kept != null && !lending.equals(kept.lending(region))) {
        kept.lend(region, lending);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // this process has to end
    }
  }
}
