/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;

/** A cluster for all suites of this JVM, which ends it. */
public final class SharedCacheCluster {
  /** The root of the cached file system. */
  public static final URI URI_OF_CACHE = URI.create("crailcache://slow/");

  /** Started by the first suite that needs it. */
  private static final class Holder {
    static final CacheCluster CLUSTER = start();

    private static CacheCluster start() {
      try {
        Path directory = Files.createTempDirectory("crail-cache-test");
        CacheCluster cluster = new CacheCluster(directory, 2);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(cluster)));
        return cluster;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private SharedCacheCluster() {}

  private static void end(CacheCluster cluster) {
    try {
      cluster.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sets what the cached file system needs. */
  public static void configure(Configuration configuration) {
    Holder.CLUSTER
        .configuration()
        .getPropsWithPrefix("crail.")
        .forEach((key, value) -> configuration.set("crail." + key, value));
    configuration.set("fs.crail.site.file", "");
    configuration.set("fs.slow.impl", SlowFileSystem.class.getName());
    // The suites read what they have just written, which is not cached so soon.
    SlowFileSystem.OLDER_MILLIS.set(3_600_000);
  }
}
