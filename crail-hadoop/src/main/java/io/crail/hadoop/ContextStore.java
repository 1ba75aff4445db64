/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The store of all {@code FileContext}s of a URI and a user that find the same namenodes. It has an
 * entry of its own in Hadoop's cache of file systems, under a scheme that no program uses. So there
 * is only one, and Hadoop closes it with the process at the latest. A program that closes its own
 * {@link FileSystem} does not close it.
 */
final class ContextStore extends FilterFileSystem {
  /**
   * The scheme differs for each class loader, since Hadoop's cache does not distinguish them, and
   * each loads another copy of this class.
   */
  private static final String SCHEME =
      HadoopConfiguration.SCHEME
          + "-context-"
          + Integer.toHexString(System.identityHashCode(ContextStore.class));

  /**
   * The key that gives {@link #initialize} the URI. Hadoop's cache knows the store by its
   * namenodes.
   */
  private static final String CLUSTER_KEY = "fs." + SCHEME + ".uri";

  /** Called by Hadoop, before {@link #initialize}. */
  ContextStore() {
    super(new CrailFileSystem());
  }

  /** A file system for a {@code FileContext}, not yet initialized; it need not be closed. */
  static ContextFileSystem fileSystem(URI uri, Configuration configuration) throws IOException {
    URI cluster = cluster(uri, configuration);
    Configuration own = new Configuration(configuration);
    own.setClassLoader(ContextStore.class.getClassLoader());
    own.setClass("fs." + SCHEME + ".impl", ContextStore.class, FileSystem.class);
    own.set(CLUSTER_KEY, cluster.toString());
    String namenodes =
        HadoopErrors.translate(
            new Path(cluster), () -> HadoopConfiguration.namenodes(cluster, configuration));
    String place = CrailFileSystem.root(cluster) + " " + namenodes;
    String authority = URLEncoder.encode(place, StandardCharsets.UTF_8);
    FileSystem cached = FileSystem.get(URI.create(SCHEME + "://" + authority + "/"), own);
    if (cached instanceof ContextStore) {
      return new ContextFileSystem((CrailFileSystem) ((ContextStore) cached).fs);
    }
    // A configuration has put another class there.
    CrailFileSystem unshared = new CrailFileSystem();
    unshared.initialize(cluster, configuration);
    return new ContextFileSystem(unshared);
  }

  /**
   * A URI without namenodes means the namenodes of the default file system, as in Hadoop's other
   * file systems.
   */
  private static URI cluster(URI uri, Configuration configuration) {
    URI preset = FileSystem.getDefaultUri(configuration);
    return uri.getRawAuthority() == null && HadoopConfiguration.SCHEME.equals(preset.getScheme())
        ? preset
        : uri;
  }

  /** Without statistics: the {@code FileContext}s have their own. */
  @Override
  public void initialize(URI name, Configuration configuration) throws IOException {
    fs.initialize(URI.create(configuration.get(CLUSTER_KEY)), configuration);
  }
}
