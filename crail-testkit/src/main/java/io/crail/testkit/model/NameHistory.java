/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What clients asked of some names, and were answered. Judges whether the answers are
 * <i>linearizable</i> (Herlihy and Wing, 1990): whether each operation can have been done at one
 * moment between its begin and its end. A name is judged by all states in which it may be, as
 * answers come in (Lowe, 2017). The steps may be made by any threads; to judge is for one.
 */
public final class NameHistory {
  private static final long UNKNOWN = -1;
  private static final long ABSENT = 0;
  private static final long IMPOSSIBLE = Long.MIN_VALUE;

  private final List<Step> steps = new ArrayList<>();

  /** What is asked. */
  public enum Kind {
    /** Makes a node, unless there is one. */
    CREATE,
    /** Removes the node. */
    REMOVE,
    /** Looks for the node. */
    LOOKUP
  }

  /** One request. */
  public static final class Step {
    private final Kind kind;
    private final String name;
    private final long begun;
    private long ended = Long.MAX_VALUE;
    private long node = UNKNOWN;

    private Step(Kind kind, String name, long begun) {
      this.kind = kind;
      this.name = name;
      this.begun = begun;
    }

    @Override
    public String toString() {
      String answer = node == UNKNOWN ? "not known" : node == ABSENT ? "refused" : "node " + node;
      return String.format(Locale.ROOT, "[%d, %d] %s %s: %s", begun, ended, kind, name, answer);
    }
  }

  /**
   * What a name may be.
   *
   * @param node the node that is there
   * @param done steps without an answer so far that were done
   */
  private record Possible(long node, Set<Step> done) {}

  /** A request is about to be sent. Time is of any clock that all callers share. */
  public Step begin(Kind kind, String name, long now) {
    return new Step(kind, name, now);
  }

  /**
   * It was done.
   *
   * @param node the node that was made, removed or found
   */
  public void done(Step step, long node, long now) {
    add(step, node, now);
  }

  /** There was a node already, or there was none. */
  public void refused(Step step, long now) {
    add(step, ABSENT, now);
  }

  /** It is not known whether it was done. */
  public void lost(Step step) {
    if (step.kind != Kind.LOOKUP) {
      add(step, UNKNOWN, Long.MAX_VALUE);
    }
  }

  private synchronized void add(Step step, long node, long now) {
    step.node = node;
    step.ended = now;
    steps.add(step);
  }

  /** How many steps there are. */
  public synchronized int size() {
    return steps.size();
  }

  /** What cannot have been, for each name where something cannot. */
  public synchronized List<String> violations() {
    Map<String, List<Step>> names = new LinkedHashMap<>();
    steps.forEach(step -> names.computeIfAbsent(step.name, name -> new ArrayList<>()).add(step));
    List<String> violations = new ArrayList<>();
    names.values().forEach(each -> judge(each, violations));
    return violations;
  }

  private record Event(long time, boolean isEnd, Step step) {}

  private static void judge(List<Step> ofName, List<String> violations) {
    List<Event> events = new ArrayList<>();
    for (Step step : ofName) {
      events.add(new Event(step.begun, false, step));
      if (step.ended != Long.MAX_VALUE) {
        events.add(new Event(step.ended, true, step));
      }
    }
    // What begins at the moment at which something ends may have been before it.
    events.sort(Comparator.comparingLong(Event::time).thenComparing(Event::isEnd));
    Set<Long> made = new HashSet<>();
    ofName.stream().filter(step -> step.kind == Kind.CREATE).forEach(step -> made.add(step.node));
    Set<Step> open = new LinkedHashSet<>();
    Set<Possible> possible = new HashSet<>(Set.of(new Possible(ABSENT, Set.of())));
    List<Step> ended = new ArrayList<>();
    for (Event event : events) {
      if (!event.isEnd) {
        open.add(event.step);
        continue;
      }
      Set<Possible> next = afterwards(possible, open, event.step, made);
      open.remove(event.step);
      ended.add(event.step);
      if (next.isEmpty()) {
        List<Step> last = ended.subList(Math.max(0, ended.size() - 8), ended.size());
        violations.add(
            "no order explains the last of "
                + last
                + ", under way "
                + open
                + "; it was "
                + possible.stream().map(Possible::node).distinct().toList());
        return;
      }
      possible = next;
    }
  }

  /** What may be when a step has ended, so that it was done before. */
  private static Set<Possible> afterwards(
      Collection<Possible> before, Set<Step> open, Step ended, Set<Long> made) {
    Set<Possible> found = new HashSet<>();
    Set<Possible> seen = new HashSet<>();
    ArrayDeque<Possible> left = new ArrayDeque<>();
    for (Possible each : before) {
      Possible first = withoutEffect(each.node, new HashSet<>(each.done), open, made);
      if (seen.add(first)) {
        left.add(first);
      }
    }
    while (!left.isEmpty()) {
      Possible each = left.poll();
      if (each.done.contains(ended)) {
        Set<Step> done = new HashSet<>(each.done);
        done.remove(ended);
        found.add(new Possible(each.node, done));
        continue;
      }
      Set<Kind> lost = EnumSet.noneOf(Kind.class);
      for (Step step : open) {
        long node = each.done.contains(step) ? IMPOSSIBLE : after(each.node, step, made);
        // Of those that never end, one does as well as another one of its kind.
        if (node != IMPOSSIBLE && (step.node != UNKNOWN || lost.add(step.kind))) {
          Set<Step> done = new HashSet<>(each.done);
          done.add(step);
          Possible next = withoutEffect(node, done, open, made);
          if (seen.add(next)) {
            left.add(next);
          }
        }
      }
    }
    return found;
  }

  /**
   * Does at once what changes nothing here. Later it can only become impossible, so to try both
   * would find no other order, in a time that doubles with each lookup under way.
   */
  private static Possible withoutEffect(long node, Set<Step> done, Set<Step> open, Set<Long> made) {
    for (Step step : open) {
      if (step.node != UNKNOWN && after(node, step, made) == node) {
        done.add(step);
      }
    }
    return new Possible(node, done);
  }

  /** The node of a name after a step; {@link #UNKNOWN} if it is there and has no known number. */
  private static long after(long node, Step step, Set<Long> made) {
    // The number of a node that was made by a step which was answered is not that of another one.
    boolean isOther = step.node > ABSENT && !made.contains(step.node);
    boolean fits = node == step.node || node == UNKNOWN && isOther;
    return switch (step.kind) {
      case CREATE ->
          step.node == ABSENT
              ? (node == ABSENT ? IMPOSSIBLE : node)
              : (node == ABSENT ? step.node : IMPOSSIBLE);
      case REMOVE ->
          step.node == UNKNOWN
              ? (node == ABSENT ? IMPOSSIBLE : ABSENT)
              : (fits ? ABSENT : IMPOSSIBLE);
      case LOOKUP -> fits ? step.node : IMPOSSIBLE;
    };
  }
}
