/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Tells Crail when a block was used last, by the access time of its node: at most once in a while
 * for each block, and without waiting for an answer. Thread-safe.
 */
final class AccessStamps {
  private static final int MOST = 16_384;

  private final CacheStore crail;
  private final long everyMillis;
  private final LongSupplier clockMillis;

  /** When the blocks that were used last were stamped. Guarded by itself. */
  private final Map<String, Long> stamped =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > MOST;
        }
      };

  AccessStamps(CacheStore crail, long everyMillis, LongSupplier clockMillis) {
    this.crail = crail;
    this.everyMillis = everyMillis;
    this.clockMillis = clockMillis;
  }

  /** A block was made, which is a stamp. */
  void made(String path) {
    synchronized (stamped) {
      stamped.put(path, clockMillis.getAsLong());
    }
  }

  /** A block was used. */
  void used(String path) {
    long now = clockMillis.getAsLong();
    synchronized (stamped) {
      Long last = stamped.get(path);
      if (last != null && now - last < everyMillis) {
        return;
      }
      stamped.put(path, now);
    }
    crail.stamp(path, now);
  }
}
