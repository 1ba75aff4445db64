/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import java.util.Collection;
import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the tiers on the class path. One that cannot be loaded does not hide the others. */
final class InstalledTiers {
  private static final Logger LOG = LoggerFactory.getLogger(InstalledTiers.class);

  /** After so many that cannot be loaded, the search ends. */
  private static final int MOST_BROKEN = 100;

  private InstalledTiers() {}

  /**
   * The tiers by name; of two with the same name, the first.
   *
   * @param type the interface of a tier
   * @param name gives the name of a tier
   */
  static <T> Collection<T> all(Class<T> type, ClassLoader loader, Function<T, String> name) {
    TreeMap<String, T> tiers = new TreeMap<>();
    Iterator<T> found = ServiceLoader.load(type, loader).iterator();
    int broken = 0;
    boolean more = true;
    while (more && broken < MOST_BROKEN) {
      try {
        more = found.hasNext();
        if (more) {
          T tier = found.next();
          T other = tiers.putIfAbsent(name.apply(tier), tier);
          if (other != null) {
            LOG.warn("two storage tiers have the same name: {} is used, not {}", other, tier);
          }
        }
      } catch (ServiceConfigurationError | LinkageError e) {
        broken++;
        LOG.warn("a storage tier on the class path cannot be used", e);
      }
    }
    return tiers.values();
  }
}
