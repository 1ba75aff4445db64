/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Deletes outputs that will not be read any more, while their shuffle is still used. In the driver,
 * which reports what happens in the order in which it happened. Only files of tasks that have ended
 * are deleted: no other task can give an output its name, or have it registered.
 *
 * <ul>
 *   <li>The output of a task that did not succeed was never registered, and no reader knows it. It
 *       goes at once; what a process that died has left, when its stage ends.
 *   <li>Outputs that are not registered any more: lost for readers when a stage begins again, or
 *       another one took the place. That may be news to readers, so they are informed. Stage
 *       attempts that began before may still read them, also the one that could not: its other
 *       tasks go on, and count where they succeed. So they stay until all those attempts have ended
 *       and none of their tasks runs.
 * </ul>
 *
 * <p>If the driver could not report everything, it does not know who reads: outputs of shuffles
 * from before that stay. What stays, or cannot be deleted, goes with its shuffle. Used by one
 * thread, except where said.
 */
public final class SupersededOutputs {
  /** What the driver knows of outputs. */
  public interface Tracker {
    /** {@return the outputs of a shuffle that readers know of; empty without the shuffle} */
    Optional<Set<Long>> registered(int shuffle);

    /** {@return how many events will never be reported} Any thread may call it. */
    long missed();

    /**
     * Lets tasks of stages that begin from now on ask anew where outputs are.
     *
     * @param shuffle the shuffle whose outputs they know from before
     * @param known is run, in the thread that reports what happens, when it has reported all stages
     *     that began earlier
     */
    void tellReaders(int shuffle, Known known);
  }

  /** A step that may fail in the store. */
  @FunctionalInterface
  public interface Known {
    /** Runs it. */
    void run() throws IOException;
  }

  /** The tasks of a shuffle that have ended. */
  private record Ended(Set<Long> succeeded, Set<Long> failed) {}

  /** Outputs of a shuffle, and the stage attempts for which they stay. */
  private record Old(int shuffle, List<Long> maps, Set<StageAttempt> stages) {}

  /**
   * How long nothing is deleted after an error. A delete takes seconds if no server answers, and
   * the end of the application waits for all events.
   */
  private static final long REST_NANOS = 60_000_000_000L;

  private final OutputPlace place;
  private final Tracker tracker;
  private final LiveStages live = new LiveStages();

  /** The events that were missed when this thread last looked. */
  private long missed;

  /** The newest shuffle. This and the next two are guarded by this. */
  private int newest = -1;

  /** The newest shuffle that was there when an event was missed. */
  private int newestInDoubt = -1;

  /** The events that were missed before the newest shuffle was there. */
  private long missedBefore;

  /** The shuffles that stages write. */
  private final Map<Integer, Integer> shuffles = new ConcurrentHashMap<>();

  /** The tasks of these shuffles. */
  private final Map<Integer, Ended> ended = new ConcurrentHashMap<>();

  /** The shuffles in which one output may have taken the place of another. */
  private final Set<Integer> unclear = new HashSet<>();

  /** The shuffles whose writers died. */
  private final Set<Integer> orphaned = new HashSet<>();

  private final List<Old> waiting = new ArrayList<>();

  private boolean failed;
  private long failedNanos;

  /** Creates it. */
  public SupersededOutputs(OutputPlace place, Tracker tracker) {
    this.place = place;
    this.tracker = tracker;
  }

  /**
   * A shuffle is there, with a larger number than those before it, and no stage can read it yet.
   * Any thread may call it.
   */
  public synchronized void watch(int shuffle) {
    long now = tracker.missed();
    if (now != missedBefore) {
      missedBefore = now;
      newestInDoubt = newest;
    }
    newest = Math.max(newest, shuffle);
  }

  /** Whether all was reported since the shuffle was there, and so of all who may read it. */
  private synchronized boolean isKnown(int shuffle) {
    return shuffle > newestInDoubt && tracker.missed() == missedBefore;
  }

  /**
   * What began before an event was missed is no reader of shuffles that came after it, and perhaps
   * its end is never reported. What was reported late is added again, until the next time.
   */
  private void lookForMissed() {
    long now = tracker.missed();
    if (now != missed) {
      missed = now;
      live.clear();
      waiting.clear();
    }
  }

  /** How many attempts are live, and how many looks found old outputs that still wait. */
  int remembered() {
    return live.all().size() + waiting.size();
  }

  /**
   * A stage attempt begins.
   *
   * @param shuffle the shuffle that it writes
   */
  public void stageBegan(StageAttempt stage, OptionalInt shuffle) {
    lookForMissed();
    live.began(stage);
    if (shuffle.isPresent()) {
      int written = shuffle.getAsInt();
      shuffles.put(stage.stage(), written);
      ended.computeIfAbsent(written, key -> new Ended(new HashSet<>(), new HashSet<>()));
      if (tracker.registered(written).isPresent()) {
        findOld(written);
      } else {
        // It was removed before this was reported.
        forget(written);
      }
    }
  }

  /** A task of a stage attempt begins. */
  public void taskBegan(StageAttempt stage, long task) {
    lookForMissed();
    live.taskBegan(stage, task);
  }

