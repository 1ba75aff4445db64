/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How the time of a run was used: how long each kind of program took, and how often it ran.
 * Thread-safe.
 */
public final class Account {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Map<String, Entry> entries = new HashMap<>();

  private record Entry(int times, long nanos) {
    Entry plus(Entry other) {
      return new Entry(times + other.times, nanos + other.nanos);
    }
  }

  /** Adds the time since {@code beginNanos} of {@link System#nanoTime} to a use. */
  synchronized void since(long beginNanos, String what) {
    add(what, System.nanoTime() - beginNanos);
  }

  /** Adds a time. */
  public synchronized void add(String what, long nanos) {
    entries.merge(what, new Entry(1, nanos), Entry::plus);
  }

  /**
   * Returns the uses of the time, the longest first, and resets them.
   *
   * @param allNanos all time; the part without a use gets its own line
   */
  public synchronized List<String> close(long allNanos) {
    List<String> lines = new ArrayList<>();
    long rest = allNanos;
    List<Map.Entry<String, Entry>> sorted = new ArrayList<>(entries.entrySet());
    sorted.sort(Comparator.comparingLong(each -> -each.getValue().nanos));
    for (Map.Entry<String, Entry> each : sorted) {
      Entry entry = each.getValue();
      lines.add(line(entry.nanos, entry.times + " x " + each.getKey()));
      rest -= entry.nanos;
    }
    lines.add(line(rest, "all else"));
    entries.clear();
    return lines;
  }

  private static String line(long nanos, String what) {
    return String.format(Locale.ROOT, "%7.1f s  %s", nanos / NANOS_PER_SECOND, what);
  }

  /** The kind of a program: its name, and the type that a benchmark measures. */
  public static String kind(List<String> command) {
    for (int i = 0; i < command.size(); i++) {
      String word = command.get(i);
      if (word.startsWith("io.crail.")) {
        return word.substring(word.lastIndexOf('.') + 1);
      }
      if (word.equals("iobench") || word.equals("hdfsbench")) {
        int type = command.indexOf("-t");
        return word + (type < 0 ? "" : " " + command.get(type + 1));
      }
    }
    String name = command.get(0);
    return name.substring(name.lastIndexOf('/') + 1);
  }
}
