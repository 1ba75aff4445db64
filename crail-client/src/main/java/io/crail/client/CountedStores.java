/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import java.util.HashMap;
import java.util.Map;

/**
 * Opens stores: a new one for each caller, or, with {@code crail.singleton}, one for all callers in
 * this process that have the same settings. Thread-safe.
 */
public final class CountedStores {
  /** A process has one set of them, since that is what the key asks for. */
  private static final CountedStores PROCESS = new CountedStores();

  private final Map<Map<String, String>, Counted> shared = new HashMap<>();

  /** A shared store. */
  private static final class Counted {
    private CoreStore store;
    private int users;
  }

  private CountedStores() {}

  /**
   * Opens a store.
   *
   * @param configuration its settings
   * @return the store, which its caller closes once
   */
  public static CrailStore open(Configuration configuration) {
    return configuration.get(ClientKeys.SINGLETON)
        ? PROCESS.share(configuration)
        : CoreStore.create(configuration, () -> true);
  }

  private synchronized CrailStore share(Configuration configuration) {
    Map<String, String> settings = configuration.texts();
    Counted counted = shared.get(settings);
    if (counted == null) {
      Counted made = new Counted();
      made.store = CoreStore.create(configuration, () -> isLast(settings, made));
      shared.put(settings, made);
      counted = made;
    }
    counted.users++;
    return counted.store;
  }

  /** Notes that a user closes the store, and tells whether it was the last one. */
  private synchronized boolean isLast(Map<String, String> settings, Counted counted) {
    counted.users--;
    if (counted.users > 0) {
      return false;
    }
    shared.remove(settings, counted);
    return true;
  }
}
