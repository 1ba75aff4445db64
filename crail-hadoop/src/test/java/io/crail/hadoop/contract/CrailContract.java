/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.hadoop.SharedCluster;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** The shared cluster, with a file system of its own for each test. */
final class CrailContract extends AbstractFSContract {
  private FileSystem fileSystem;

  CrailContract(Configuration configuration) {
    super(configuration);
    addConfResource("contract/crail.xml");
    SharedCluster.configure(getConf());
  }

  @Override
  public void init() throws IOException {
    super.init();
    fileSystem = FileSystem.newInstance(SharedCluster.uri(), getConf());
  }

  @Override
  public void teardown() throws IOException {
    try (FileSystem closed = fileSystem) {
      super.teardown();
    }
  }

  @Override
  public FileSystem getTestFileSystem() {
    return fileSystem;
  }

  @Override
  public String getScheme() {
    return "crail";
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
