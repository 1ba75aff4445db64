/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.NoSpaceException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.nvmf.Fate;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A target executes a write long after its client has given it up, as it may when a network holds
 * packets back. It checks no generations, so no other writer may have the space then.
 */
@Tag("once")
class NvmfLateWriteTest {
  private static final int MIB = 1 << 20;
  private static final int SECTOR = 4096;
  private static final int WRITE = 1;

  /** Writes in flight together, and their bytes, which end within a sector. */
  private static final int WRITES = 8;

  private static final int EACH = 9001;

  /** Longer than lease and margin, and shorter than a target keeps a host that is gone. */
  private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(12);

  private final Random random = new Random(Bytes.seed("late write"));
  private NvmeTarget target;
  private TestCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    target =
        new NvmeTarget(
            new TargetOptions().spared(MIB), new TargetNamespace(1, 5 * MIB / SECTOR, SECTOR));
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .tiers("nvmf")
                .storage(4 * MIB)
                .set("crail.storage.nvmf.targets", target.text())
                .set("crail.storage.nvmf.keepalive", "4s")
                .set("crail.lease", "1s")
                .set("crail.namenode.freemargin", "0")
                .set("crail.datatimeout", "1s")
                .start());
    // Writes fail at once where there is no space, so that none goes on after the late write.
    store = cluster.newStore("crail.client.spacepatience=0");
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    target.close();
    assertEquals(List.of(), target.complaints());
  }

  private void keepWrites(boolean keep) {
    target.plan(
        (queue, opcode, number) -> keep && queue > 0 && opcode == WRITE ? Fate.KEPT : Fate.NORMAL);
  }

  private void failingWrite(CrailFile file, int length) throws Exception {
    CrailOutputStream output = file.getDirectOutputStream(length);
    keepWrites(true);
    assertThrows(
        ExecutionException.class,
        () -> output.write(Bytes.buffer(Bytes.random(random, length))).get());
    keepWrites(false);
    try {
      output.close();
    } catch (CrailException e) {
      // The stream has failed.
    }
  }

  @Test
  void itsSpaceHasNoOtherOwnerYet() throws Exception {
    failingWrite(Bytes.createFile(store, "/late"), MIB);
    store.delete("/late", false).get();
    List<byte[]> contents = new ArrayList<>();
    long end = System.nanoTime() + LATE_NANOS;
    while (System.nanoTime() - end < 0) {
      byte[] bytes = Bytes.random(random, MIB);
      String path = "/other-" + contents.size();
      try {
        Bytes.write(store, path, bytes);
        contents.add(bytes);
      } catch (ExecutionException e) {
        assertInstanceOf(NoSpaceException.class, e.getCause());
        store.delete(path, false).get();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
    }
    assertTrue(contents.size() >= 2, contents.size() + " files");
    assertTrue(target.executeKept() > 0);
    for (int i = 0; i < contents.size(); i++) {
      CrailFile other = store.lookup("/other-" + i).get().asFile();
      assertArrayEquals(contents.get(i), Bytes.read(other), other.getPath());
    }
  }

  /**
   * A writer whose only target is slow goes on in other space of it. Had it written to the same
   * place again, the late writes would undo what follows in their last sectors.
   */
  @Test
  void aWriterGoesOnInOtherSpaceOfTheOnlyTarget() throws Exception {
    CrailStore patient =
        cluster.newStore("crail.datatimeout=20s", "crail.client.datanodesilence=300ms");
    byte[] bytes = Bytes.random(random, WRITES * EACH);
    Bytes.write(patient, "/first", Bytes.random(random, EACH));
    CrailFile file = Bytes.createFile(patient, "/slow");
    // A connection ends with a write that is given up.
    int connections = target.connections();
    target.plan(
        (queue, opcode, number) ->
            queue > 0 && opcode == WRITE && target.connections() == connections
                ? Fate.KEPT
                : Fate.NORMAL);
    CrailOutputStream output = file.getDirectOutputStream(0);
    List<Future<?>> writes = new ArrayList<>();
    for (int at = 0; at < WRITES * EACH; at += EACH) {
      writes.add(output.write(Bytes.buffer(Arrays.copyOfRange(bytes, at, at + EACH))));
    }
    for (Future<?> write : writes) {
      write.get();
    }
    output.close();
    assertTrue(target.executeKept() > 0);
    assertArrayEquals(bytes, Bytes.read(patient.lookup("/slow").get().asFile()));
  }

  /** The next writer continues elsewhere, though the extent has room and is still the file's. */
  @Test
  void laterAppendsAreNotOverwritten() throws Exception {
    byte[] first = Bytes.random(random, 300_000);
    CrailFile file = Bytes.write(store, "/appended", first);
    failingWrite(file, 100_000);
    byte[] second = Bytes.random(random, 100_000);
    TestCluster.await("the lease has ended", () -> isAppended(second));
    assertTrue(target.executeKept() > 0);
    byte[] both = Bytes.read(store.lookup("/appended").get().asFile());
    assertEquals(400_000, both.length);
    assertArrayEquals(first, Arrays.copyOf(both, 300_000));
    assertArrayEquals(second, Arrays.copyOfRange(both, 300_000, 400_000));
  }

  private boolean isAppended(byte[] bytes) throws Exception {
    try {
      Bytes.append(store.lookup("/appended").get().asFile(), bytes);
      return true;
    } catch (CrailException | ExecutionException e) {
      return false;
    }
  }
}
