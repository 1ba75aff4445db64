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
import io.crail.namenode.change.Change;
import io.crail.protocol.codec.Codec;
import io.crail.testkit.sim.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A log on a disk that loses what was not forced, fails, is full, or is damaged. What was reached
 * is read again, byte for byte, or the log is refused.
 */
@Tag("once")
class LogCrashTest {
  private static final int KIND = 200;
  private static final int MARK = 201;
  private static final int END = 202;
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

  /** Writes that are under way. */
  private final List<Runnable> ends = new ArrayList<>();

  private SimulatedDisk disk = new SimulatedDisk(random);
  private ChangeLog log;
  private int failures;
  private int overtakings;

  LogCrashTest() {
    System.out.println("crail.seed=" + seed);
  }

  private ChangeLog open() throws Exception {
    tasks.clear();
    ends.clear();
    disk.endCommitsBy(ends::add);
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

  /** Somebody waits for all that is logged. */
  private void begin() {
    log.position();
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private void endOne() {
    int which = random.nextInt(ends.size());
    overtakings += which > 0 ? 1 : 0;
    ends.remove(which).run();
  }

  private void runTasks() {
    begin();
    while (!ends.isEmpty()) {
      endOne();
      begin();
    }
  }

  /** Reads what there is, which must be a prefix of what was logged, with all that was reached. */
  private LogReader expectPrefix(long reached) throws Exception {
    List<byte[]> found = new ArrayList<>();
    final LogReader reader = read(disk, found);
    assertTrue(found.size() >= reached, found.size() + " of " + reached);
    assertTrue(found.size() <= logged.size(), found.size() + " of " + logged.size());
    for (int i = 0; i < found.size(); i++) {
      assertArrayEquals(logged.get(i), found.get(i), "record " + (i + 1));
    }
    logged.subList(found.size(), logged.size()).clear();
    return reader;
  }

  @Test
  void whatWasReachedSurvivesEachCrash() throws Exception {
    int torn = 0;
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
          switch (random.nextInt(6)) {
            case 0 -> runTasks();
            case 1, 2 -> begin();
            case 3 -> {
              if (!ends.isEmpty()) {
                endOne();
              }
            }
            default -> {
              // More goes together.
            }
          }
        }
        long reached = log.reached();
        disk.crash();
        torn += expectPrefix(reached).tornBytes() > 0 ? 1 : 0;
      }
    }
    assertTrue(torn > SEEDS / 2, torn + " were torn");
    assertTrue(overtakings > SEEDS, overtakings + " writes ended before an earlier one");
  }

  /** One that is whole does not count, as long as one before it is not. */
  @Test
  void whatComesAfterAHoleIsTorn() throws Exception {
    open();
    append();
    runTasks();
    for (int i = 0; i < 2; i++) {
      append();
      begin();
    }
    assertEquals(2, ends.size(), "under way");
    ends.remove(1).run();
    assertEquals(1, log.reached());
    disk.loseAll();
    disk.crash();
    assertTrue(expectPrefix(1).tornBytes() > 0);
    assertEquals(1, logged.size());
    // The records of the hole are made anew, in the next file.
    open();
    append();
    runTasks();
    disk.crash();
    expectPrefix(2);
  }

  private static byte[] bytes(long id) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(id).array();
  }

  /** A change that is found has its end behind it, or a record that says there may be none. */
  @Test
  void whatIsUnfinishedIsKnown() throws Exception {
    int unfinished = 0;
    for (int i = 0; i < SEEDS; i++) {
      disk = new SimulatedDisk(random);
      open();
      Map<Long, Unfinished<byte[]>> begun = new TreeMap<>();
      int steps = random.nextInt(300);
      for (long id = 0; id < steps; id++) {
        Unfinished<byte[]> mark = new Unfinished<>(MARK, BYTES, bytes(id));
        log.changed(new Change.Unlink(id, 0), mark);
        begun.put(id, mark);
        if (random.nextInt(4) == 0) {
          // Large enough to end a page now and then.
          log.append(KIND, BYTES, new byte[random.nextInt(20_000)]);
        }
        while (!begun.isEmpty() && random.nextInt(3) > 0) {
          long ended = List.copyOf(begun.keySet()).get(random.nextInt(begun.size()));
          log.append(END, BYTES, bytes(ended), null, begun.remove(ended));
        }
        if (random.nextInt(8) == 0) {
          begin();
        }
        if (random.nextInt(8) == 0 && !ends.isEmpty()) {
          endOne();
        }
      }
      disk.crash();
      unfinished += expectEnds();
    }
    assertTrue(unfinished > SEEDS / 4, unfinished + " were unfinished");
  }

  /** Returns how many have no end. */
  private int expectEnds() throws Exception {
    Map<Long, Integer> latest = new TreeMap<>();
    LogReader.read(
        disk,
        new LogReader.Visitor() {
          @Override
          public void written(long millis, long nanos) {}

          @Override
          public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
            if (kind != KIND) {
              Integer before = latest.put(bytes.getLong(offset), kind);
              assertTrue(before == null || before != END, "something comes behind an end");
            }
          }
        });
    latest.forEach((id, kind) -> assertTrue(kind == MARK || kind == END, "the end of " + id));
    return (int) latest.values().stream().filter(kind -> kind == MARK).count();
  }

  @Test
  void noFileIsBegunBeforeTheLastOneIsDurable() throws Exception {
    open();
    while (tasks.size() + disk.names().size() < 3) {
      append();
      log.position();
      if (tasks.isEmpty()) {
        // Three are under way.
        endOne();
      } else {
        Runnable task = tasks.poll();
        long under = ends.size();
        int files = disk.names().size();
        task.run();
        assertTrue(disk.names().size() == files || under == 0, under + " were under way");
      }
    }
  }

  @Test
  void theLastFrameIsProtectedByTheClose() throws Exception {
    open();
    append();
    runTasks();
    append();
    runTasks();
    disk.endCommitsBy(Runnable::run);
    log.close();
    expectPrefix(2);
    disk.damage(disk.names().get(0), LogFrame.PAGE);
    assertThrows(LogDamage.class, () -> read(disk, new ArrayList<>()));
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
      if (ByteBuffer.wrap(before).order(ByteOrder.LITTLE_ENDIAN).getInt(frame) == LogFrame.MAGIC) {
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
    disk.failAfter(0);
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
