/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
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
 * Snapshots that take the place of a log, on a disk that fails at each step in turn. At each start
 * the snapshot and what follows on it in the log are all that was written.
 */
@Tag("once")
class SnapshotCrashTest {
  private static final int KIND = 200;
  private static final int SEGMENT = 16 << 10;
  private static final int MOST_STEPS = 400;
  private static final Codec<Long> NUMBER = Codec.ofLong("Number", "number", "a number");

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private int checkpoints;

  SnapshotCrashTest() {
    System.out.println("crail.seed=" + seed);
  }

  private static LogReader.Visitor numbersTo(List<Long> numbers) {
    return new LogReader.Visitor() {
      @Override
      public void written(long millis, long nanos) {}

      @Override
      public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
        assertEquals(KIND, kind);
        numbers.add(bytes.getLong(offset));
      }
    };
  }

  /** What a start finds. */
  private static final class Start {
    private final List<Long> numbers = new ArrayList<>();
    private final Snapshots snapshots;
    private final LogReader present;

    Start(LogDirectory disk) throws CrailException, IOException {
      LogReader.Visitor visitor = numbersTo(numbers);
      snapshots = new Snapshots(disk);
      snapshots.read(visitor);
      present =
          LogReader.read(
              disk, snapshots.segment(), snapshots.position(), snapshots.nanos(), visitor);
    }
  }

  /** Numbers are logged, and snapshots are made of what is in files that are written no more. */
  private void run(SimulatedDisk disk, int stepsLeft, List<Long> written) throws Exception {
    Start start = new Start(disk);
    disk.failAfter(stepsLeft);
    start.snapshots.purge();
    Queue<Runnable> tasks = new ArrayDeque<>();
    ChangeLog log =
        new ChangeLog(
            disk, start.present, Clock.SYSTEM, tasks::add, Runnable::run, () -> {}, SEGMENT);
    for (int i = 0; i < 30; i++) {
      if (random.nextInt(8) == 0) {
        checkpoint(disk, start.snapshots, log.closed());
      }
      long number = written.size();
      log.append(KIND, NUMBER, number);
      log.position();
      for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
        task.run();
      }
      if (log.hasFailed()) {
        return;
      }
      written.add(number);
    }
  }

  /** As another process does, which only knows which files it may read. */
  private void checkpoint(SimulatedDisk disk, Snapshots present, ClosedSegments closed)
      throws Exception {
    if (closed.last() == present.position()) {
      return;
    }
    List<Long> numbers = new ArrayList<>();
    Snapshots before = new Snapshots(disk);
    LogReader.Visitor visitor = numbersTo(numbers);
    before.read(visitor);
    before.readClosed(closed, visitor);
    assertEquals(closed.last(), numbers.size());
    String name = Snapshots.name(closed, random.nextInt());
    Snapshots.Size size =
        Snapshots.write(
            disk,
            name,
            closed,
            0,
            Clock.SYSTEM,
            SEGMENT,
            target -> numbers.forEach(number -> target.append(KIND, NUMBER, number)));
    assertEquals(numbers.size() + 1, size.records());
    present.mark(name, closed, Clock.SYSTEM);
    checkpoints++;
    present.purge();
  }

  @Test
  void nothingIsLostWhereverTheDiskFails() throws Exception {
    SimulatedDisk disk = new SimulatedDisk(random);
    List<Long> written = new ArrayList<>();
    int failures = 0;
    for (int steps = 0; steps < MOST_STEPS; steps++) {
      try {
        run(disk, random.nextInt(120), written);
      } catch (IOException e) {
        failures++;
      }
      disk.crash();
      List<Long> found = new Start(disk).numbers;
      // The last one may have been written, though that was not known.
      assertTrue(found.size() - written.size() <= 1, found.size() + " of " + written.size());
      assertEquals(written, found.subList(0, written.size()));
      while (written.size() < found.size()) {
        written.add((long) written.size());
      }
      if (written.size() > 500) {
        written.clear();
        disk = new SimulatedDisk(random);
      }
    }
    assertTrue(failures > MOST_STEPS / 20, failures + " failed");
    assertTrue(checkpoints > MOST_STEPS / 4, checkpoints + " checkpoints");
  }

  @Test
  void aSnapshotThatHasLostItsEndIsDamage() throws Exception {
    SimulatedDisk disk = new SimulatedDisk(random);
    List<Long> written = new ArrayList<>();
    while (new Snapshots(disk).position() == 0) {
      run(disk, Integer.MAX_VALUE, written);
    }
    String name =
        disk.names().stream()
            .filter(each -> each.endsWith(".log") && each.startsWith("snapshot-"))
            .toList()
            .get(0);
    disk.damage(name, random.nextInt(LogFrame.HEADER));
    assertThrows(LogDamage.class, () -> new Start(disk));
  }
}
