/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.part.DatanodeState;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A datanode lends two targets, and one of them is lost while clients write. Until it is back new
 * data lie elsewhere, and no client has to find out by itself that they should.
 */
@Tag("once")
class NvmfLostTargetTest {
  private static final int MIB = 1 << 20;
  private static final int SECTOR = 4096;
  private static final int FLASH = 16 * MIB;

  /** Some signs of life, each of which ends what a client's word is worth to others. */
  private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Random random = new Random(Bytes.seed("lost target"));
  private final List<NvmeTarget> targets = new ArrayList<>();
  private TestCluster cluster;

  @BeforeEach
  void start() throws Exception {
    for (int i = 0; i < 2; i++) {
      targets.add(
          new NvmeTarget(
              new TargetOptions(), new TargetNamespace(1, (FLASH + MIB) / SECTOR, SECTOR)));
    }
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .storageClasses(0, 1)
                .storage(2L * FLASH)
                .set("crail.storage.types", "nvmf,tcp")
                .set("crail.storage.tcp.allocationsize", "4m")
                .set("crail.storage.nvmf.allocationsize", "16m")
                .set(
                    "crail.storage.nvmf.targets",
                    targets.get(0).text() + "," + targets.get(1).text())
                .set("crail.storage.nvmf.keepalive", "4s")
                .start());
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    for (NvmeTarget target : targets) {
      target.close();
      assertEquals(List.of(), target.complaints());
    }
  }

  private void awaitState(DatanodeState state) throws Exception {
    TestCluster.await("it is " + state, () -> cluster.datanode("nvmf").state() == state);
  }

  @Test
  void newDataLieElsewhereUntilItIsBack() throws Exception {
    Map<String, byte[]> written = new ConcurrentHashMap<>();
    CrailStore store = cluster.newStore();
    for (int i = 0; i < 4; i++) {
      write(store, "/before-" + i, written);
    }
    long before = cluster.datanode("nvmf").usedBytes();
    assertTrue(before >= 4 * 20_000, before + " bytes on flash");
    ExecutorService writer = Executors.newSingleThreadExecutor();
    AtomicBoolean ended = new AtomicBoolean();
    AtomicInteger during = new AtomicInteger();
    try {
      Future<?> work =
          writer.submit(
              () -> {
                while (!ended.get()) {
                  write(store, "/during-" + during.get(), written);
                  during.incrementAndGet();
                  Thread.sleep(20);
                }
                return null;
              });
      targets.get(0).down();
      awaitState(DatanodeState.IMPAIRED);
      // The file that was being written may still ask for other space; the one after it must not.
      int told = during.get();
      TestCluster.await("the writer goes on", () -> work.isDone() || during.get() >= told + 2);
      long flash = cluster.datanode("nvmf").usedBytes();
      long replaced = cluster.operations(NameNodeOperations.REPLACE_EXTENT);
      long end = System.nanoTime() + LOST_NANOS;
      for (int i = 0; System.nanoTime() - end < 0; i++) {
        CrailStore other = cluster.newStore();
        write(other, "/lost-" + i, written);
        other.close();
        Thread.sleep(50);
      }
      assertEquals(DatanodeState.IMPAIRED, cluster.datanode("nvmf").state());
      assertEquals(
          replaced, cluster.operations(NameNodeOperations.REPLACE_EXTENT), "tried in vain");
      assertTrue(cluster.datanode("nvmf").usedBytes() <= flash, "new data on flash");
      targets.get(0).up();
      awaitState(DatanodeState.ONLINE);
      ended.set(true);
      work.get(60, TimeUnit.SECONDS);
      assertTrue(during.get() > 10, during + " files");
    } finally {
      ended.set(true);
      writer.shutdownNow();
    }
    CrailStore last = cluster.newStore();
    long flash = cluster.datanode("nvmf").usedBytes();
    write(last, "/after", written);
    assertTrue(cluster.datanode("nvmf").usedBytes() > flash, "nothing new on flash");
    for (Map.Entry<String, byte[]> each : written.entrySet()) {
      byte[] read = Bytes.read(last.lookup(each.getKey()).get().asFile());
      assertArrayEquals(each.getValue(), read, each.getKey());
    }
  }

  private void write(CrailStore store, String path, Map<String, byte[]> written) throws Exception {
    byte[] bytes;
    synchronized (random) {
      bytes = Bytes.random(random, 20_000);
    }
    Bytes.write(store, path, bytes);
    written.put(path, bytes);
  }
}
