/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.ConfigException;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Region;
import io.crail.storage.region.RegionPlan;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * How namespaces are cut into regions: one namespace after the other, each beginning after its
 * label. A namespace that is shorter than a region has one of its own size.
 *
 * @param regions the regions, by index
 * @param wasLent those that clients may know from an earlier datanode
 */
record LentRegions(List<Region> regions, BitSet wasLent) {
  /**
   * Cuts.
   *
   * @param held the namespaces of each target
   * @param limit the most bytes of all together
   * @param length bytes of a region
   * @param least how many there must be; with fewer, they are shorter
   */
  static LentRegions of(List<List<WatchedTarget.Held>> held, long limit, long length, int least) {
    for (long each = length; each >= Extent.MIN_LENGTH; each /= 2) {
      LentRegions cut = cut(held, limit, each);
      if (cut.regions.size() > RegionPlan.MAX_REGIONS) {
        throw new ConfigException(
            "key '"
                + NvmfStorageKeys.ALLOCATION_SIZE.name()
                + "' is "
                + length
                + " bytes, which makes more than "
                + RegionPlan.MAX_REGIONS
                + " regions");
      }
      if (cut.regions.size() >= least) {
        return cut;
      }
    }
    throw new ConfigException("the namespaces are too short for " + least + " regions");
  }

  private static LentRegions cut(List<List<WatchedTarget.Held>> held, long limit, long length) {
    List<Region> regions = new ArrayList<>();
    BitSet wasLent = new BitSet();
    long left = limit;
    for (int target = 0; target < held.size(); target++) {
      for (WatchedTarget.Held each : held.get(target)) {
        long at = NamespaceLabel.SPACE;
        long end = each.namespace().bytes();
        long own =
            RegionPlan.rounded(Math.min(length, Math.min(left, end - at)), Extent.MIN_LENGTH);
        long key = LentTargets.key(target, each.namespace().number());
        while (own > 0
            && own <= left
            && at + own <= end
            && regions.size() <= RegionPlan.MAX_REGIONS) {
          wasLent.set(regions.size(), each.wasLent());
          regions.add(new Region(regions.size(), (int) own, at, key));
          at += own;
          left -= own;
        }
      }
    }
    return new LentRegions(List.copyOf(regions), wasLent);
  }
}
