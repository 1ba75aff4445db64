/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.ProcessUser;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client on the datanode's host that cannot map its regions, for one reason or the other, uses
 * the network.
 */
@EachTier(
    not = {Tier.NVMF, Tier.NVMF_SPDK, Tier.NVMF_KERNEL_TCP, Tier.NVMF_KERNEL_RDMA, Tier.FOUND})
class UnmappableTest {
  @TempDir Path dataPath;

  private final Tier tier;
  private TestCluster cluster;
  private Path directory;

  UnmappableTest(Tier tier) {
    this.tier = tier;
  }

  @BeforeEach
  void start() throws Exception {
    // The datanode itself opens none of its files again.
    cluster =
        TestCluster.start(
            tier,
            1,
            1,
            "crail.storage.localmap=true",
            "crail.storage.tcp.preallocate=true",
            "crail.storage.tcp.datapath=" + dataPath);
    directory = onlyOne(list(dataPath));
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private static List<Path> list(Path parent) throws IOException {
    try (Stream<Path> entries = Files.list(parent)) {
      return entries.toList();
    }
  }

  private static Path onlyOne(List<Path> paths) {
    assertTrue(paths.size() == 1, paths::toString);
    return paths.get(0);
  }

  /** As for a client without the mount of huge pages that the bytes lie in. */
  private void hideRegions() throws IOException {
    for (Path file : list(directory)) {
      if (file.getFileName().toString().matches("region-\\d+")) {
        Files.delete(file);
        Files.createSymbolicLink(file, Path.of("/no-such-mount/" + file.getFileName()));
      }
    }
  }

  private void assertStoreWorks(String expectedCounters) throws Exception {
    CrailStore store = cluster.newStore();
    byte[] bytes = new byte[3_000_000];
    new Random(1).nextBytes(bytes);
    CrailFile file = Bytes.createFile(store, "/file");
    Bytes.append(file, bytes);
    assertArrayEquals(bytes, Bytes.read(file));
    String counted = store.getStatistics().describe("core/input");
    assertTrue(counted.contains(expectedCounters), counted);
  }

  @Test
  void regionsThatCanBeMappedAre() throws Exception {
    assertStoreWorks("remoteOps 0,");
  }

  @Test
  void bytesInAMountThatIsNotHereGoOverTheNetwork() throws Exception {
    hideRegions();
    assertStoreWorks("localOps 0,");
  }

  /** Puts names of a file of the user in the places of the regions, as an attacker would. */
  private void assertKept(Path victim, boolean hard) throws Exception {
    byte[] secret = new byte[(int) Files.size(directory.resolve("region-0"))];
    Files.write(victim, secret);
    for (Path file : list(directory)) {
      if (file.getFileName().toString().matches("region-\\d+")) {
        Files.delete(file);
        if (hard) {
          Files.createLink(file, victim);
        } else {
          Files.createSymbolicLink(file, victim);
        }
      }
    }
    assertStoreWorks("localOps 0,");
    assertArrayEquals(secret, Files.readAllBytes(victim));
  }

  @Test
  void aFileThatARegionIsALinkToKeepsItsBytes(@TempDir Path home) throws Exception {
    assertKept(home.resolve("victim"), false);
  }

  @Test
  void aFileThatARegionIsAnotherNameOfKeepsItsBytes() throws Exception {
    // Hard links stay within a file system.
    assertKept(dataPath.resolve("victim"), true);
  }

  @Test
  void aDirectoryOfAnotherUserIsNotMapped() throws Exception {
    assumeTrue(ProcessUser.id() == 0, "only root may give files to others");
    Files.setAttribute(directory, "unix:uid", 12345);
    try {
      assertStoreWorks("localOps 0,");
    } finally {
      Files.setAttribute(directory, "unix:uid", 0);
    }
  }

  @Test
  void aDirectoryThatMayNotBeUsedIsNot() throws Exception {
    Path id = directory.resolve("id");
    Files.delete(id);
    Files.createDirectory(id);
    assertStoreWorks("localOps 0,");
  }

  /** Such as one on NFS; the files are here, but not the memory that they stand for. */
  @Test
  void aDirectoryOfAnotherHostIsNotMapped() throws Exception {
    Path id = directory.resolve("id");
    Files.writeString(id, Files.readString(id).replaceFirst("\n.*", "\nanother boot"));
    assertStoreWorks("localOps 0,");
  }

  @Test
  void aDirectoryThatIsNotThereIsNotNeeded() throws Exception {
    Path elsewhere = directory.resolveSibling("elsewhere");
    Files.move(directory, elsewhere);
    try {
      assertStoreWorks("localOps 0,");
    } finally {
      Files.move(elsewhere, directory);
    }
  }

  @Test
  void bytesWrittenByMappingAreReadOverTheNetwork() throws Exception {
    CrailStore store = cluster.newStore();
    byte[] small = {1, 2, 3};
    CrailFile first = Bytes.createFile(store, "/first");
    Bytes.append(first, small);
    assertTrue(store.getStatistics().describe("core/output").contains("localOps 1, remoteOps 0"));
    hideRegions();
    // More than a region.
    byte[] large = new byte[20 << 20];
    new Random(2).nextBytes(large);
    CrailFile second = Bytes.createFile(store, "/second");
    Bytes.append(second, large);
    assertArrayEquals(large, Bytes.read(second));
    assertArrayEquals(small, Bytes.read(first));
    String counted = store.getStatistics().describe("core/input");
    assertTrue(counted.contains("localOps 0,"), counted);
  }
}
