/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.hadoop.fs.viewfs;

import io.crail.hadoop.HadoopCluster;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Crail mounted into {@code viewfs://}. In this package for the fields of the suite. */
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "hundreds of stores for Hadoop's own code: only among the long tests")
@Tag("once")
class ViewFileSystemCrailTest extends ViewFileSystemBaseTest {
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
    fsTarget = FileSystem.newInstance(cluster.uri(), new Configuration());
    super.setUp();
  }

  @AfterEach
  @Override
  public void tearDown() throws Exception {
    try (FileSystem closed = fsTarget) {
      super.tearDown();
    }
  }

  /** As HDFS's, for the same trash. */
  @Override
  Path getTrashRootInFallBackFS() throws IOException {
    return new Path("/.Trash/" + UserGroupInformation.getCurrentUser().getShortUserName());
  }
}
