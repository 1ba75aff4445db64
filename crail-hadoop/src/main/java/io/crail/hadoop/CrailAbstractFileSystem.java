/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;

/**
 * {@link CrailFileSystem} for programs that use Hadoop's {@code FileContext}, which has no close.
 * So it uses the store of the {@link FileSystem} of the same URI in Hadoop's cache, which Hadoop
 * closes with the process at the latest. Thread-safe.
 */
public class CrailAbstractFileSystem extends DelegateToFileSystem {
  /** Called by Hadoop. */
  public CrailAbstractFileSystem(URI uri, Configuration configuration)
      throws IOException, URISyntaxException {
    super(uri, beside(uri, configuration), configuration, HadoopConfiguration.SCHEME, false);
  }

  private static FileSystem beside(URI uri, Configuration configuration) throws IOException {
    FileSystem cached = FileSystem.get(uri, configuration);
    // Another class may stand there, that of a file system around ours for example.
    return cached instanceof CrailFileSystem
        ? new CrailFileSystem((CrailFileSystem) cached)
        : new CrailFileSystem();
  }

  /** One step, where Hadoop's own way would be two. */
  @Override
  public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
    ((CrailFileSystem) fsImpl)
        .rename(source, target, overwrite ? Options.Rename.OVERWRITE : Options.Rename.NONE);
  }
}
