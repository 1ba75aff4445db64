/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The stage attempts that may still read what was known when they began. An attempt that has failed
 * is one of them until the last of its tasks has ended: Spark lets those go on. Used by one thread.
 */
final class LiveStages {
  private static final class Attempt {
    private boolean ended;
    private final Set<Long> tasks = new HashSet<>();
  }

  private final Map<StageAttempt, Attempt> attempts = new HashMap<>();

  void began(StageAttempt stage) {
    attempts.put(stage, new Attempt());
  }

  void taskBegan(StageAttempt stage, long task) {
    Attempt attempt = attempts.get(stage);
    if (attempt == null) {
      // It began before its events were heard, or its stage has ended just now.
      attempt = new Attempt();
      attempt.ended = true;
      attempts.put(stage, attempt);
    }
    attempt.tasks.add(task);
  }

  /** Returns whether that was the end of the attempt. */
  boolean taskEnded(StageAttempt stage, long task) {
    Attempt attempt = attempts.get(stage);
    return attempt != null && attempt.tasks.remove(task) && removeIfOver(stage, attempt);
  }

  /** Returns whether that was the end of the attempt. */
  boolean ended(StageAttempt stage) {
    Attempt attempt = attempts.get(stage);
    if (attempt == null) {
      return false;
    }
    attempt.ended = true;
    return removeIfOver(stage, attempt);
  }

  private boolean removeIfOver(StageAttempt stage, Attempt attempt) {
    return attempt.ended && attempt.tasks.isEmpty() && attempts.remove(stage) != null;
  }

  /** Whether the scheduler still starts tasks of it. */
  boolean isRunning(StageAttempt stage) {
    Attempt attempt = attempts.get(stage);
    return attempt != null && !attempt.ended;
  }

  /** Returns a copy. */
  Set<StageAttempt> all() {
    return new HashSet<>(attempts.keySet());
  }

  void clear() {
    attempts.clear();
  }
}
