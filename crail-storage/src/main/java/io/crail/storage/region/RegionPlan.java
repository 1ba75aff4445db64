/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.protocol.part.Extent;
import java.util.ArrayList;
import java.util.List;

/** The plan of how a datanode cuts the memory that it lends into regions. */
public final class RegionPlan {
  /** The most regions of a datanode. */
  public static final int MAX_REGIONS = 1 << 16;

  private static final int PART = 16;

  private final ConfigKey<Long> limitKey;
  private final ConfigKey<Long> lengthKey;

  /**
   * Creates the plan of a tier.
   *
   * @param limitKey the tier's key for what a datanode lends
   * @param lengthKey the tier's key for the size of a region
   */
  public RegionPlan(ConfigKey<Long> limitKey, ConfigKey<Long> lengthKey) {
    this.limitKey = limitKey;
    this.lengthKey = lengthKey;
  }

  /**
   * The lengths of the regions: as many whole regions as fit into the limit. If that is less than
   * one for each namenode, or none, the regions are smaller. A smaller region is a multiple of a
   * power of two of about a sixteenth of it, and so of any block size up to that.
   *
   * @param unit a power of two, at least {@link Extent#MIN_LENGTH}; each length is a multiple of it
   * @throws ConfigException when the limit is too small, or the regions are too many
   */
  public List<Integer> lengths(Configuration configuration, int namenodes, int unit) {
    return lengths(configuration.get(limitKey), configuration.get(lengthKey), namenodes, unit);
  }

  List<Integer> lengths(long limit, long allocationSize, int namenodes, int unit) {
    long length = allocationSize & -unit;
    long count = length == 0 ? 0 : limit / length;
    if (count < namenodes) {
      count = namenodes;
      length = limit / namenodes;
      length = rounded(length, unit);
    }
    if (length == 0) {
      throw new ConfigException(
          "key '"
              + limitKey.name()
              + "' is "
              + limit
              + " bytes, too little for "
              + namenodes
              + " namenodes");
    }
    if (count > MAX_REGIONS) {
      throw new ConfigException(
          "key '"
              + lengthKey.name()
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

  /** Shortened to a multiple of a power of two of about a sixteenth of it, at least the unit. */
  public static long rounded(long length, int unit) {
    return length & -Math.max(unit, Long.highestOneBit(length) / PART);
  }
}
