/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;

/**
 * Where the bytes of new nodes go.
 *
 * @param storage the storage class
 * @param location the host
 */
record Placement(CrailStorageClass storage, CrailLocationClass location) {
  /** Creates a node that listings show. */
  CrailNode create(CrailStore store, String path, CrailNodeType type) throws Exception {
    return store.create(path, type, storage, location, true).get();
  }

  /** Creates a directory or table whose children are spread over all namenodes. */
  CrailNode createSpread(CrailStore store, String path, CrailNodeType type) throws Exception {
    return store.createSpread(path, type, storage, location, true).get();
  }
}
