/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailStore;
import io.crail.common.Addresses;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/** A small cluster, a directory of slow files, and cached file systems around it. */
final class CacheCluster implements AutoCloseable {
  /** Longer than any pause of the machine; a test that needs a shorter one sets it. */
  private static final String PATIENCE = "30s";

  private final EmbeddedCrail crail;
  private final Path directory;
  private final List<CacheFileSystem> opened = new ArrayList<>();

  CacheCluster(Path directory, int namenodes) throws IOException {
    this.directory = directory;
    SlowFileSystem.reset();
    crail =
        EmbeddedCrail.builder()
            .namenodes(namenodes)
            .datanodes(2)
            .storage(64 << 20)
            .set("crail.storage.tcp.allocationsize", "16m")
            .start();
  }

  EmbeddedCrail crail() {
    return crail;
  }

  CrailStore store() throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
  }

  /** The way in by the name "slow", and that by the scheme of the slow files. */
  Configuration configuration(String... settings) {
    Configuration hadoop = new Configuration();
    hadoop.set("fs.crail.site.file", "");
    hadoop.set(
        "crail.namenode.address",
        crail.namenodeAddresses().stream()
            .map(address -> "crail://" + Addresses.text(address))
            .collect(Collectors.joining(",")));
    hadoop.set("fs.slow.impl", SlowFileSystem.class.getName());
    hadoop.set("crail.cache.impl.slow", SlowFileSystem.class.getName());
    hadoop.set("crail.cache.source.slow", "slow://" + directory);
    hadoop.set("crail.cache.timeout", PATIENCE);
    hadoop.set("crail.cache.claim", PATIENCE);
    hadoop.set("crail.cache.statusage", "60m");
    hadoop.set("crail.cache.blocksize", "64k");
    hadoop.set("crail.cache.memory", "1m");
    for (int i = 0; i < settings.length; i += 2) {
      hadoop.set(settings[i], settings[i + 1]);
    }
    return hadoop;
  }

  /** A file system with memory and threads of its own, as another process has. */
  CacheFileSystem open(String... settings) throws IOException {
    return opened("crailcache://slow/", settings);
  }

  /** As {@link #open}, for any URI. */
  CacheFileSystem opened(String uri, String... settings) throws IOException {
    CacheFileSystem made = new CacheFileSystem();
    made.initialize(URI.create(uri), configuration(settings));
    opened.add(made);
    return made;
  }

  /** A file system that has a store around that of the cluster. */
  CacheFileSystem open(UnaryOperator<CrailStore> around, String... settings) throws IOException {
    CacheFileSystem made =
        new CacheFileSystem() {
          @Override
          CacheStore openStore(CacheNames names, CacheSettings with, CacheStatistics counts)
              throws IOException {
            return around(around, names, with, counts);
          }
        };
    made.initialize(URI.create("crailcache://slow/"), configuration(settings));
    opened.add(made);
    return made;
  }

  private static CacheStore around(
      UnaryOperator<CrailStore> around,
      CacheNames names,
      CacheSettings settings,
      CacheStatistics counts)
      throws IOException {
    try {
      CrailStore store = CrailStore.newInstance(settings.store());
      return new CacheStore(around.apply(store), names, settings, counts);
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  /** Names in the same directory of Crail as those of the file systems that this opens. */
  CacheNames names() {
    return new CacheNames("/cache", "slow", "slow://" + directory);
  }

  CacheSettings settings(String... settings) throws IOException {
    return CacheSettings.of(configuration(settings), "test", null);
  }

  /** Crail as such a file system sees it. */
  CacheStore cacheStore(UnaryOperator<CrailStore> around, String... settings) throws IOException {
    return around(around, names(), settings(settings), new CacheStatistics("test", "slow"));
  }

  /** Writes a file that the cache knows nothing of, and that was written long ago. */
  static void writeAged(Path file, byte[] content) throws IOException {
    Files.write(file, content);
    age(file, 1_000_000_000_000L);
  }

  static void age(Path file, long millis) throws IOException {
    Files.setLastModifiedTime(file, java.nio.file.attribute.FileTime.fromMillis(millis));
  }

  /** Bytes that differ from one position to the next, and from one seed to the next. */
  static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    new java.util.Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    try {
      for (CacheFileSystem each : opened) {
        each.close();
      }
    } finally {
      crail.close();
      SlowFileSystem.reset();
    }
  }
}
