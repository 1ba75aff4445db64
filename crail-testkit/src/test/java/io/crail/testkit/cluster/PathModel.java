/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The nodes that may be found under a path. The path is an atomic register: each change takes place
 * at one moment between its begin and its end; a change with an unknown outcome may also not take
 * place at all. A change may be found unless another change surely took place after it and ended
 * before the lookup began. Each lookup adds evidence. Nodes also end by themselves, as {@link
 * Lifetimes} says.
 */
final class PathModel {
  /** The kinds of changes of a path. */
  enum Kind {
    REMOVED,
    CREATED,
    PUT,
    MOVED,
    SEEN
  }

  /** What is known about a change. */
  enum Outcome {
    PENDING,
    DONE,
    UNKNOWN
  }

  /** A change, and what the path is after it. */
  static final class Change {
    private final Kind kind;
    private final Value value;
    private final long begin;
    private long end = Long.MAX_VALUE;
    private long node;
    private Outcome outcome = Outcome.PENDING;

    /** How long its node lives if that is not known otherwise; 0 for no limit. */
    private long livesNanos;

    /** How long after its operation it takes place at the latest. */
    private long lateNanos;

    /** Whether it ended with success, or its bytes were seen. Then its node has a value. */
    private boolean whole;

    private Change(Kind kind, long node, Value value, long begin) {
      this.kind = kind;
      this.node = node;
      this.value = value;
      this.begin = begin;
    }

    long node() {
      return node != 0 || value == null ? node : value.node;
    }

    /** Sets how long its node lives from then on. */
    void lives(long nanos) {
      livesNanos = nanos;
    }

    @Override
    public String toString() {
      return kind
          + (value == null ? "" : " " + value)
          + (node() == 0 ? "" : " node " + Long.toHexString(node()))
          + " "
          + outcome
          + " ["
          + begin / 1_000
          + ", "
          + (end == Long.MAX_VALUE ? "" : end / 1_000)
          + "]";
    }
  }

  private static final int MANY = 12;

  private final String path;
  private final Set<Long> known;
  private final Lifetimes lifetimes;
  private final int namenode;
  private final List<Change> changes = new ArrayList<>();

  /** Whether one that was dropped may have made a node with a lifetime. */
  private boolean hasLimited;

  /** How long a node lives whose table gives it a lifetime; 0 if no table does. */
  private long childNanos;

  /**
   * Creates an empty path.
   *
   * @param known the nodes whose create is known
   * @param namenode the namenode of the path
   */
  PathModel(String path, Set<Long> known, Lifetimes lifetimes, int namenode) {
    this.path = path;
    this.known = known;
    this.lifetimes = lifetimes;
    this.namenode = namenode;
    Change first = new Change(Kind.REMOVED, 0, null, 0);
    first.end = 0;
    first.outcome = Outcome.DONE;
    changes.add(first);
  }

  String path() {
    return path;
  }

  Change begin(Kind kind, Value value, long now) {
    Change change = new Change(kind, 0, value, now);
    changes.add(change);
    return change;
  }

  /** From now on, a table may give its nodes a lifetime. */
  void limitChildren(long nanos) {
    childNanos = nanos;
  }

  /** What is here may be removed when the lifetime of its container is over. */
  Change beginEnd(long nanos, long now) {
    Change change = begin(Kind.REMOVED, null, now + nanos - Lifetimes.CLOCK);
    change.lateNanos = nanos + Lifetimes.LATE;
    return change;
  }

  /** The container has got its lifetime. It may get another one. */
  void mayEnd(Change change, long now) {
    change.outcome = Outcome.UNKNOWN;
    change.end = now + change.lateNanos + Nemesis.LONGEST.toNanos();
  }

  /** A change has taken place. */
  void done(Change change, long node, long now, long oldest) {
    if (change.node != 0 && node != 0 && change.node != node) {
      throw new AssertionError(path + ": " + change + " is node " + Long.toHexString(node));
    }
    change.node = node;
    change.end = Math.min(change.end, now);
    change.outcome = Outcome.DONE;
    change.whole = true;
    trim(oldest);
  }

