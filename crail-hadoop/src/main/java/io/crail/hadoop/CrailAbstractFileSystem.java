/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * {@link CrailFileSystem} for programs that use Hadoop's {@code FileContext}, which has no close.
 * So it uses the store of the {@link FileSystem} of the same URI in Hadoop's cache, which Hadoop
 * closes with the process at the latest. Thread-safe.
 */
public class CrailAbstractFileSystem extends DelegateToFileSystem {
  /** Called by Hadoop. */
  public CrailAbstractFileSystem(URI uri, Configuration configuration)
      throws IOException, URISyntaxException {
    super(
        understood(uri),
        beside(uri, configuration),
        configuration,
        HadoopConfiguration.SCHEME,
        false);
  }

  /** What the base class can read: it takes several namenodes for a broken IPv6 address. */
  private static URI understood(URI uri) {
    return uri.getHost() == null ? URI.create(HadoopConfiguration.SCHEME + ":///") : uri;
  }

  private static FileSystem beside(URI uri, Configuration configuration) throws IOException {
    FileSystem cached = FileSystem.get(uri, configuration);
    // Another class may stand there, that of a file system around ours for example.
    if (cached instanceof CrailFileSystem) {
      return new CrailFileSystem((CrailFileSystem) cached);
    }
    CrailFileSystem own = new CrailFileSystem();
    own.initialize(uri, configuration);
    return new CrailFileSystem(own);
  }

  @Override
  public URI getUri() {
    return fsImpl.getUri();
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    return fsImpl.listLocatedStatus(path);
  }

  @Override
  public void msync() throws IOException {
    fsImpl.msync();
  }

  /** One step, where Hadoop's own way would be two. */
  @Override
  public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
    ((CrailFileSystem) fsImpl)
        .rename(source, target, overwrite ? Options.Rename.OVERWRITE : Options.Rename.NONE);
  }
}
