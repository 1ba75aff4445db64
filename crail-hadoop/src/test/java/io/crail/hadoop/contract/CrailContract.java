/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.hadoop.HadoopCluster;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** A cluster of its own for each test. */
final class CrailContract extends AbstractFSContract {
  private HadoopCluster cluster;
  private FileSystem fileSystem;

  CrailContract(Configuration configuration) {
    super(configuration);
    addConfResource("contract/crail.xml");
  }

  @Override
  public void init() throws IOException {
    super.init();
    cluster = new HadoopCluster();
    fileSystem = FileSystem.newInstance(cluster.uri(), getConf());
  }

  @Override
  public void teardown() throws IOException {
    try (HadoopCluster ended = cluster;
        FileSystem closed = fileSystem) {
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
