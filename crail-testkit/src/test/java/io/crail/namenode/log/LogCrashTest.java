/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.protocol.codec.Codec;
import io.crail.testkit.sim.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A log on a disk that loses what was not forced, fails, is full, or is damaged. What was reached
 * is read again, byte for byte, or the log is refused.
 */
@Tag("once")
class LogCrashTest {
  private static final int KIND = 200;
  private static final int SEGMENT = 64 << 10;
  private static final int SEEDS = Integer.getInteger("crail.log.seeds", 300);

  /** Some bytes. */
  private static final Codec<byte[]> BYTES =
      new Codec<>(byte[].class, io.crail.protocol.codec.Layout.of("bytes")) {
        @Override
        public int length(byte[] message) {
          return message.length;
        }

        @Override
        public void encode(byte[] message, ByteBuffer out, int offset) {
          out.put(offset, message);
        }

        @Override
        public byte[] read(ByteBuffer in, int offset) {
          throw new UnsupportedOperationException();
        }
      };

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<byte[]> logged = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private SimulatedDisk disk = new SimulatedDisk(random);
  private ChangeLog log;
  private int failures;

  LogCrashTest() {
    System.out.println("crail.seed=" + seed);
  }

  private ChangeLog open() throws Exception {
    tasks.clear();
    log =
        new ChangeLog(
            disk,
            read(disk, new ArrayList<>()),
            Clock.SYSTEM,
            tasks::add,
            tasks::add,
            () -> failures++,
            SEGMENT);
    return log;
  }

  private static LogReader read(LogDirectory directory, List<byte[]> records) throws Exception {
    return LogReader.read(
        directory,
        new LogReader.Visitor() {
          @Override
          public void written(long millis, long nanos) {}

          @Override
          public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
            assertEquals(records.size() + 1, number);
            assertEquals(KIND, kind);
            byte[] record = new byte[length];
            bytes.get(offset, record);
            records.add(record);
          }
        });
  }

  private void append() {
    byte[] record = new byte[random.nextInt(8) == 0 ? random.nextInt(9000) : random.nextInt(90)];
    random.nextBytes(record);
    log.append(KIND, BYTES, record);
    logged.add(record);
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  /** Reads what there is, which must be a prefix of what was logged, with all that was reached. */
  private void expectPrefix(long reached) throws Exception {
    List<byte[]> found = new ArrayList<>();
    read(disk, found);
    assertTrue(found.size() >= reached, found.size() + " of " + reached);
    assertTrue(found.size() <= logged.size(), found.size() + " of " + logged.size());
    for (int i = 0; i < found.size(); i++) {
      assertArrayEquals(logged.get(i), found.get(i), "record " + (i + 1));
    }
    logged.subList(found.size(), logged.size()).clear();
  }

  @Test
  void whatWasReachedSurvivesEachCrash() throws Exception {
    for (int i = 0; i < SEEDS; i++) {
      logged.clear();
      disk = new SimulatedDisk(random);
      for (int start = 0; start < 4; start++) {
        open();
        if (random.nextBoolean()) {
          disk.failAfter(random.nextInt(60));
        }
        int steps = random.nextInt(80);
        for (int step = 0; step < steps; step++) {
          append();
          if (random.nextInt(3) == 0) {
            runTasks();
          }
        }
        long reached = log.reached();
        disk.crash();
        expectPrefix(reached);
      }
    }
  }

  @Test
  void whatWasForcedAndIsGoneIsDamage() throws Exception {
    int damaged = 0;
    for (int i = 0; i < SEEDS; i++) {
      logged.clear();
      disk = new SimulatedDisk(random);
      open();
      for (int step = 0; step < 40; step++) {
        append();
        runTasks();
      }
      String name = disk.names().get(0);
      byte[] before = disk.bytes(name);
      int frame = random.nextInt(SEGMENT / LogFrame.PAGE - 1) * LogFrame.PAGE;
      int inHeader = frame + random.nextInt(LogFrame.HEADER);
      disk.damage(name, inHeader);
      List<byte[]> found = new ArrayList<>();
      if (ByteBuffer.wrap(before).order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt(frame)
          == LogFrame.MAGIC) {
        damaged++;
        LogDamage damage = assertThrows(LogDamage.class, () -> read(disk, found));
        assertTrue(damage.getMessage().contains(".log at byte "), damage.getMessage());
      } else {
        // In the records, or in what a frame was filled up with.
        try {
          read(disk, found);
        } catch (LogDamage e) {
          continue;
        }
        assertEquals(logged.size(), found.size());
      }
    }
    assertTrue(damaged > SEEDS / 3, damaged + " of " + SEEDS);
  }

  @Test
  void aFileThatIsMissingIsDamage() throws Exception {
    open();
    while (disk.names().size() < 5) {
      append();
      runTasks();
    }
    disk.lose(disk.names().get(1));
    LogDamage damage = assertThrows(LogDamage.class, () -> read(disk, new ArrayList<>()));
    assertTrue(damage.getMessage().contains("follows"), damage.getMessage());
  }

  @Test
  void aFullDiskRefusesBeforeAnythingIsStuck() throws Exception {
    disk.capacity(2 * SEGMENT + SEGMENT / 2);
    open();
    while (log.refusal() == null) {
      append();
      runTasks();
      assertEquals(logged.size(), log.reached());
    }
    assertTrue(log.refusal().contains("no space left"), log.refusal());
    // Requests that were being served are written all the same.
    for (int i = 0; i < 5; i++) {
      append();
    }
    runTasks();
    assertEquals(logged.size(), log.reached());
    disk.capacity(Long.MAX_VALUE);
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (log.refusal() != null && System.nanoTime() - deadline < 0) {
      log.tick();
      runTasks();
    }
    assertNull(log.refusal());
    for (int i = 0; i < 100; i++) {
      append();
      runTasks();
    }
    disk.crash();
    expectPrefix(logged.size());
    assertEquals(0, failures);
  }

  @Test
  void aDiskThatIsTooSlowRefuses() throws Exception {
    open();
    while (log.refusal() == null) {
      append();
    }
    assertTrue(log.refusal().contains("too slow"), log.refusal());
    assertEquals(0, log.reached());
    runTasks();
    assertNull(log.refusal());
    assertEquals(logged.size(), log.reached());
  }

  @Test
  void nothingIsReachedAfterAFailure() throws Exception {
    open();
    runTasks();
    append();
    runTasks();
    assertEquals(1, log.reached());
    disk.failAfter(random.nextInt(2));
    append();
    boolean[] passed = new boolean[1];
    log.whenReached(2, () -> passed[0] = true);
    runTasks();
    assertTrue(passed[0], "who waits has to learn of it");
    assertTrue(log.hasFailed());
    assertNotNull(log.failure());
    assertEquals(1, failures);
    append();
    runTasks();
    assertEquals(1, log.reached());
    assertFalse(log.position() <= log.reached());
    log.close();
    disk.crash();
    expectPrefix(1);
  }

  @Test
  void aDirectoryHasOneUser(@org.junit.jupiter.api.io.TempDir java.nio.file.Path directory)
      throws Exception {
    try (FileLogDirectory first = FileLogDirectory.open(directory)) {
      IOException refused = assertThrows(IOException.class, () -> FileLogDirectory.open(directory));
      assertTrue(refused.getMessage().contains(directory.toString()), refused.getMessage());
      assertEquals(List.of(), first.names());
    }
    FileLogDirectory.open(directory).close();
  }
}
