/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import org.apache.hadoop.fs.FileContextUtilBase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Copies and listings by {@code FileContext.util()}. */
@ExtendWith(FileContexts.class)
@Tag("once")
class FileContextUtilTest extends FileContextUtilBase {
  @BeforeEach
  @Override
  public void setUp() throws Exception {
    fc = FileContexts.create();
    super.setUp();
  }
}
