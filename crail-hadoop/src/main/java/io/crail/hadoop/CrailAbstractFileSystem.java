/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * {@link CrailFileSystem} for programs that use Hadoop's {@code FileContext}, which has no close.
 * All instances of a URI and a user share one store, which Hadoop closes with its cache. No {@link
 * FileSystem} of the program shares that store. Thread-safe.
 */
public class CrailAbstractFileSystem extends DelegateToFileSystem {
  /** Called by Hadoop. */
  public CrailAbstractFileSystem(URI uri, Configuration configuration)
      throws IOException, URISyntaxException {
    super(
        understood(uri),
        ContextStore.fileSystem(uri, configuration),
        configuration,
        HadoopConfiguration.SCHEME,
        false);
    // Under the URI with all namenodes: the base class got none when there are several.
    statistics = getStatistics(fsImpl.getUri());
    ((ContextFileSystem) fsImpl).countIn(statistics);
  }

  /** A URI that the base class can read. It takes several namenodes for a broken IPv6 address. */
  private static URI understood(URI uri) {
    return uri.getHost() == null ? URI.create(HadoopConfiguration.SCHEME + ":///") : uri;
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

  /** Compares all namenodes. The base class reads none when there are several. */
  @Override
  public void checkPath(Path path) {
    URI asked = path.toUri();
    if (asked.getScheme() == null) {
      super.checkPath(path);
    } else if (!HadoopConfiguration.SCHEME.equalsIgnoreCase(asked.getScheme())
        || !authority(asked).equalsIgnoreCase(authority(getUri()))) {
      throw new InvalidPathException("Wrong FS: " + path + ", expected: " + getUri());
    }
  }

  private static String authority(URI uri) {
    return uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
  }

  /** Renames in one step. Hadoop's own code would take two. */
  @Override
  public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
    ((CrailFileSystem) fsImpl)
        .rename(source, target, overwrite ? Options.Rename.OVERWRITE : Options.Rename.NONE);
  }
}
