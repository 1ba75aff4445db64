/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.common.Addresses;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** A cluster of its own for each test. */
final class CrailContract extends AbstractFSContract {
  private EmbeddedCrail cluster;
  private FileSystem fileSystem;

  CrailContract(Configuration configuration) {
    super(configuration);
    addConfResource("contract/crail.xml");
  }

  @Override
  public void init() throws IOException {
    super.init();
    cluster =
        EmbeddedCrail.builder()
            .storage(64 << 20)
            .set("crail.storage.tcp.allocationsize", "16m")
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .start();
    String address = Addresses.text(cluster.namenodeAddresses().get(0));
    URI uri = URI.create("crail://" + address + "/");
    fileSystem = FileSystem.newInstance(uri, getConf());
  }

  @Override
  public void teardown() throws IOException {
    try {
      fileSystem.close();
    } finally {
      cluster.close();
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
