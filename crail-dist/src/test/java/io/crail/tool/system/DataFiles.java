/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.WriteLeaseHeldException;
import java.time.Duration;
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

  /** Opens a stream that appends, once the file has no other writer. */
  static CrailBufferedOutputStream append(CrailFile file, int bytes, Duration patience)
      throws Exception {
    CrailBufferedOutputStream[] opened = new CrailBufferedOutputStream[1];
    Await.until(
        "the lease is free",
        patience,
        () -> {
          try {
            opened[0] = file.getBufferedOutputStream(bytes);
            return true;
          } catch (WriteLeaseHeldException e) {
            return false;
          }
        });
    return opened[0];
  }
}
