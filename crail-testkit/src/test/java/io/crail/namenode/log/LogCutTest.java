/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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

/** Cuts logs, on a disk that may fail at each step. */
@Tag("once")
class LogCutTest {
  private static final int KIND = 200;
  private static final int SEGMENT = 16 << 10;
  private static final int SEEDS = Integer.getInteger("crail.log.seeds", 200);
  private static final Codec<Long> NUMBER = Codec.ofLong("Number", "number", "a number");

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private SimulatedDisk disk;
  private long written;

  LogCutTest() {
    System.out.println("crail.seed=" + seed);
  }

  private static final class Numbers implements LogReader.Visitor {
    private final List<Long> found = new ArrayList<>();

    @Override
    public void written(long millis, long nanos) {}

    @Override
    public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
      assertEquals(KIND, kind);
      found.add(bytes.getLong(offset));
    }
  }

  /** All numbers that a start finds. */
  private List<Long> read() throws Exception {
    Numbers numbers = new Numbers();
    Snapshots snapshots = new Snapshots(disk);
    snapshots.read(numbers);
    LogReader.read(disk, snapshots.segment(), snapshots.position(), snapshots.nanos(), numbers);
    return numbers.found;
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  /** Goes on with the log by so many numbers, several in a frame. */
  private void append(int count) throws Exception {
    Snapshots snapshots = new Snapshots(disk);
    snapshots.read(new Numbers());
    LogReader present =
        LogReader.read(
            disk, snapshots.segment(), snapshots.position(), snapshots.nanos(), new Numbers());
    written = present.last();
    try (ChangeLog log =
        new ChangeLog(disk, present, Clock.SYSTEM, tasks::add, Runnable::run, () -> {}, SEGMENT)) {
      for (int i = 0; i < count; i++) {
        log.append(KIND, NUMBER, ++written);
        if (random.nextInt(5) == 0) {
          log.position();
          runTasks();
        }
      }
      log.tick();
      runTasks();
      assertEquals(written, log.reached());
    }
  }

  private void fill() throws Exception {
    disk = new SimulatedDisk(random);
    int starts = 1 + random.nextInt(3);
    for (int start = 0; start < starts; start++) {
      append(1 + random.nextInt(60));
    }
  }

  private static List<Long> upTo(long last) {
    List<Long> numbers = new ArrayList<>();
    for (long number = 1; number <= last; number++) {
      numbers.add(number);
    }
    return numbers;
  }

  @Test
  void theLogEndsWhereItIsCutAndGoesOn() throws Exception {
    for (int i = 0; i < SEEDS; i++) {
      fill();
      long last = 1 + random.nextInt((int) written);
      LogCut cut = LogCut.after(disk, last);
      assertEquals(written - last, cut.lost());
      assertEquals(last == written, cut.changed().isEmpty());
      cut.perform("a");
      disk.crash();
      assertEquals(upTo(last), read());
      LogSurvey survey = LogSurvey.of(disk);
      assertEquals("", survey.damage());
      assertEquals(last, survey.last());
      append(10);
      assertEquals(upTo(last + 10), read());
    }
  }

  /**
   * Wherever the disk fails, no record up to the last one is lost, and a second cut is the rest.
   */
  @Test
  void aCutThatHasFailedIsDoneAgain() throws Exception {
    int failures = 0;
    for (int i = 0; i < SEEDS; i++) {
      fill();
      long last = 1 + random.nextInt((int) written);
      LogCut cut = LogCut.after(disk, last);
      disk.failAfter(random.nextInt(12));
      try {
        cut.perform("a");
      } catch (IOException e) {
        failures++;
      }
      disk.crash();
      List<Long> left = read();
      assertEquals(upTo(left.size()), left);
      assertTrue(left.size() >= last, left.size() + " of " + last);
      LogCut.after(disk, last).perform("b");
      assertEquals(upTo(last), read());
      append(3);
      assertEquals(upTo(last + 3), read());
    }
    assertTrue(failures > SEEDS / 10, failures + " failed");
  }

  @Test
  void whatIsCutOffStays() throws Exception {
    fill();
    LogCut cut = LogCut.after(disk, 1);
    List<String> changed = cut.changed();
    List<byte[]> before = changed.stream().map(disk::bytes).toList();
    cut.perform("a");
    for (int i = 0; i < changed.size(); i++) {
      assertArrayEquals(before.get(i), disk.bytes("cut-a-" + changed.get(i)));
    }
    // As an operator would undo it.
    for (int i = 0; i < changed.size(); i++) {
      disk.rename("cut-a-" + changed.get(i), changed.get(i));
    }
    assertEquals(upTo(written), read());
  }

  @Test
  void aDamagedLogIsCutBeforeTheDamage() throws Exception {
    int damaged = 0;
    for (int i = 0; i < SEEDS; i++) {
      fill();
      List<LogSurvey.Part> parts =
          LogSurvey.of(disk).parts().stream().filter(part -> part.frames() > 0).toList();
      LogSurvey.Part part = parts.get(random.nextInt(parts.size()));
      int frame = random.nextInt((int) part.usedBytes() / LogFrame.PAGE) * LogFrame.PAGE;
      disk.damage(part.file(), frame + random.nextInt(LogFrame.HEADER));
      LogSurvey survey = LogSurvey.of(disk);
      if (survey.damage().isEmpty() || survey.last() == 0) {
        continue;
      }
      damaged++;
      assertThrows(LogDamage.class, this::read);
      assertTrue(survey.damage().matches("[0-9]+\\.log at byte [0-9]+: .*"), survey.damage());
      LogCut cut = LogCut.atDamage(disk);
      assertEquals(survey.last(), cut.last());
      assertEquals(written, survey.lastSeen(), "whole frames follow");
      assertEquals(written - survey.last(), cut.lost());
      cut.perform("a");
      assertEquals(upTo(survey.last()), read());
      append(5);
      assertEquals(upTo(survey.last() + 5), read());
    }
    assertTrue(damaged > SEEDS / 5, damaged + " of " + SEEDS);
  }

  /** Writes a snapshot, as a start does; the log remains until the next one. */
  private void snapshot() throws Exception {
    Numbers numbers = new Numbers();
    Snapshots snapshots = new Snapshots(disk);
    snapshots.read(numbers);
    LogReader present =
        LogReader.read(disk, snapshots.segment(), snapshots.position(), snapshots.nanos(), numbers);
    snapshots.purge();
    ClosedSegments closed =
        new ClosedSegments(present.lastSegment(), present.last(), present.bytes());
    String name = Snapshots.name(closed, random.nextInt());
    Snapshots.write(
        disk,
        name,
        closed,
        present.nanos(),
        Clock.SYSTEM,
        SEGMENT,
        target -> numbers.found.forEach(number -> target.append(KIND, NUMBER, number)));
    snapshots.mark(name, closed, Clock.SYSTEM);
  }

  @Test
  void asSnapshotThatIsTooNewIsSetAsideIfTheLogIsStillThere() throws Exception {
    fill();
    long first = written;
    snapshot();
    append(20);
    LogCut cut = LogCut.after(disk, first - 1);
    assertEquals(21, cut.lost());
    assertEquals(1, cut.removedSnapshots().size());
    cut.perform("a");
    assertEquals(upTo(first - 1), read());
    append(3);
    snapshot();
    // This start removes what the snapshot covers.
    new Snapshots(disk).read(new Numbers());
    snapshot();
    Snapshots snapshots = new Snapshots(disk);
    snapshots.read(new Numbers());
    snapshots.purge();
    IOException refused = assertThrows(IOException.class, () -> LogCut.after(disk, written - 1));
    assertTrue(refused.getMessage().contains("no record " + (written - 1)), refused.getMessage());
    assertEquals(upTo(written), read());
  }

  @Test
  void aDamagedSnapshotGivesItsPlaceToTheLog() throws Exception {
    fill();
    snapshot();
    String name =
        disk.names().stream()
            .filter(each -> each.startsWith("snapshot-") && each.endsWith(".log"))
            .findFirst()
            .orElseThrow();
    disk.damage(name, random.nextInt(LogFrame.HEADER));
    LogSurvey survey = LogSurvey.of(disk);
    assertTrue(survey.isSnapshotDamaged());
    assertTrue(survey.damage().startsWith("snapshot-"), survey.damage());
    LogCut cut = LogCut.atDamage(disk);
    assertEquals(0, cut.lost());
    cut.perform("a");
    assertEquals(upTo(written), read());
  }

  @Test
  void thereIsNothingToCutWhereNothingIs() throws Exception {
    fill();
    assertThrows(IOException.class, () -> LogCut.atDamage(disk));
    assertThrows(IOException.class, () -> LogCut.after(disk, written + 1));
    LogCut cut = LogCut.after(disk, written);
    assertEquals(List.of(), cut.changed());
    assertFalse(disk.names().stream().anyMatch(name -> name.startsWith("cut-")));
  }

  @Test
  void someRecordsAreReadWithoutTheOthers() throws Exception {
    for (int i = 0; i < SEEDS; i++) {
      fill();
      long from = 1 + random.nextInt((int) written);
      long to = from + random.nextInt((int) (written - from + 1));
      Numbers numbers = new Numbers();
      LogExcerpt.read(disk, from, to, numbers);
      assertEquals(upTo(to).subList((int) from - 1, (int) to), numbers.found);
    }
  }
}