  /** The outputs of tasks that succeeded that readers do not know of; each is given out once. */
  private List<Long> takeUnregistered(int shuffle) {
    Ended tasks = ended.get(shuffle);
    Optional<Set<Long>> registered = tracker.registered(shuffle);
    if (tasks == null || registered.isEmpty() || !isKnown(shuffle)) {
      return List.of();
    }
    List<Long> maps =
        tasks.succeeded.stream().filter(task -> !registered.get().contains(task)).toList();
    maps.forEach(tasks.succeeded::remove);
    return maps;
  }

  /**
   * A task has ended.
   *
   * @param task its number in the application, which is the name of its output
   * @param succeeded whether the driver may register its output
   * @param processLost whether its process could not clean up
   */
  public void taskEnded(StageAttempt stage, long task, boolean succeeded, boolean processLost)
      throws IOException {
    lookForMissed();
    Integer shuffle = shuffles.get(stage.stage());
    Ended tasks = shuffle == null ? null : ended.get(shuffle);
    if (tasks != null) {
      if (succeeded) {
        tasks.succeeded.add(task);
        if (!live.isRunning(stage)) {
          unclear.add(shuffle);
        }
      } else if (processLost) {
        tasks.failed.add(task);
        orphaned.add(shuffle);
      }
    }
    List<Old> unread = live.taskEnded(stage, task) ? takeUnread(stage) : List.of();
    if (tasks != null && !succeeded) {
      remove(place.path(new OutputId(shuffle, task)));
    }
    delete(unread);
  }

  /** A stage attempt has ended, and the driver has registered what its tasks have written. */
  public void stageEnded(StageAttempt stage) throws IOException {
    lookForMissed();
    List<Old> unread = live.ended(stage) ? takeUnread(stage) : List.of();
    Integer shuffle = shuffles.get(stage.stage());
    if (shuffle != null) {
      unclear.add(shuffle);
    }
    List<Integer> checked = List.copyOf(unclear);
    unclear.clear();
    for (int each : checked) {
      findOld(each);
    }
    List<Integer> visited = List.copyOf(orphaned);
    orphaned.clear();
    delete(unread);
    for (int each : visited) {
      deleteOrphans(each);
    }
  }

  /**
   * The tracker is ahead of the reports. So readers are those who have begun when all is reported
   * from before the look into it.
   */
  private void findOld(int shuffle) {
    List<Long> maps = takeUnregistered(shuffle);
    if (!maps.isEmpty()) {
      tracker.tellReaders(
          shuffle,
          () -> {
            lookForMissed();
            Old old = new Old(shuffle, maps, readers(shuffle));
            if (old.stages.isEmpty()) {
              delete(List.of(old));
            } else {
              waiting.add(old);
            }
          });
    }
  }

  /**
   * The stage attempts that may read a shuffle. Spark numbers a stage after those that it reads, so
   * they come after the first one that wrote it. What is left from before an event was missed does
   * not.
   */
  private Set<StageAttempt> readers(int shuffle) {
    int first =
        shuffles.entrySet().stream()
            .filter(each -> each.getValue() == shuffle)
            .mapToInt(Map.Entry::getKey)
            .min()
            .orElse(-1);
    Set<StageAttempt> readers = live.all();
    readers.removeIf(each -> each.stage() <= first);
    return readers;
  }

  private List<Old> takeUnread(StageAttempt stage) {
    List<Old> unread = new ArrayList<>();
    for (Iterator<Old> all = waiting.iterator(); all.hasNext(); ) {
      Old each = all.next();
      each.stages.remove(stage);
      if (each.stages.isEmpty()) {
        all.remove();
        unread.add(each);
      }
    }
    return unread;
  }

  private void delete(List<Old> unread) throws IOException {
    for (Old old : unread) {
      Optional<Set<Long>> registered = tracker.registered(old.shuffle);
      if (registered.isEmpty() || !isKnown(old.shuffle)) {
        continue;
      }
      for (long map : old.maps) {
        if (!registered.get().contains(map)) {
          remove(place.path(new OutputId(old.shuffle, map)));
        }
      }
    }
  }

  /** Deletes what processes that died have left, whether it was sealed or not. */
  private void deleteOrphans(int shuffle) throws IOException {
    Ended tasks = ended.get(shuffle);
    if (tasks == null || isResting()) {
      return;
    }
    for (String path : place.list(shuffle)) {
      String name = path.substring(path.lastIndexOf('/') + 1);
      int dot = name.indexOf('.');
      if (tasks.failed.contains(Long.parseLong(dot < 0 ? name : name.substring(0, dot)))) {
        remove(path);
      }
    }
  }

  /** Deletes a file, unless a delete has failed lately. */
  private void remove(String path) throws IOException {
    if (isResting()) {
      return;
    }
    try {
      place.remove(path);
    } catch (IOException e) {
      failed = true;
      failedNanos = System.nanoTime();
      throw e;
    }
  }

  private boolean isResting() {
    failed &= System.nanoTime() - failedNanos < REST_NANOS;
    return failed;
  }

  /** Forgets a shuffle that was removed. Any thread may call it. */
  public void forget(int shuffle) {
    shuffles.values().removeIf(number -> number == shuffle);
    ended.remove(shuffle);
  }
}