  /** It is unknown whether a change has taken place or still will. */
  void unknown(Change change) {
    if (change.outcome == Outcome.PENDING) {
      change.outcome = Outcome.UNKNOWN;
    }
  }

  /** A change has not taken place, and will not. */
  void not(Change change) {
    changes.remove(change);
  }

  /**
   * No operation is in progress any more. A change with an unknown outcome has happened by now, or
   * never will.
   */
  void settle(long now) {
    for (Change change : changes) {
      if (change.outcome == Outcome.UNKNOWN) {
        change.end = Math.min(change.end, now + change.lateNanos);
      }
    }
  }

  /** The path is surely empty at a moment. */
  void lost(long now) {
    Change lost = new Change(Kind.REMOVED, 0, null, now);
    lost.end = now;
    lost.outcome = Outcome.DONE;
    changes.add(lost);
  }

  /** A client found a node, or a value, or a node with a value. */
  void seen(long node, Value value, Change except, long begin, long end) {
    List<Change> candidates =
        found(begin, end).filter(c -> c != except && matches(c, node, value)).toList();
    if (candidates.isEmpty()) {
      String what = value == null ? "node " + Long.toHexString(node) : value.toString();
      throw impossible(what, begin, end);
    }
    if (value != null) {
      candidates.stream().filter(c -> c.value == value).forEach(c -> c.whole = true);
    }
    Change only = candidates.get(0);
    if (candidates.size() == 1 && only.outcome == Outcome.UNKNOWN) {
      only.outcome = Outcome.DONE;
      only.end = Math.min(only.end, end);
    }
    if (value != null && node != 0) {
      value.node = node;
      known.add(node);
    } else if (node != 0) {
      bind(candidates, node);
    }
    add(new Change(Kind.SEEN, node, value, begin), end);
  }

  /** Assigns a found node to a change, if only one change can have made it. */
  private void bind(List<Change> candidates, long node) {
    Change first = candidates.get(0);
    if (first.node() == 0
        && candidates.stream().allMatch(c -> c == first || isSameValue(c, first))) {
      if (first.kind != Kind.MOVED) {
        // A lookup may find a moved node before the move has its answer. Neither tells which change
        // created the node. It may be a create whose answer was lost.
        known.add(node);
      }
      first.node = node;
      if (first.value != null) {
        first.value.node = node;
      }
    }
  }

  private static boolean isSameValue(Change a, Change b) {
    return a.value != null && a.value == b.value;
  }

  /** A client found nothing. */
  void seenNothing(Change except, long begin, long end) {
    if (possible(begin, end).noneMatch(c -> c != except && mayBeGone(c, begin, end))) {
      throw impossible("nothing", begin, end);
    }
    add(new Change(Kind.REMOVED, 0, null, begin), end);
  }

  private boolean mayBeGone(Change change, long begin, long end) {
    if (change.kind == Kind.REMOVED
        || lifetimes.mayHaveEnded(change.node(), namenode, begin, end)) {
      return true;
    }
    if (change.node() != 0 && lifetimes.isBorn(change.node())) {
      return false;
    }
    // It is not known what lifetime the node got when it was made.
    boolean mayBeLimited = childNanos > 0 || change.livesNanos > 0;
    return switch (change.kind) {
      case CREATED, PUT ->
          mayBeLimited && change.begin + least(change.livesNanos, childNanos) <= end;
      case MOVED -> mayBeLimited || change.node() == 0;
      // Whoever made it, and perhaps gave it a lifetime, may have no answer.
      case SEEN, REMOVED -> mayBeLimited || hasLimited();
    };
  }

  private boolean hasLimited() {
    hasLimited = hasLimited || changes.stream().anyMatch(each -> each.livesNanos > 0);
    return hasLimited;
  }

  private static long least(long a, long b) {
    return (a == 0 ? b : b == 0 ? a : Math.min(a, b)) - Lifetimes.CLOCK;
  }

  /** A client found no value: there is no node, or a put has left a node that never got a value. */
  void seenNoValue(long begin, long end) {
    if (possible(begin, end).noneMatch(c -> mayBeAbandoned(c, begin, end, new HashSet<>()))) {
      seenNothing(null, begin, end);
    }
  }

