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
 * Deletes outputs that nobody will read any more, while their shuffle is still used. In the driver,
 * which tells what happens in the order in which it happened. Only files of tasks that have ended
 * are deleted: no other task can give an output its name, or have it registered.
 *
 * <ul>
 *   <li>The output of a task that did not succeed was never registered, and no reader knows it. It
 *       goes at once; what a process that died has left, when its stage ends.
 *   <li>Outputs that were lost for readers when a stage begins again. Stages that began before it
 *       may still read them. And until the stage that could not read them begins again as well, a
 *       failure of one of its old tasks would count; it waits for all that is computed again.
 *   <li>An output in whose place another one was registered. Readers were not told that, so they
 *       are, and it stays until each stage has ended that began before.
 * </ul>
 *
 * <p>What cannot be deleted goes with its shuffle. Used by one thread, except where said.
 */
public final class SupersededOutputs {
  /** What the driver knows of outputs. */
  public interface Tracker {
    /** {@return the outputs of a shuffle that readers are told of; empty without the shuffle} */
    Optional<Set<Long>> registered(int shuffle);

    /**
     * Lets tasks of stages that begin from now on ask anew where outputs are.
     *
     * @param shuffle the shuffle whose outputs they know from before
     * @param known is run, in the thread that tells what happens, when it has told of all stages
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

  /**
   * An attempt of a stage.
   *
   * @param stage its stage
   * @param attempt counted from 0
   */
  public record StageAttempt(int stage, int attempt) {}

  /** The tasks of a shuffle that have ended. */
  private record Ended(Set<Long> succeeded, Set<Long> failed) {}

  /** Outputs of a shuffle, and the stages for which they stay. */
  private record Old(int shuffle, List<Long> maps, Set<StageAttempt> stages) {}

  /**
   * How long nothing is deleted after an error. A delete takes seconds where nobody answers, and
   * the end of the application waits for all events.
   */
  private static final long REST_NANOS = 60_000_000_000L;

  private final OutputPlace place;
  private final Tracker tracker;
  private final Set<StageAttempt> running = new HashSet<>();

  /** The shuffles that stages write. */
  private final Map<Integer, Integer> shuffles = new ConcurrentHashMap<>();

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
   * A stage attempt begins.
   *
   * @param shuffle the shuffle that it writes
   */
  public void stageBegan(StageAttempt stage, OptionalInt shuffle) {
    running.add(stage);
    if (shuffle.isPresent()) {
      shuffles.put(stage.stage(), shuffle.getAsInt());
      List<Long> lost = takeUnregistered(shuffle.getAsInt());
      if (!lost.isEmpty()) {
        waiting.add(new Old(shuffle.getAsInt(), lost, new HashSet<>(running)));
      }
    }
  }

  /** The outputs of tasks that succeeded which readers are not told of; each is given out once. */
  private List<Long> takeUnregistered(int shuffle) {
    Ended tasks = ended.get(shuffle);
    Optional<Set<Long>> registered = tracker.registered(shuffle);
    if (tasks == null || registered.isEmpty()) {
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
    Integer shuffle = shuffles.get(stage.stage());
    if (shuffle == null) {
      return;
    }
    Ended tasks =
        ended.computeIfAbsent(shuffle, key -> new Ended(new HashSet<>(), new HashSet<>()));
    if (succeeded) {
      tasks.succeeded.add(task);
      if (!running.contains(stage)) {
        unclear.add(shuffle);
      }
      return;
    }
    if (processLost) {
      tasks.failed.add(task);
      orphaned.add(shuffle);
    }
    remove(place.path(new OutputId(shuffle, task)));
  }

  /** A stage attempt has ended, and the driver has registered what its tasks have written. */
  public void stageEnded(StageAttempt stage) throws IOException {
    running.remove(stage);
    Integer shuffle = shuffles.get(stage.stage());
    if (shuffle != null) {
      unclear.add(shuffle);
      waitForOthers(stage);
    }
    for (int each : unclear) {
      findReplaced(each);
    }
    unclear.clear();
    List<Integer> visited = List.copyOf(orphaned);
    orphaned.clear();
    List<Old> unread = takeUnread(stage);
    for (Old each : unread) {
      delete(each);
    }
    for (int each : visited) {
      deleteOrphans(each);
    }
  }

  /** What stays for this stage stays for other stages that write shuffles as well. */
  private void waitForOthers(StageAttempt stage) {
    List<StageAttempt> others =
        running.stream().filter(each -> shuffles.containsKey(each.stage())).toList();
    waiting.stream()
        .filter(old -> old.stages.contains(stage))
        .forEach(old -> old.stages.addAll(others));
  }

  private void findReplaced(int shuffle) {
    List<Long> maps = takeUnregistered(shuffle);
    if (!maps.isEmpty()) {
      tracker.tellReaders(
          shuffle,
          () -> {
            Old old = new Old(shuffle, maps, new HashSet<>(running));
            if (running.isEmpty()) {
              delete(old);
            } else {
              waiting.add(old);
            }
          });
    }
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

  private void delete(Old old) throws IOException {
    Optional<Set<Long>> registered = tracker.registered(old.shuffle);
    if (registered.isEmpty()) {
      return;
    }
    for (long map : old.maps) {
      if (!registered.get().contains(map)) {
        remove(place.path(new OutputId(old.shuffle, map)));
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
