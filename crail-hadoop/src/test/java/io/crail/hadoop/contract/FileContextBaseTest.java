/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.hadoop.CrailAbstractFileSystem;
import io.crail.hadoop.SharedCluster;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextMainOperationsBaseTest;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** What programs do with a {@link FileContext}. */
class FileContextBaseTest extends FileContextMainOperationsBaseTest {
  private static Configuration configuration;
  private static FileSystem cached;

  @BeforeAll
  static void start() throws Exception {
    configuration = new Configuration();
    SharedCluster.configure(configuration);
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    cached = FileSystem.get(SharedCluster.uri(), configuration);
  }

  /** A context for each test, for some change its working directory. */
  @BeforeEach
  @Override
  public void setUp() throws Exception {
    fc = FileContext.getFileContext(SharedCluster.uri(), configuration);
    super.setUp();
  }

  @AfterAll
  static void stop() throws Exception {
    fc = null;
    try (FileSystem closed = cached) {
      cached = null;
    }
  }

  @Override
  protected boolean listCorruptedBlocksSupported() {
    return false;
  }
}
