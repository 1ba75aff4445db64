/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that live longer than the datanodes. */
class DatanodeRestartTest {
  private static final int RESTARTS = 3;
  private static final int LENGTH = 100_000;
  private static final Path MAPPINGS = Path.of("/proc/self/maps");

  @TempDir Path dataPath;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endedDatanodesAreForgotten(boolean mapped) throws Exception {
    List<CrailInputStream> readers = new ArrayList<>();
    try (EmbeddedCrail crail =
        EmbeddedCrail.builder()
            .dataPath(dataPath)
            .storage(16 << 20)
            .mapped(mapped)
            .set("crail.storage.keepalive", "50ms")
            .start()) {
      CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
      try {
        readers.add(writeAndReadUntilItWorks(store, "/0"));
        for (int i = 0; i < RESTARTS; i++) {
          crail.stopDatanode(i);
          crail.startDatanode(0);
          readers.add(writeAndReadUntilItWorks(store, "/" + (i + 1)));
        }
        // The store is not used from here on, and its streams stay open.
        TestCluster.await("the end of the old endpoints", () -> endpoints(store).equals("size 1"));
        assertEquals(1 + RESTARTS, readers.size());
        if (Files.isReadable(MAPPINGS)) {
          awaitUnmapped(crail);
        }
      } finally {
        store.close();
      }
    }
  }

  private void awaitUnmapped(EmbeddedCrail crail) throws Exception {
    String living;
    try (Stream<Path> directories = Files.list(dataPath)) {
      living = directories.findFirst().orElseThrow().toString();
    }
    assertFalse(mappings().isEmpty());
    TestCluster.await(
        "the end of the old mappings",
        () -> {
          System.gc();
          return mappings().stream().allMatch(line -> line.contains(living));
        });
    assertEquals(1 + RESTARTS, crail.datanodeCount());
  }

  /** The region files that this process, client and datanodes together, has mapped. */
  private List<String> mappings() throws IOException {
    try (Stream<String> lines = Files.lines(MAPPINGS)) {
      return lines
          .filter(line -> line.contains(dataPath.toString()) && line.contains("/region-"))
          .toList();
    }
  }

  private static String endpoints(CrailStore store) {
    return store.getStatistics().describe("cache/endpoint");
  }

  private static CrailInputStream writeAndReadUntilItWorks(CrailStore store, String path)
      throws Exception {
    long deadline = System.nanoTime() + 60_000_000_000L;
    for (int i = 0; ; i++) {
      try {
        return writeAndRead(store, path + "-" + i);
      } catch (IOException | ExecutionException e) {
        // The namenode has not noticed yet that a datanode has ended, or that one is there again
        // from which it had heard nothing while this process stood still.
        assertTrue(System.nanoTime() - deadline < 0, e.toString());
        Thread.sleep(20);
      }
    }
  }

  /** Gives a stream that has read half of the file. */
  private static CrailInputStream writeAndRead(CrailStore store, String path) throws Exception {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, (byte) path.hashCode());
    Bytes.write(store, path, bytes);
    CrailFile file = store.lookup(path).get().asFile();
    assertArrayEquals(bytes, Bytes.read(file));
    CrailInputStream half = file.getDirectInputStream(LENGTH);
    assertEquals(LENGTH / 2, half.read(Bytes.empty(LENGTH / 2)).get().getLen());
    return half;
  }
}
