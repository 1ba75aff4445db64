/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.StaleNodeException;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deletes of files that are being written. */
@EachTier(and = Tier.NVMF)
@Tag("repeat")
class DeleteWhileWritingTest {
  private final Tier tier;

  DeleteWhileWritingTest(Tier tier) {
    this.tier = tier;
  }

  @Test
  void everyDeleteIsAnswered() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1, "crail.storage.localmap=false")) {
      CrailStore store = cluster.newStore("crail.storage.localmap=false");
      for (int round = 0; round < 20; round++) {
        String path = "/deleted-" + round;
        CrailFile file =
            store
                .create(
                    path,
                    CrailNodeType.DATAFILE,
                    CrailStorageClass.DEFAULT,
                    CrailLocationClass.DEFAULT,
                    true)
                .get(60, TimeUnit.SECONDS)
                .asFile();
        CrailOutputStream out = file.getDirectOutputStream(4 << 20);
        for (int i = 0; i < 4; i++) {
          out.write(OffHeapBuffer.wrap(ByteBuffer.allocateDirect(1 << 20)));
        }
        // Nothing waits for the writes, so both deletes find them in flight.
        Upcoming<CrailNode> first = store.delete(path, false);
        Upcoming<CrailNode> second = store.delete(path, false);
        assertEquals(1, deleted(first) + deleted(second));
        assertNull(store.lookup(path).get(60, TimeUnit.SECONDS));
      }
    }
  }

  /** 1 when the delete found the node, 0 when it was gone before. */
  private static int deleted(Upcoming<CrailNode> delete) throws Exception {
    try {
      delete.get(60, TimeUnit.SECONDS);
      return 1;
    } catch (ExecutionException e) {
      CrailException cause = assertInstanceOf(CrailException.class, e.getCause());
      assertInstanceOf(NodeNotFoundException.class, cause);
      return 0;
    }
  }

  private static void assertEnded(CrailOutputStream output) throws Exception {
    assertThrows(StaleNodeException.class, () -> output.write(Bytes.buffer(new byte[1])));
    assertThrows(ExecutionException.class, () -> output.sync().get());
    output.close();
  }

  /** Writes on, after the ten bytes that are there. */
  static void assertLives(CrailOutputStream output, CrailStore store, String path)
      throws Exception {
    output.write(Bytes.buffer(new byte[10])).get();
    output.close();
    assertEquals(20, store.lookup(path).get().getCapacity());
  }

  static CrailOutputStream begin(CrailStore store, String path) throws Exception {
    CrailOutputStream output = Bytes.createFile(store, path).getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[10])).get();
    return output;
  }

  private static void assertMissing(CrailStore store, String path) {
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> store.delete(path, true).get());
    assertInstanceOf(NodeNotFoundException.class, failed.getCause());
  }

  @Test
  void aStreamGoesWithItsNodeAndNotWithAPath() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 2, 1)) {
      CrailStore store = cluster.newStore();
      for (String top : new String[] {"/a", "/b", "/c", "/d"}) {
        // Nodes at both namenodes.
        Bytes.create(store, top, CrailNodeType.DIRECTORY);
        CrailOutputStream renamed = begin(store, top + "/old");
        store.rename(top + "/old", top + "/new").get();
        assertMissing(store, top + "/old");
        CrailOutputStream second = begin(store, top + "/old");
        store.delete(top + "/old", false).get();
        assertEnded(second);
        assertLives(renamed, store, top + "/new");
        CrailOutputStream gone = begin(store, top + "/x");
        store.rename(top + "/x", top + "/y").get();
        store.delete(top + "/y", false).get();
        assertEnded(gone);
      }
    }
  }

  @Test
  void theStreamsBelowADirectoryGoWithIt() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      CrailStore store = cluster.newStore();
      for (String path : new String[] {"/d", "/d/out", "/in", "/d/deep", "/d/deep/er", "/other"}) {
        Bytes.create(store, path, CrailNodeType.DIRECTORY);
      }
      final CrailOutputStream out = begin(store, "/d/out/f");
      final CrailOutputStream in = begin(store, "/in/f");
      final CrailOutputStream deep = begin(store, "/d/deep/er/f");
      final CrailOutputStream other = begin(store, "/other/f");
      List<CrailOutputStream> many = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        many.add(begin(store, (i % 2 == 0 ? "/d/" : "/other/") + i));
      }
      store.rename("/d/out", "/e").get();
      store.rename("/in", "/d/in").get();
      store.delete("/d", true).get();
      assertEnded(in);
      assertEnded(deep);
      assertLives(out, store, "/e/f");
      assertLives(other, store, "/other/f");
      for (int i = 0; i < many.size(); i++) {
        if (i % 2 == 0) {
          assertEnded(many.get(i));
        } else {
          assertLives(many.get(i), store, "/other/" + i);
        }
      }
    }
  }
}
