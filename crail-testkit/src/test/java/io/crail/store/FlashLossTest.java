/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
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
 * A target goes down and comes up under load, with little memory before the flash. What was
 * acknowledged is there afterwards, and all errors are of the kinds that such a loss excuses.
 */
@Tag("once")
class FlashLossTest {
  private static final int MIB = 1 << 20;
  private static final int SECTOR = 512;
  private static final int WRITERS = 3;
  private static final int MEMORY = 4 * MIB;
  private static final int FLASH = 128 * MIB;
  private static final int LOSSES = Boolean.getBoolean("crail.test.long") ? 20 : 4;

  /** Files that are acknowledged between two losses, and attempts that see one. */
  private static final int BETWEEN = 12;

  private static final Set<ErrorCode> EXCUSED =
      EnumSet.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT, ErrorCode.WRITE_LEASE_LOST);

  private final long seed = Bytes.seed("flash loss");
  private final Map<String, Long> acknowledged = new ConcurrentHashMap<>();
  private final AtomicInteger written = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicBoolean ended = new AtomicBoolean();
  private NvmeTarget target;
  private TestCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    target =
        new NvmeTarget(new TargetOptions(), new TargetNamespace(1, (FLASH + MIB) / SECTOR, SECTOR));
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .storageClasses(0, 1)
                .storage(FLASH)
                .set("crail.storage.types", "tcp,nvmf")
                .set("crail.storage.tcp.allocationsize", "4m")
                .set("crail.storage.nvmf.allocationsize", "32m")
                .set("crail.storage.nvmf.targets", target.text())
                .set("crail.lease", "60s")
                .set("crail.datatimeout", "60s")
                .set("crail.rpctimeout", "60s")
                .start());
    store = cluster.newStore();
    // Little memory is left, so nearly all goes to flash.
    fillMemory();
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    target.close();
    assertEquals(List.of(), target.complaints());
  }

  private void fillMemory() throws Exception {
    CrailFile file =
        store
            .create(
                "/memory",
                CrailNodeType.DATAFILE,
                CrailStorageClass.get(0).strict(),
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asFile();
    for (int left = FLASH - MEMORY; left > 0; left -= MIB) {
      Bytes.append(file, new byte[MIB]);
    }
  }

  /** The content of a file; its length too follows from the seed. */
  private static byte[] content(long fileSeed) {
    Random random = new Random(fileSeed);
    return Bytes.random(random, 1 + random.nextInt(random.nextBoolean() ? 20_000 : MIB));
  }

  private void write(int writer) throws Exception {
    Random random = new Random(seed + writer);
    for (int i = 0; !ended.get(); i++) {
      long fileSeed = random.nextLong();
      String path = "/w" + writer + "-" + i;
      byte[] bytes = content(fileSeed);
      try {
        CrailOutputStream output = Bytes.createFile(store, path).getDirectOutputStream(0);
        try {
          for (int at = 0; at < bytes.length; ) {
            int length = Math.min(bytes.length - at, 1 + random.nextInt(300_000));
            byte[] piece = Arrays.copyOfRange(bytes, at, at + length);
            output.write(Bytes.buffer(piece)).get();
            at += length;
          }
        } finally {
          output.close();
        }
        acknowledged.put(path, fileSeed);
        written.incrementAndGet();
      } catch (ExecutionException | IOException e) {
        excuse(e);
        failed.incrementAndGet();
      }
    }
  }

  private static void excuse(Exception failure) throws Exception {
    Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
    if (!(cause instanceof CrailException typed) || !EXCUSED.contains(typed.code())) {
      throw failure;
    }
  }

  private void read() throws Exception {
    Random random = new Random(seed - 1);
    while (!ended.get()) {
      List<String> paths = List.copyOf(acknowledged.keySet());
      if (paths.isEmpty()) {
        Thread.onSpinWait();
        continue;
      }
      String path = paths.get(random.nextInt(paths.size()));
      try {
        check(path);
      } catch (ExecutionException | IOException e) {
        excuse(e);
        failed.incrementAndGet();
      }
    }
  }

  private void check(String path) throws Exception {
    byte[] read = Bytes.read(store.lookup(path).get().asFile());
    assertArrayEquals(content(acknowledged.get(path)), read, path);
  }

  private void await(AtomicInteger count, int more) throws Exception {
    int from = count.get();
    TestCluster.await(more + " more", () -> count.get() >= from + more || ended.get());
  }

  @Test
  void nothingAcknowledgedIsLost() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 1);
    List<Future<?>> all = new ArrayList<>();
    try {
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        all.add(threads.submit(() -> untilFailed(() -> write(writer))));
      }
      all.add(threads.submit(() -> untilFailed(this::read)));
      for (int loss = 0; loss < LOSSES; loss++) {
        await(written, BETWEEN);
        if (loss % 2 == 0) {
          target.down();
          await(failed, 1);
          target.up();
        } else {
          target.cut();
        }
      }
      await(written, BETWEEN);
    } finally {
      ended.set(true);
      threads.shutdown();
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    for (String path : acknowledged.keySet()) {
      check(path);
    }
    System.out.println(acknowledged.size() + " files, " + failed + " failures");
    assertTrue(acknowledged.size() > LOSSES * BETWEEN, acknowledged.size() + " files");
  }

  private interface Work {
    void run() throws Exception;
  }

  /** The others need not go on once one has found something. */
  private Void untilFailed(Work work) throws Exception {
    try {
      work.run();
    } finally {
      ended.set(true);
    }
    return null;
  }
}
