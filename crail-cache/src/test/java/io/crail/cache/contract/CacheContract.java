/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.contract;

import io.crail.cache.SharedCacheCluster;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** Local files behind the cache, with a file system of its own for each test. */
final class CacheContract extends AbstractFSContract {
  private FileSystem fileSystem;

  CacheContract(Configuration configuration) {
    super(configuration);
    addConfResource("contract/crailcache.xml");
    SharedCacheCluster.configure(getConf());
  }

  @Override
  public void init() throws IOException {
    super.init();
    fileSystem = FileSystem.newInstance(SharedCacheCluster.URI_OF_CACHE, getConf());
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
    return "crailcache";
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
