/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A client that is stopped in the middle of its writes to flash, for longer than its lease and the
 * drain of its space, while others delete its files and fill the space. A target checks no
 * generations, so it must have ended the connection when the client goes on.
 */
@Tag("once")
class NvmfSleepingWriterTest {
  static final int MIB = 1 << 20;
  private static final int SECTOR = 4096;
  private static final int THREADS = 4;
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 10 : 1;

  private final Random random = new Random(Bytes.seed("sleeping writer on flash"));
  private NvmeTarget own;
  private TestCluster cluster;
  private CrailStore others;

  /** Bytes that the datanode lends. */
  static final int SPACE = 24 * MIB;

  /** A target, as a datanode is configured with it. */
  String target() throws Exception {
    own =
        new NvmeTarget(
            new TargetOptions().endsSilentHosts(),
            new TargetNamespace(1, (SPACE + MIB) / SECTOR, SECTOR));
    return own.text();
  }

  /** The keep-alive time, three of which the space rests. */
  String keepAlive() {
    return "4s";
  }

  /** The longest that a call takes. */
  String timeout() {
    return "10s";
  }

  @BeforeEach
  void start() throws Exception {
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .tiers("nvmf")
                .storage(SPACE)
                .set("crail.storage.nvmf.targets", target())
                .set("crail.storage.nvmf.allocationsize", String.valueOf(SPACE))
                .set("crail.storage.nvmf.overwrite", "true")
                .set("crail.storage.nvmf.keepalive", keepAlive())
                .set("crail.storage.nvmf.connecttimeout", timeout())
                .set("crail.lease", "2s")
                .set("crail.namenode.freemargin", "500ms")
                .set("crail.rpctimeout", timeout())
                .set("crail.datatimeout", timeout())
                .start());
    others = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    if (own != null) {
      own.close();
      assertEquals(List.of(), own.complaints());
    }
  }

  private SleepingWriter startWriter() throws Exception {
    return SleepingWriter.start(
        String.valueOf(THREADS),
        "crail.namenode.address=" + cluster.configuration().texts().get("crail.namenode.address"),
        "crail.storage.types=nvmf",
        "crail.storage.nvmf.connecttimeout=" + timeout(),
        "crail.rpctimeout=" + timeout(),
        "crail.datatimeout=" + timeout());
  }

  @Test
  void whereverItIsStoppedItChangesNothingOfOthers() throws Exception {
    try (SleepingWriter writer = startWriter()) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2 * THREADS + random.nextInt(THREADS); i++) {
          writer.await("wrote");
        }
        writer.stop();
        List<byte[]> contents = takeAllSpace();
        writer.resume();
        // There is no space, so each of its threads fails.
        for (int i = 0; i < THREADS; i++) {
          writer.await("failed " + i);
        }
        assertUntouched(contents);
        for (int i = 0; i < contents.size(); i++) {
          others.delete(path(i), false).get();
        }
      }
    }
  }

  private static String path(int number) {
    return "/full-" + number;
  }

  /** Deletes what the sleeper writes, and takes all space as soon as it is free. */
  private List<byte[]> takeAllSpace() throws Exception {
    List<String> slept = new ArrayList<>();
    Iterator<String> children = others.lookup("/").get().asDirectory().listEntries();
    children.forEachRemaining(slept::add);
    slept.removeIf(path -> !path.startsWith("/slept"));
    assertTrue(!slept.isEmpty(), "the writer has written nothing");
    for (String path : slept) {
      others.delete(path, false).get();
    }
    TestCluster.await("all space is free", () -> cluster.usage().freeBytes() >= SPACE);
    List<byte[]> contents = new ArrayList<>();
    for (long free = cluster.usage().freeBytes(); free >= MIB; free -= MIB) {
      contents.add(Bytes.random(random, MIB));
      Bytes.write(others, path(contents.size() - 1), contents.get(contents.size() - 1));
    }
    assertEquals(SPACE / MIB, contents.size());
    assertUntouched(contents);
    return contents;
  }

  private void assertUntouched(List<byte[]> contents) throws Exception {
    for (int i = 0; i < contents.size(); i++) {
      assertArrayEquals(
          contents.get(i), Bytes.read(others.lookup(path(i)).get().asFile()), path(i));
    }
  }
}
