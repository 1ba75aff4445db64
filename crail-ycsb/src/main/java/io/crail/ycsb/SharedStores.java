/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import java.util.HashMap;
import java.util.Map;

/**
 * The stores of this process: clients with the same configuration share one. YCSB makes a client
 * for each thread and gives them nothing in common, so they meet here; the last one that leaves
 * closes the store. Thread-safe.
 */
final class SharedStores {
  /** The one of this process. */
  static final SharedStores PROCESS = new SharedStores();

  private final Map<Map<String, String>, Shared> open = new HashMap<>();

  private SharedStores() {}

  /** A store and the order of those who change its records. */
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

    /** Whose monitor a thread holds that changes the record of {@code path}. */
    Object changes(String path) {
      int hash = path.hashCode();
      return stripes[(hash ^ hash >>> 16) & (STRIPES - 1)];
    }

    /** Leaves; once for each {@link #acquire}. */
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
   * Joins the store of a configuration, which is created when nobody has it.
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

  /** How many are open. */
  synchronized int count() {
    return open.size();
  }
}
