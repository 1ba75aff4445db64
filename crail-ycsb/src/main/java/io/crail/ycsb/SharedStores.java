/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import java.util.HashMap;
import java.util.Map;

/**
 * The stores of this process. Clients with the same configuration share a store. YCSB makes a
 * client for each thread and gives them no common object, so they meet here. The last client that
 * leaves closes the store. Thread-safe.
 */
final class SharedStores {
  /** The stores of this process. */
  static final SharedStores PROCESS = new SharedStores();

  private final Map<Map<String, String>, Shared> open = new HashMap<>();

  private SharedStores() {}

  /** A store, and the locks of the threads that change its records. */
  final class Shared {
    private static final int STRIPES = 256;

    private final Map<String, String> key;
    private final CrailStore store;
    private final Object[] stripes = new Object[STRIPES];
    private int users;

    private Shared(Map<String, String> key, CrailStore store) {
      this.key = key;
      this.store = store;
      for (int i = 0; i < STRIPES; i++) {
        stripes[i] = new Object();
      }
    }

    /** The store. */
    CrailStore store() {
      return store;
    }

    /** The object whose monitor a thread holds while it changes the record at {@code path}. */
    Object changes(String path) {
      int hash = path.hashCode();
      return stripes[(hash ^ hash >>> 16) & (STRIPES - 1)];
    }

    /** Leaves the store. Called once for each {@link #acquire}. */
    void release() throws Exception {
      synchronized (SharedStores.this) {
        if (--users > 0) {
          return;
        }
        open.remove(key);
      }
      store.close();
    }
  }

  /**
   * Joins the store of a configuration. Creates the store when no client has one.
   *
   * @throws Exception as {@link CrailStore#newInstance}
   */
  synchronized Shared acquire(Configuration configuration) throws Exception {
    Map<String, String> key = configuration.texts();
    Shared shared = open.get(key);
    if (shared == null) {
      shared = new Shared(key, CrailStore.newInstance(CrailConfiguration.of(configuration)));
      open.put(key, shared);
    }
    shared.users++;
    return shared;
  }

  /** The number of open stores. */
  synchronized int count() {
    return open.size();
  }
}
