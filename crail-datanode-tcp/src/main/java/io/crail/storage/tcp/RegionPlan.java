/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.ConfigException;
import io.crail.protocol.Extent;
import java.util.ArrayList;
import java.util.List;

/** Into which regions a datanode cuts what it lends. */
final class RegionPlan {
  private static final int MAX_REGIONS = 1 << 16;

  private RegionPlan() {}

  /**
   * The lengths of the regions: as many whole ones as fit into the limit, and where that is none,
   * or not one for each namenode, smaller ones. A smaller one is a multiple of a power of two of
   * about a sixteenth of it, and so of any block size up to that.
   *
   * @throws ConfigException when the limit is too small, or the regions are too many
   */
  static List<Integer> lengths(long limit, long allocationSize, int namenodes) {
    long length = allocationSize & -Extent.MIN_LENGTH;
    long count = limit / length;
    if (count < namenodes) {
      count = namenodes;
      length = limit / namenodes;
      length &= -Math.max(Extent.MIN_LENGTH, Long.highestOneBit(length) / 16);
    }
    if (length == 0) {
      throw new ConfigException(
          "key '"
              + TcpStorageKeys.STORAGE_LIMIT.name()
              + "' is "
              + limit
              + " bytes, too little for "
              + namenodes
              + " namenodes");
    }
    if (count > MAX_REGIONS) {
      throw new ConfigException(
          "key '"
              + TcpStorageKeys.ALLOCATION_SIZE.name()
              + "' is "
              + allocationSize
              + " bytes; "
              + limit
              + " bytes would be "
              + count
              + " regions, and there may be at most "
              + MAX_REGIONS);
    }
    List<Integer> lengths = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      lengths.add((int) length);
    }
    return lengths;
  }
}
