/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import io.crail.hadoop.CrailAbstractFileSystem;
import io.crail.hadoop.SharedCluster;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Contexts of the shared cluster for suites that take this as an extension. */
final class FileContexts implements AfterAllCallback {
  /** As a program makes one: nothing of it has to be closed. */
  static FileContext create() throws IOException {
    Configuration configuration = new Configuration();
    SharedCluster.configure(configuration);
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    return FileContext.getFileContext(SharedCluster.uri(), configuration);
  }

  /** Before the cluster ends, which Hadoop would do after it. */
  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    FileSystem.closeAll();
  }
}
