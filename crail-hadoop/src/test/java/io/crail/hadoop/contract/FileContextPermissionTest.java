/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import java.io.IOException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextPermissionBase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Owner, group and bits through a {@link FileContext}. */
@ExtendWith(FileContexts.class)
@Tag("once")
class FileContextPermissionTest extends FileContextPermissionBase {
  @Override
  protected FileContext getFileContext() throws IOException {
    return FileContexts.create();
  }
}
