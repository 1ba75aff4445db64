/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What may be found under a path. An atomic register: each operation that changes it takes place at
 * one moment between its begin and its end, or not at all when its outcome is not known. A change
 * may be found as long as no other that surely took place after it has ended before the look began.
 * Each look is evidence of its own.
 */
final class PathModel {
  /** What a change does to the path. */
  enum Kind {
    REMOVED,
    CREATED,
    PUT,
    MOVED,
    SEEN
  }

  /** What is known of a change. */
  enum Outcome {
    PENDING,
    DONE,
    UNKNOWN
  }

  /** Something that makes the path be what it is then. */
  static final class Change {
    private final Kind kind;
    private final Value value;
    private final long begin;
    private long end = Long.MAX_VALUE;
    private long node;
    private Outcome outcome = Outcome.PENDING;

    /** Whether it ended with success, or its bytes were seen: its node is not without a value. */
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
  private final List<Change> changes = new ArrayList<>();

  /**
   * Creates a path where nothing is.
   *
   * @param known the nodes of which is known what has created them
   */
  PathModel(String path, Set<Long> known) {
    this.path = path;
    this.known = known;
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

  /** Nobody knows whether a change has taken place, or will. */
  void unknown(Change change) {
    if (change.outcome == Outcome.PENDING) {
      change.outcome = Outcome.UNKNOWN;
    }
  }

  /** A change has not taken place, and will not. */
  void not(Change change) {
    changes.remove(change);
  }

  /** Nothing is under way any more: what is not known has happened by now, or never. */
  void settle(long now) {
    for (Change change : changes) {
      if (change.outcome == Outcome.UNKNOWN) {
        change.end = Math.min(change.end, now);
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

  /** Somebody found a node, or a value, or a node with a value. */
  void seen(long node, Value value, Change except, long begin, long end) {
    List<Change> candidates =
        possible(begin, end).filter(c -> c != except && matches(c, node, value)).toList();
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

  /** Notes whose node was found, where it can only be one change's. */
  private void bind(List<Change> candidates, long node) {
    Change first = candidates.get(0);
    if (first.node() == 0
        && candidates.stream().allMatch(c -> c == first || isSameValue(c, first))) {
      if (first.kind != Kind.MOVED) {
        // A look may tell what has been moved before the move itself does; what has created it, and
        // under which path, neither says. It may be a create that nobody had an answer to.
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

  /** Somebody found nothing. */
  void seenNothing(Change except, long begin, long end) {
    if (possible(begin, end).noneMatch(c -> c != except && c.kind == Kind.REMOVED)) {
      throw impossible("nothing", begin, end);
    }
    add(new Change(Kind.REMOVED, 0, null, begin), end);
  }

  /** Somebody found no value: nothing is there, or a put has left a node that never got one. */
  void seenNoValue(long begin, long end) {
    if (possible(begin, end).noneMatch(this::mayBeAbandoned)) {
      seenNothing(null, begin, end);
    }
  }

  private boolean mayBeAbandoned(Change change) {
    return switch (change.kind) {
      case REMOVED -> false;
      case PUT, CREATED -> !change.whole;
      // Whose node that is was seen under another path, or nowhere.
      case MOVED, SEEN -> change.value == null && !isKnownToBeWhole(change.node());
    };
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

  /** Somebody was told that there is something. */
  void seenSomething(Change except, long begin, long end) {
    if (possible(begin, end).noneMatch(c -> c != except && c.kind != Kind.REMOVED)) {
      throw impossible("something", begin, end);
    }
  }

  /** True when nothing may be there at some moment of a span. */
  boolean mayBeEmpty(long begin, long end) {
    return possible(begin, end).anyMatch(c -> c.kind == Kind.REMOVED);
  }

  /** True when nothing else may be there in a span but one node. */
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
            + possible(begin, end).map(Change::toString).collect(Collectors.joining("\n  "))
            + "\nof\n  "
            + changes.stream().map(Change::toString).collect(Collectors.joining("\n  ")));
  }

  private java.util.stream.Stream<Change> possible(long begin, long end) {
    return changes.stream().filter(c -> c.begin <= end && !isOver(c, begin));
  }

  /** True when another change has surely come after one, before a moment. */
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
      // Of a value whose put was never answered nobody knows which node it became.
      return true;
    }
    // A create or a put of which nobody knows the node.
    return (seen == 0 || !known.contains(seen)) && (value == null || change.value == null);
  }

  /** Forgets what nobody can find any more. */
  private void trim(long oldest) {
    if (changes.size() > MANY) {
      List<Change> over = changes.stream().filter(c -> isOver(c, oldest)).toList();
      changes.removeAll(over);
    }
  }
}
