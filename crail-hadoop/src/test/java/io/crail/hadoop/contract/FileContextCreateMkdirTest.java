/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import org.apache.hadoop.fs.FileContextCreateMkdirBaseTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests which directories are made on the way to a file or a directory. */
@ExtendWith(FileContexts.class)
@Tag("once")
class FileContextCreateMkdirTest extends FileContextCreateMkdirBaseTest {
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
}
