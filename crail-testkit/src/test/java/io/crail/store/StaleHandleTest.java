/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.append;
import static io.crail.store.Bytes.buffer;
import static io.crail.store.Bytes.create;
import static io.crail.store.Bytes.empty;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailContainer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.StaleNodeException;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What the holder of a handle learns when its node is gone. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier(and = Tier.MAPPED)
class StaleHandleTest implements EachTier.Shared {
  private static final int MIB = 1 << 20;

  private TestCluster cluster;
  private CrailStore store;
  private CrailStore other;

  @Override
  public void start(Tier tier) throws Exception {
    String map = "crail.storage.localmap=" + tier.isMapped();
    cluster =
        tier.checksGeneration()
            ? TestCluster.start(tier, 1, 1, map)
            // What was deleted rests for so long.
            : TestCluster.start(tier, 1, 1, map, "crail.lease=5s", "crail.namenode.freemargin=1s");
    store = cluster.newStore();
    other = cluster.newStore();
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  @Test
  void noClientReadsTheBytesOfAnotherFile() throws Exception {
    byte[] old = new byte[3 * MIB];
    Arrays.fill(old, (byte) 1);
    Bytes.write(store, "/old", old);
    CrailFile handle = other.lookup("/old").get().asFile();
    CrailInputStream input = handle.getDirectInputStream(old.length);
    input.read(empty(MIB)).get();
    store.delete("/old", false).get();
    List<String> fillers = Fillers.fill(cluster, store, (byte) 2);
    input.seek(0);
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> input.read(empty(2 * MIB)).get());
    assertInstanceOf(StaleNodeException.class, failed.getCause());
    input.close();
    CrailBufferedInputStream buffered = handle.getBufferedInputStream(0);
    assertThrows(StaleNodeException.class, buffered::read);
    buffered.close();
    CrailInputStream fresh = store.lookup("/filler0").get().asFile().getDirectInputStream(0);
    assertArrayEquals(Fillers.filler((byte) 2), Bytes.read(fresh, Fillers.BYTES));
    fresh.close();
    Fillers.remove(cluster, store, fillers);
  }

  private static CrailKeyValue put(CrailStore at, String path, byte[] value) throws Exception {
    CrailKeyValue kv =
        at.create(
                path,
                CrailNodeType.KEYVALUE,
                CrailStorageClass.PARENT,
                CrailLocationClass.PARENT,
                true)
            .get()
            .asKeyValue();
    append(kv, value);
    return kv;
  }

  @Test
  void theLastPutWinsAndReadersOfTheOldValueFail() throws Exception {
    create(store, "/table", CrailNodeType.TABLE);
    put(store, "/table/k", new byte[] {1, 1, 1});
    CrailKeyValue old = other.lookup("/table/k").get().asKeyValue();
    CrailInputStream input = old.getDirectInputStream(0);
    assertEquals(1, input.read(empty(1)).get().getLen());
    put(store, "/table/k", new byte[] {2, 2});
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> input.read(empty(1)).get());
    assertInstanceOf(StaleNodeException.class, failed.getCause());
    input.close();
    assertArrayEquals(new byte[] {2, 2}, Bytes.read(other.lookup("/table/k").get().asKeyValue()));
    CrailContainer table = store.lookup("/table").get().asContainer();
    assertEquals(1, table.files());
    List<String> entries = new ArrayList<>();
    table.listEntries().forEachRemaining(entries::add);
    assertEquals(List.of("/table/k"), entries);
    store.delete("/table", true).get();
  }

  @Test
  void theWriterOfAReplacedValueFails() throws Exception {
    create(store, "/puts", CrailNodeType.TABLE);
    CrailKeyValue first =
        store
            .create(
                "/puts/k",
                CrailNodeType.KEYVALUE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asKeyValue();
    CrailOutputStream output = first.getDirectOutputStream(0);
    output.write(buffer(new byte[100])).get();
    put(other, "/puts/k", new byte[] {9});
    assertThrows(StaleNodeException.class, output::close);
    assertArrayEquals(new byte[] {9}, Bytes.read(store.lookup("/puts/k").get().asKeyValue()));
    store.delete("/puts", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void aWriterWhoseFileIsGoneFailsTyped() throws Exception {
    CrailFile file = Bytes.createFile(store, "/gone");
    CrailOutputStream output = file.getDirectOutputStream(0);
    output.write(buffer(new byte[100])).get();
    other.delete("/gone", false).get();
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> output.write(buffer(new byte[MIB])).get());
    assertInstanceOf(StaleNodeException.class, failed.getCause());
    assertThrows(StaleNodeException.class, output::close);
    assertTrue(output.position() > 100);
  }
}
