/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.ParentNotFoundException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the tables and the directory of a source when a step misses them. Thread-safe. */
final class CacheTables {
  private static final Logger LOG = LoggerFactory.getLogger(CacheTables.class);

  private final CrailStore store;
  private final CacheNames names;

  /** An operation on the store. */
  @FunctionalInterface
  interface Step<T> {
    T run() throws Exception;
  }

  CacheTables(CrailStore store, CacheNames names) {
    this.store = store;
    this.names = names;
  }

  /**
   * Waits for an operation. An interrupt stays set and does not end the wait, since the operation
   * would still use the caller's memory. The operation has a deadline.
   */
  static <T> T await(Future<T> operation) throws Exception {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return operation.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Makes the tables if they are what a step misses, and repeats it. */
  <T> T in(Step<T> step) throws Exception {
    try {
      return step.run();
    } catch (ParentNotFoundException e) {
      make();
      return step.run();
    }
  }

  private void make() throws Exception {
    for (int end = names.root().indexOf('/', 1); end >= 0; ) {
      makeDirectory(names.root().substring(0, end));
      end = names.root().indexOf('/', end + 1);
    }
    makeDirectory(names.root());
    spread(names.statuses(), CrailNodeType.TABLE);
    spread(names.blocks(), CrailNodeType.TABLE);
    spread(names.claims(), CrailNodeType.DIRECTORY);
  }

  private void makeDirectory(String path) throws Exception {
    try {
      await(
          store.create(
              path,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true));
    } catch (NodeExistsException e) {
      LOG.debug("another one has made {}", path);
    }
  }

  private void spread(String path, CrailNodeType type) throws Exception {
    try {
      await(
          store.createSpread(
              path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true));
    } catch (NodeExistsException e) {
      LOG.debug("another one has made {}", path);
    }
  }
}
