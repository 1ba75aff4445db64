/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import java.util.concurrent.TimeUnit;

/** Data files of tests. */
final class DataFiles {
  private DataFiles() {}

  /** Creates a file anywhere, within a minute. */
  static CrailFile create(CrailStore store, String path) throws Exception {
    return store
        .create(
            path,
            CrailNodeType.DATAFILE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get(60, TimeUnit.SECONDS)
        .asFile();
  }
}
