/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import org.apache.hadoop.fs.FileContextURIBase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests files that one context makes and another context sees, by whole URIs. */
@ExtendWith(FileContexts.class)
@Tag("once")
class FileContextUriTest extends FileContextURIBase {
  @BeforeEach
  @Override
  public void setUp() throws Exception {
    fc1 = FileContexts.create();
    fc2 = FileContexts.create();
    super.setUp();
  }
}
