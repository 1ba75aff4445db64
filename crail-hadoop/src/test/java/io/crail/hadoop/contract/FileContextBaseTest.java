/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.hadoop.CrailAbstractFileSystem;
import io.crail.hadoop.HadoopCluster;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextMainOperationsBaseTest;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** What programs do with a {@link FileContext}; one cluster, for a test ends itself in between. */
class FileContextBaseTest extends FileContextMainOperationsBaseTest {
  private static HadoopCluster cluster;
  private static Configuration configuration;
  private static FileSystem cached;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HadoopCluster();
    configuration = new Configuration();
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    cached = FileSystem.get(cluster.uri(), configuration);
  }

  /** A context for each test, for some change its working directory. */
  @BeforeEach
  @Override
  public void setUp() throws Exception {
    fc = FileContext.getFileContext(cluster.uri(), configuration);
    super.setUp();
  }

  @AfterAll
  static void stop() throws Exception {
    fc = null;
    try (HadoopCluster ended = cluster;
        FileSystem closed = cached) {
      cached = null;
    }
  }

  @Override
  protected boolean listCorruptedBlocksSupported() {
    return false;
  }
}
