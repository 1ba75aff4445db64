/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.quota;

import java.util.IdentityHashMap;
import java.util.Map;

/** Counts again what nodes use of quotas, for tests. For one thread. */
public final class QuotaAudit {
  private final Map<Quota, long[]> found = new IdentityHashMap<>();

  /**
   * Adds what a node uses.
   *
   * @param quota the account; null for none
   */
  public void add(Quota quota, long bytes, long names) {
    for (Quota at = quota; at != null; at = at.above()) {
      long[] sum = found.computeIfAbsent(at, each -> new long[2]);
      sum[0] += bytes;
      sum[1] += names;
    }
  }

  /** Compares what was found with the accounts. */
  public void verify() {
    found.forEach(
        (quota, sum) -> {
          Quota.Usage usage = quota.usage();
          if (usage.bytes() != sum[0] || usage.names() != sum[1]) {
            throw new AssertionError(
                quota.directory()
                    + " has "
                    + sum[0]
                    + " bytes and "
                    + sum[1]
                    + " names, counted as "
                    + usage);
          }
        });
  }
}
