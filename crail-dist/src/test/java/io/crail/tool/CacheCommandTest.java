/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code crail cache} on a cluster. */
@Tag("once")
class CacheCommandTest {
  @TempDir private Path directory;

  private static void make(CrailStore store, String path, CrailNodeType type) throws Exception {
    store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true).get();
  }

  private static void put(CrailStore store, String path, int bytes) throws Exception {
    store.put(path, OffHeapBuffer.wrap(ByteBuffer.allocateDirect(bytes))).get();
  }

  @Test
  void itShowsAndDropsWhatIsCached() throws Exception {
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      int port = cluster.namenodeAddresses().get(0).getPort();
      Files.writeString(
          directory.resolve("crail-site.conf"),
          "crail.namenode.address crail://127.0.0.1:" + port + "\n");
      assertEquals("nothing is cached", run("cache").stdout().strip());

      make(store, "/cache", CrailNodeType.DIRECTORY);
      make(store, "/cache/logs", CrailNodeType.DIRECTORY);
      make(store, "/cache/logs/status", CrailNodeType.TABLE);
      make(store, "/cache/logs/blocks", CrailNodeType.TABLE);
      put(store, "/cache/logs/status/a", 100);
      put(store, "/cache/logs/blocks/a-0", 100_000);
      put(store, "/cache/logs/blocks/a-1", 10);

      Ran shown = run("cache --bytes");
      assertEquals(0, shown.code(), shown.stderr());
      assertTrue(shown.stdout().matches("(?s).*logs +1 +2 +135168\\s*"), shown.stdout());
      assertEquals(1, run("cache --drop log").code());
      assertEquals(0, run("cache --drop logs").code());
      assertNull(store.lookup("/cache/logs").get());
    }
  }

  @Test
  void itLoadsWhatItCan() throws Exception {
    Path source = Files.createDirectory(directory.resolve("source"));
    for (String name : new String[] {"a", "b"}) {
      Path file = Files.write(source.resolve(name), new byte[200_000]);
      Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L));
    }
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start()) {
      int port = cluster.namenodeAddresses().get(0).getPort();
      Files.writeString(
          directory.resolve("crail-site.conf"),
          "crail.namenode.address crail://127.0.0.1:" + port + "\n");
      String load =
          "cache --set crail.cache.source.logs=file://" + source + " --load crailcache://logs";
      Ran loaded = run(load);
      assertEquals(0, loaded.code(), loaded.stderr());
      assertEquals(
          "2 files with 390.6 KiB are cached, 390.6 KiB were read from the source\n",
          loaded.stdout());
      assertTrue(run("cache").stdout().matches("(?s).*logs +2 +2 .*"), run("cache").stdout());

      Path changed = Files.write(source.resolve("c"), new byte[1]);
      // A file is not cached until two seconds after its change, however long this test takes.
      Files.setLastModifiedTime(changed, FileTime.from(Instant.now().plusSeconds(3600)));
      Ran again = run(load);
      assertEquals(1, again.code());
      assertTrue(
          again.stdout().startsWith("2 files with 390.6 KiB are cached, 0 B"), again::stdout);
      assertTrue(again.stdout().endsWith("1 failed\n"), again::stdout);
      assertTrue(
          again.stderr().contains("crail cache: crailcache://logs/c is not cached: it was"),
          again::stderr);
    }
  }

  private Ran run(String line) {
    return Ran.run(directory, line.split(" "));
  }
}
