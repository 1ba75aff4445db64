/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Opens stores: each caller gets its own. With {@code crail.singleton}, those of all callers in
 * this process that have the same settings have the same parts: connections, buffers and leases. So
 * one caller may close its store more than once, and no other is affected. Thread-safe.
 */
public final class CountedStores {
  /** A process has one set of them, since that is what the key asks for. */
  private static final CountedStores PROCESS = new CountedStores();

  private final Map<Map<String, Object>, Shared> shared = new HashMap<>();

  /** What users with the same settings share. */
  private static final class Shared {
    private CoreStore store;
    private int users;

    /** A store for one more user. The first one waits here until it is made, and so do others. */
    synchronized CoreStore open(Configuration configuration, BooleanSupplier isLastUser) {
      if (store == null) {
        // Only the last of those that share its parts closes this one.
        store = CoreStore.create(configuration, () -> false);
      }
      return store.share(isLastUser);
    }
  }

  private CountedStores() {}

  /**
   * Opens a store.
   *
   * @param configuration its settings
   * @return the store, which its caller closes
   */
  public static CrailStore open(Configuration configuration) {
    return configuration.get(ClientKeys.SINGLETON)
        ? PROCESS.share(configuration)
        : CoreStore.create(configuration, () -> true);
  }

  private CrailStore share(Configuration configuration) {
    Map<String, Object> settings = configuration.differences();
    Shared parts = enter(settings);
    AtomicBoolean entered = new AtomicBoolean(true);
    BooleanSupplier leave = () -> entered.getAndSet(false) && isLast(settings, parts);
    CrailStore store = null;
    try {
      store = parts.open(configuration, leave);
      return store;
    } finally {
      if (store == null) {
        leave.getAsBoolean();
      }
    }
  }

  /** Notes a user. The lock is not held while a store is made, so others need not wait for that. */
  private synchronized Shared enter(Map<String, Object> settings) {
    Shared parts = shared.computeIfAbsent(settings, key -> new Shared());
    parts.users++;
    return parts;
  }

  /** Notes that a user leaves, and returns whether it was the last one. */
  private synchronized boolean isLast(Map<String, Object> settings, Shared parts) {
    parts.users--;
    if (parts.users > 0) {
      return false;
    }
    shared.remove(settings, parts);
    return true;
  }
}
