/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import org.apache.hadoop.fs.FileContextMainOperationsBaseTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Hadoop's suite of what programs do with a {@link org.apache.hadoop.fs.FileContext}. */
@ExtendWith(FileContexts.class)
@Tag("once")
class FileContextBaseTest extends FileContextMainOperationsBaseTest {
  /** A context for each test, for some change its working directory. */
  @BeforeEach
  @Override
  public void setUp() throws Exception {
    fc = FileContexts.create();
    super.setUp();
  }

  @AfterAll
  static void forget() {
    fc = null;
  }

  @Override
  protected boolean listCorruptedBlocksSupported() {
    return false;
  }
}