  /** Whether a change may be why a lookup in a span finds a node without a value. */
  private boolean mayBeAbandoned(Change change, long begin, long end, Set<Change> asked) {
    return switch (change.kind) {
      case REMOVED -> false;
      case CREATED -> !change.whole;
      // A value stays until the one that replaces it is whole.
      case PUT ->
          !change.whole
              && asked.add(change)
              && possible(Math.max(change.begin, doneBefore(change, begin) + 1), end)
                  .anyMatch(c -> c.kind == Kind.REMOVED || mayBeAbandoned(c, begin, end, asked));
      // The node of this change was seen under another path, or never.
      case MOVED, SEEN -> change.value == null && !isKnownToBeWhole(change.node());
    };
  }

  /** The end of the last other change that surely took place before a moment. */
  private long doneBefore(Change change, long moment) {
    return changes.stream()
        .filter(c -> c != change && c.outcome == Outcome.DONE && c.end < moment)
        .mapToLong(c -> c.end)
        .max()
        .orElse(-1);
  }

  private boolean isKnownToBeWhole(long node) {
    return changes.stream()
        .filter(change -> change.node() == node)
        .anyMatch(
            change ->
                switch (change.kind) {
                  case PUT, CREATED -> change.whole;
                  case SEEN -> change.value != null;
                  case MOVED, REMOVED -> false;
                });
  }

  /** A client has learned that the path exists. */
  void seenSomething(Change except, long begin, long end) {
    if (found(begin, end).noneMatch(c -> c != except && c.kind != Kind.REMOVED)) {
      throw impossible("something", begin, end);
    }
  }

  /** True when only one node can be there during a span. */
  boolean surelyHas(long node, long begin, long end) {
    return possible(begin, end).allMatch(c -> c.kind != Kind.REMOVED && c.node() == node);
  }

  private void add(Change seen, long end) {
    seen.end = end;
    seen.outcome = Outcome.DONE;
    changes.add(seen);
  }

  private AssertionError impossible(String what, long begin, long end) {
    return new AssertionError(
        path
            + ": found "
            + what
            + " in ["
            + begin / 1_000
            + ", "
            + end / 1_000
            + "] us, but there can only be\n  "
            + possible(begin, end).map(this::describe).collect(Collectors.joining("\n  "))
            + "\nof\n  "
            + changes.stream().map(Change::toString).collect(Collectors.joining("\n  ")));
  }

  private String describe(Change change) {
    return change + (change.node() == 0 ? "" : " " + lifetimes.describe(change.node()));
  }

  /** The changes whose node a client may find. */
  private Stream<Change> found(long begin, long end) {
    return possible(begin, end).filter(c -> !lifetimes.hasEnded(c.node(), namenode, begin));
  }

  private Stream<Change> possible(long begin, long end) {
    return changes.stream().filter(c -> c.begin <= end && !isOver(c, begin));
  }

  /** True when another change surely came after this one, before a moment. */
  private boolean isOver(Change change, long moment) {
    for (Change other : changes) {
      if (other.outcome == Outcome.DONE && change.end < other.begin && other.end < moment) {
        return true;
      }
    }
    return false;
  }

  private boolean matches(Change change, long node, Value value) {
    if (change.kind == Kind.REMOVED) {
      return false;
    }
    if (change.value != null && value != null) {
      return change.value == value;
    }
    long seen = node != 0 ? node : value.node;
    if (change.node() != 0 && seen != 0) {
      return change.node() == seen;
    }
    if (change.node() != 0
        || change.kind == Kind.MOVED
        || (change.value != null && value == null)) {
      // The node of a value is unknown when its put was never answered.
      return true;
    }
    // A create or a put whose node is unknown.
    return (seen == 0 || !known.contains(seen)) && (value == null || change.value == null);
  }

  /** Drops changes that no client can find any more. */
  private void trim(long oldest) {
    if (changes.size() > MANY) {
      hasLimited();
      List<Change> over = changes.stream().filter(c -> isOver(c, oldest)).toList();
      changes.removeAll(over);
    }
  }
}
