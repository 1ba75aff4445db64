/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.testkit.model.Units;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kills writers in the middle of appends that begin and end within sectors of flash. What they
 * committed stays, the next writer's bytes follow it, and the files around keep theirs. {@code
 * -Dcrail.test.rounds=} sets the number of writers.
 */
@Tag("once")
class KilledFlashWriterSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int SPACE = 256 << 20;
  private static final int LABEL = 1 << 20;
  private static final int LONGEST_APPEND = 3_000_000;

  /** For a few syncs. */
  private static final int LONGEST_RUN_MILLIS = 100;

  private static final int ROUNDS =
      Integer.getInteger("crail.test.rounds", Boolean.getBoolean("crail.test.long") ? 20 : 3);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private long counter;

  /** The parts of a file, each of which has one writer. */
  private record Part(long id, int length) {}

  KilledFlashWriterSystemTest() {
    System.out.println("-Dcrail.seed=" + seed + " -Dcrail.test.rounds=" + ROUNDS);
  }

  @ParameterizedTest(name = "sectors of {0} bytes")
  @ValueSource(ints = {512, 4096})
  void committedBytesStayAndTheNextWriterContinues(int sector) throws Exception {
    Map<String, String> settings = Map.of("crail.storage.types", "nvmf", "crail.lease", "5s");
    try (NvmeTarget target =
            new NvmeTarget(
                new TargetOptions(), new TargetNamespace(1, (LABEL + SPACE) / sector, sector));
        ProcessCluster cluster = ProcessCluster.start(1, 0, settings);
        CrailProcess flash = cluster.crail("datanode", "-t", "nvmf", "--", "-t", target.text())) {
      flash.await("^datanode \\S+ serves .+, registered$", PATIENCE);
      try (CrailStore store =
          CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
        for (int round = 0; round < ROUNDS; round++) {
          round(cluster, store, "/" + round);
        }
      }
      assertEquals(List.of(), target.complaints());
    }
  }

  private void round(ProcessCluster cluster, CrailStore store, String path) throws Exception {
    List<Part> before = List.of(append(DataFiles.create(store, path + "-before"), 0));
    List<Part> parts = new ArrayList<>();
    long id = ++counter;
    List<Part> after;
    try (CrailProcess writer =
        CrailProcess.program(
            SyncingWriterProgram.class,
            cluster.directory().resolve("crail-site.conf").toString(),
            path,
            String.valueOf(id),
            String.valueOf(random.nextLong()))) {
      writer.await("^committed", PATIENCE);
      after = List.of(append(DataFiles.create(store, path + "-after"), 0));
      // It repeats this until it is killed, so any moment will do.
      TimeUnit.MICROSECONDS.sleep(random.nextInt(LONGEST_RUN_MILLIS * 1000));
      writer.kill();
      int told = 0;
      for (String line : writer.stdout().lines().filter(l -> l.startsWith("committed ")).toList()) {
        told = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
      }
      int committed = (int) lookup(store, path).getCapacity();
      assertTrue(committed >= told, committed + " of " + told);
      parts.add(new Part(id, committed));
    }
    check(store, path, parts);
    for (int i = 0; i < 2; i++) {
      parts.add(append(lookup(store, path), parts.stream().mapToInt(Part::length).sum()));
      check(store, path, parts);
    }
    check(store, path + "-before", before);
    check(store, path + "-after", after);
    store.delete(path, false).get(60, TimeUnit.SECONDS);
  }

  private static CrailFile lookup(CrailStore store, String path) throws Exception {
    return store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
  }

  /** Appends once the file has no other writer. */
  private Part append(CrailFile file, int position) throws Exception {
    Part part = new Part(++counter, 1 + random.nextInt(LONGEST_APPEND));
    byte[] bytes = new byte[part.length];
    Units.fill(ByteBuffer.wrap(bytes), part.id, part.id, position);
    try (CrailBufferedOutputStream out = DataFiles.append(file, bytes.length, PATIENCE)) {
      int at = 0;
      while (at < bytes.length) {
        int length = Math.min(bytes.length - at, 1 + random.nextInt(bytes.length));
        out.write(bytes, at, length);
        at += length;
      }
    }
    return part;
  }

  private static void check(CrailStore store, String path, List<Part> parts) throws Exception {
    CrailFile file = lookup(store, path);
    assertEquals(parts.stream().mapToInt(Part::length).sum(), file.getCapacity(), path);
    byte[] bytes = new byte[(int) file.getCapacity()];
    try (CrailBufferedInputStream in = file.getBufferedInputStream(bytes.length)) {
      assertEquals(bytes.length, in.readNBytes(bytes, 0, bytes.length));
    }
    ByteBuffer read = ByteBuffer.wrap(bytes);
    int at = 0;
    for (Part part : parts) {
      int wrong = Units.mismatch(read, at, at + part.length, part.id, part.id, at);
      if (wrong >= 0) {
        throw new AssertionError(
            path + " at " + wrong + ", in " + part + ": " + Units.describe(read, wrong));
      }
      at += part.length;
    }
  }
}
