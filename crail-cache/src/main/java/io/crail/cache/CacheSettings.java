/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigType;
import io.crail.conf.CrailConfiguration;
import io.crail.hadoop.HadoopConfiguration;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;

/**
 * What the configuration says of a cached file system.
 *
 * @param store of the store in Crail, whose deadlines are those of the cache
 * @param root the directory of all caches
 * @param blockBytes bytes of a block
 * @param statusAgeMillis how old a status may be
 * @param backOff the first pause after an error
 * @param probe how long the first operation after a pause may take
 * @param claim how long a claim holds
 * @param memoryBlocks blocks in the memory of this process
 * @param readAhead blocks that are read ahead
 * @param budgetBytes most bytes of all blocks
 * @param keepFreePercent how much of the cluster's space is left to others
 * @param stampMillis how often a process says that it uses a block
 */
record CacheSettings(
    CrailConfiguration store,
    String root,
    int blockBytes,
    long statusAgeMillis,
    Duration backOff,
    Duration probe,
    Duration claim,
    int memoryBlocks,
    int readAhead,
    long budgetBytes,
    int keepFreePercent,
    long stampMillis) {
  /** The configured namenodes, not those of the URI: that is the source's. */
  private static final URI CONFIGURED = URI.create("crail:///");

  /** More than there is, and no overflow. */
  private static final long NO_BUDGET = Long.MAX_VALUE / 2;

  /** How long a thread waits for another one that loads, and may itself wait for a process. */
  long patienceMillis() {
    return claim.plus(probe).toMillis();
  }

  /**
   * Reads the settings.
   *
   * @param user Hadoop's user, who owns the nodes in Crail
   * @param budgetKey the key for a budget of its own; null if it has none
   */
  static CacheSettings of(Configuration hadoop, String user, String budgetKey) throws IOException {
    try {
      CrailConfiguration crail = HadoopConfiguration.of(CONFIGURED, hadoop, user, System::getenv);
      io.crail.common.config.Configuration checked = crail.toConfiguration();
      Duration timeout = checked.get(CacheKeys.TIMEOUT);
      String text = timeout.toMillis() + "ms";
      crail.set("crail.rpctimeout", text);
      crail.set("crail.datatimeout", text);
      crail.set("crail.client.namenodepatience", "0ms");
      crail.set("crail.client.spacepatience", "0ms");
      // All cached file systems of a process have the connections in common.
      crail.set("crail.singleton", "true");
      int blockBytes = checked.get(CacheKeys.BLOCK_SIZE).intValue();
      long blocks = checked.get(CacheKeys.MEMORY) / blockBytes;
      if (blocks < 2) {
        throw new ConfigException(
            "key 'crail.cache.memory' is "
                + checked.get(CacheKeys.MEMORY)
                + " bytes, must be at least two blocks of 'crail.cache.blocksize', which is "
                + blockBytes);
      }
      String own = budgetKey == null ? null : hadoop.getTrimmed(budgetKey);
      long budget = own == null ? checked.get(CacheKeys.BUDGET) : bytes(budgetKey, own);
      return new CacheSettings(
          crail,
          checked.get(CacheKeys.ROOT),
          blockBytes,
          checked.get(CacheKeys.STATUS_AGE).toMillis(),
          checked.get(CacheKeys.BACK_OFF),
          timeout,
          checked.get(CacheKeys.CLAIM),
          (int) Math.min(Integer.MAX_VALUE, blocks),
          checked.get(CacheKeys.READ_AHEAD),
          budget == 0 ? NO_BUDGET : Math.min(budget, NO_BUDGET),
          checked.get(CacheKeys.KEEP_FREE),
          checked.get(CacheKeys.STAMP).toMillis());
    } catch (ConfigException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static long bytes(String key, String text) {
    try {
      return ConfigType.parseBytes(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          "key '" + key + "' has the bad value '" + text + "': " + e.getMessage());
    }
  }
}
