/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.hadoop.fs.viewfs;

import io.crail.hadoop.CrailAbstractFileSystem;
import io.crail.hadoop.HadoopCluster;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/**
 * Crail mounted into the {@code viewfs://} of a {@code FileContext}. In this package, since it
 * needs package-private fields of the suite.
 */
@Tag("once")
class ViewFsCrailTest extends ViewFsBaseTest {
  private static final String IMPLEMENTATION = "fs.AbstractFileSystem.crail.impl";

  private static HadoopCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HadoopCluster();
  }

  @AfterAll
  static void stop() throws Exception {
    FileSystem.closeAll();
    cluster.close();
  }

  @BeforeEach
  @Override
  public void setUp() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(IMPLEMENTATION, CrailAbstractFileSystem.class.getName());
    fcTarget = FileContext.getFileContext(cluster.uri(), configuration);
    super.setUp();
    // Which mounts file systems when they are used first.
    conf.set(IMPLEMENTATION, CrailAbstractFileSystem.class.getName());
  }
}
