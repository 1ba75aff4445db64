/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailLocationClass;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.output.SupersededOutputs.Known;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What happens in a driver, event by event. */
class SupersededOutputsTest {
  private static final int SHUFFLE = 5;
  private static final StageAttempt MAP = new StageAttempt(1, 0);
  private static final StageAttempt AGAIN = new StageAttempt(1, 1);
  private static final StageAttempt READER = new StageAttempt(2, 0);
  private static final StageAttempt OTHER = new StageAttempt(3, 0);

  private EmbeddedCrail cluster;
  private CrailStore store;
  private OutputPlace place;
  private SupersededOutputs outputs;

  /** What the driver's tracker knows; null without the shuffle. */
  private Set<Long> registered = new HashSet<>();

  private long missed;
  private Known told;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    place =
        new OutputPlace(
            store,
            List.of("/a", "/b"),
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            Duration.ofDays(1));
    place.createRoots();
    place.createShuffle(SHUFFLE);
    outputs =
        new SupersededOutputs(
            place,
            new SupersededOutputs.Tracker() {
              @Override
              public Optional<Set<Long>> registered(int shuffle) {
                return Optional.ofNullable(registered);
              }

              @Override
              public long missed() {
                return missed;
              }

              @Override
              public void tellReaders(int shuffle, Known known) {
                told = known;
              }
            });
    outputs.watch(SHUFFLE);
    outputs.stageBegan(MAP, OptionalInt.of(SHUFFLE));
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    cluster.close();
  }

  private void seal(int shuffle, long task) throws IOException {
    place.createOutput(place.path(new OutputId(shuffle, task)));
  }

  private void leavePart(long task) throws IOException {
    place.createOutput(place.path(new OutputId(SHUFFLE, task)) + ".f00d");
  }

  private void succeed(StageAttempt stage, int shuffle, long task) throws IOException {
    outputs.taskBegan(stage, task);
    seal(shuffle, task);
    outputs.taskEnded(stage, task, true, false);
    registered.add(task);
  }

  private void succeed(StageAttempt stage, long task) throws IOException {
    succeed(stage, SHUFFLE, task);
  }

  /** The driver hears what it has posted itself: all earlier events were reported. */
  private void hearMark() throws IOException {
    Known known = told;
    told = null;
    known.run();
  }

  private Set<String> names(int shuffle) throws IOException {
    Set<String> names = new TreeSet<>();
    place.list(shuffle).forEach(path -> names.add(path.substring(path.lastIndexOf('/') + 1)));
    return names;
  }

  private Set<String> names() throws IOException {
    return names(SHUFFLE);
  }

  @Test
  void theOutputOfTheAttemptThatLostGoesAtOnce() throws IOException {
    succeed(MAP, 10);
    seal(SHUFFLE, 11);
    outputs.taskEnded(MAP, 11, false, false);
    assertEquals(Set.of("10"), names());
    outputs.stageEnded(MAP);
    seal(SHUFFLE, 12);
    outputs.taskEnded(MAP, 12, false, false);
    assertEquals(Set.of("10"), names());
  }

  /** If no server answers, each delete takes seconds, and Spark's end waits for all of them. */
  @Test
  void nothingIsDeletedForAWhileAfterAnError() throws Exception {
    seal(SHUFFLE, 10);
    leavePart(11);
    store.close();
    assertThrows(IOException.class, () -> outputs.taskEnded(MAP, 10, false, false));
    outputs.taskEnded(MAP, 11, false, true);
    outputs.taskEnded(MAP, 12, false, false);
    outputs.stageEnded(MAP);
  }

  @Test
  void leftoversOfAnExecutorAreDeletedWithItsStage() throws IOException {
    succeed(MAP, 10);
    leavePart(11);
    leavePart(12);
    seal(SHUFFLE, 13);
    outputs.taskEnded(MAP, 11, false, true);
    outputs.stageEnded(MAP);
    assertEquals(Set.of("10", "12.f00d", "13"), names());
  }

  @Test
  void anOutputThatWasComputedAgainStaysForThoseWhoMayReadIt() throws IOException {
    succeed(MAP, 10);
    succeed(MAP, 11);
    outputs.stageEnded(MAP);
    outputs.stageBegan(READER, OptionalInt.empty());
    outputs.stageBegan(OTHER, OptionalInt.empty());
    outputs.stageEnded(READER);
    registered.remove(10L);
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    hearMark();
    succeed(AGAIN, 20);
    outputs.stageEnded(AGAIN);
    assertEquals(Set.of("10", "11", "20"), names());
    StageAttempt later = new StageAttempt(2, 1);
    outputs.stageBegan(later, OptionalInt.empty());
    outputs.stageEnded(OTHER);
    assertEquals(Set.of("11", "20"), names());
    assertNull(told);
  }

  /** Spark has given it up already when the driver hears of earlier events. */
  @Test
  void anOutputStaysForAReaderThatIsReportedAfterItsLoss() throws IOException {
    succeed(MAP, 10);
    outputs.stageEnded(MAP);
    registered.clear();
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    outputs.stageBegan(READER, OptionalInt.empty());
    hearMark();
    succeed(AGAIN, 20);
    outputs.stageEnded(AGAIN);
    assertEquals(Set.of("10", "20"), names());
    outputs.stageEnded(READER);
    assertEquals(Set.of("20"), names());
  }

  /** A later job writes the shuffle again, in a stage of its own with a larger number. */
  @Test
  void anOutputStaysForAReaderThatIsOlderThanTheStageThatWritesAgain() throws IOException {
    succeed(MAP, 10);
    outputs.stageEnded(MAP);
    outputs.stageBegan(READER, OptionalInt.empty());
    registered.clear();
    outputs.stageBegan(OTHER, OptionalInt.of(SHUFFLE));
    hearMark();
    succeed(OTHER, 20);
    outputs.stageEnded(OTHER);
    assertEquals(Set.of("10", "20"), names());
    outputs.stageEnded(READER);
    assertEquals(Set.of("20"), names());
  }

  /** Spark lets the other tasks of a stage go on that could not read an output. */
  @Test
  void anOutputStaysForOldTasksOfAReaderThatFailed() throws IOException {
    succeed(MAP, 10);
    outputs.stageEnded(MAP);
    outputs.stageBegan(READER, OptionalInt.empty());
    outputs.taskBegan(READER, 11);
    outputs.taskBegan(READER, 12);
    outputs.taskEnded(READER, 11, false, false);
    outputs.stageEnded(READER);
    registered.clear();
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    hearMark();
    succeed(AGAIN, 20);
    outputs.stageEnded(AGAIN);
    StageAttempt later = new StageAttempt(2, 1);
    outputs.stageBegan(later, OptionalInt.empty());
    outputs.stageEnded(later);
    assertEquals(Set.of("10", "20"), names());
    outputs.taskEnded(READER, 12, true, false);
    assertEquals(Set.of("20"), names());
  }

  /**
   * Also of a task that is reported after the end of its stage, or before the listener was there.
   */
  @Test
  void anOutputStaysForATaskOfAStageThatIsNotKnown() throws IOException {
    succeed(MAP, 10);
    outputs.stageEnded(MAP);
    outputs.taskBegan(OTHER, 11);
    registered.clear();
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    hearMark();
    succeed(AGAIN, 20);
    outputs.stageEnded(AGAIN);
    assertEquals(Set.of("10", "20"), names());
    outputs.taskEnded(OTHER, 11, false, true);
    assertEquals(Set.of("20"), names());
  }

  /** The event may have been the begin of a reader, or come while an output waits for its end. */
  @Test
  void outputsStayWhereAnEventWasMissedSinceTheirShuffleBegan() throws IOException {
    succeed(MAP, 10);
    succeed(MAP, 11);
    outputs.stageEnded(MAP);
    outputs.stageBegan(OTHER, OptionalInt.empty());
    registered.remove(10L);
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    hearMark();
    succeed(AGAIN, 20);
    outputs.stageEnded(AGAIN);
    missed = 1;
    outputs.stageEnded(OTHER);
    assertEquals(0, outputs.remembered());
    assertEquals(Set.of("10", "11", "20"), names());
    registered.remove(11L);
    StageAttempt third = new StageAttempt(1, 2);
    outputs.stageBegan(third, OptionalInt.of(SHUFFLE));
    succeed(third, 21);
    outputs.stageEnded(third);
    assertEquals(Set.of("10", "11", "20", "21"), names());
    // Whatever was missed, no reader knows of this one.
    seal(SHUFFLE, 22);
    outputs.taskEnded(third, 22, false, false);
    assertEquals(Set.of("10", "11", "20", "21"), names());
    assertNull(told);
    // Nor does a shuffle help that comes later.
    outputs.watch(SHUFFLE + 1);
    outputs.stageBegan(new StageAttempt(1, 3), OptionalInt.of(SHUFFLE));
    assertNull(told);
  }

  /**
   * What began before cannot read it, so nothing waits for the end that perhaps was missed. The
   * driver hears of the begin before it sees that something was missed, or after that.
   */
  @Test
  void outputsOfAShuffleThatBeganAfterAMissedEventGo() throws IOException {
    outputs.taskBegan(MAP, 9);
    outputs.stageBegan(READER, OptionalInt.empty());
    missed = 1;
    outputs.stageEnded(READER);
    assertEquals(0, outputs.remembered());
    outputs.stageBegan(OTHER, OptionalInt.empty());
    outputs.taskBegan(OTHER, 8);
    int later = SHUFFLE + 1;
    place.createShuffle(later);
    outputs.watch(later);
    StageAttempt map = new StageAttempt(7, 0);
    outputs.stageBegan(map, OptionalInt.of(later));
    succeed(map, later, 30);
    outputs.stageEnded(map);
    registered.clear();
    StageAttempt again = new StageAttempt(7, 1);
    outputs.stageBegan(again, OptionalInt.of(later));
    hearMark();
    succeed(again, later, 31);
    outputs.stageEnded(again);
    assertEquals(Set.of("31"), names(later));
  }

  @Test
  void aRecomputedOutputGoesBeforeThatWithoutReaders() throws IOException {
    succeed(MAP, 10);
    outputs.stageEnded(MAP);
    registered.clear();
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    assertEquals(Set.of("10"), names());
    hearMark();
    assertEquals(Set.of(), names());
  }

  /** The stage before ends its tasks late: one counts, and replaces what was there. */
  @Test
  void anOutputThatALateTaskReplacesStaysForUninformedReaders() throws IOException {
    outputs.taskBegan(MAP, 10);
    outputs.stageEnded(MAP);
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    succeed(AGAIN, 20);
    outputs.stageEnded(AGAIN);
    succeed(MAP, 10);
    registered.remove(20L);
    outputs.stageBegan(READER, OptionalInt.empty());
    outputs.stageEnded(READER);
    assertEquals(Set.of("10", "20"), names());
    // Begins with what executors remember.
    outputs.stageBegan(OTHER, OptionalInt.empty());
    hearMark();
    StageAttempt later = new StageAttempt(4, 0);
    outputs.stageBegan(later, OptionalInt.empty());
    assertEquals(Set.of("10", "20"), names());
    outputs.stageEnded(OTHER);
    assertEquals(Set.of("10"), names());
  }

  @Test
  void anOutputThatIsRegisteredAfterAllStays() throws IOException {
    seal(SHUFFLE, 10);
    outputs.taskEnded(MAP, 10, true, false);
    outputs.stageEnded(MAP);
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    registered.add(10L);
    hearMark();
    outputs.stageEnded(AGAIN);
    assertEquals(Set.of("10"), names());
  }

  @Test
  void nothingIsDoneForAShuffleThatIsGone() throws IOException {
    succeed(MAP, 10);
    outputs.forget(SHUFFLE);
    registered = null;
    outputs.taskEnded(MAP, 11, false, true);
    outputs.stageEnded(MAP);
    assertEquals(Set.of("10"), names());
    place.removeShuffle(SHUFFLE);
    outputs.taskEnded(MAP, 12, false, true);
    outputs.stageEnded(MAP);
    assertFalse(place.remove("/a/shuffle-" + SHUFFLE));
  }

  /** It would never be forgotten. */
  @Test
  void aShuffleThatIsGoneDoesNotComeBackWithEventsFromBefore() throws IOException {
    outputs.forget(SHUFFLE);
    registered = null;
    outputs.stageBegan(AGAIN, OptionalInt.of(SHUFFLE));
    seal(SHUFFLE, 11);
    outputs.taskEnded(AGAIN, 11, false, false);
    assertEquals(Set.of("11"), names());
  }
}
