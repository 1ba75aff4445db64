/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.hadoop.SharedCluster;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystemContractBaseTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/** Hadoop's older contract of a {@link FileSystem}. */
@Tag("once")
class FileSystemBaseTest extends FileSystemContractBaseTest {
  @BeforeEach
  void start() throws Exception {
    Configuration configuration = new Configuration();
    SharedCluster.configure(configuration);
    fs = FileSystem.newInstance(SharedCluster.uri(), configuration);
  }

  @AfterEach
  @Override
  public void tearDown() throws Exception {
    try (FileSystem closed = fs) {
      super.tearDown();
    }
  }
}
