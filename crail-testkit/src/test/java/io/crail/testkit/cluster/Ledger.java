/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What lists of steps have done to the keys that only lists write to. Each list that changes such a
 * key appends its own number to the bytes, and adds 1 to an attribute. So the bytes are the history
 * of the node, and version, count and length say the same unless a list took place in part, twice,
 * or although it was refused.
 */
final class Ledger {
  /** A list that was begun. */
  static final class Entry {
    private final long number;
    private final long epoch;
    private final boolean seals;
    private final long begin;

    /** By now it has happened, or never will. */
    private long latest = Long.MAX_VALUE;

    private boolean unknown;
    private boolean refused;

    /** Where it took place, once that is known. */
    private long node;

    private long version;

    private Entry(long number, long epoch, boolean seals, long begin) {
      this.number = number;
      this.epoch = epoch;
      this.seals = seals;
      this.begin = begin;
    }

    long number() {
      return number;
    }

    @Override
    public String toString() {
      return String.format(
          "list %d %s %d%s, node %x version %d, begun at %d us",
          number,
          seals ? "that seals" : "of epoch",
          epoch,
          refused ? " that was refused" : "",
          node,
          version,
          begin / 1_000);
    }
  }

  /** A node as a list has found or left it. */
  record Found(long node, long version, long epoch, long count, byte[] bytes) {}

  /** What is known of a node. */
  private static final class History {
    private final Map<Long, Entry> byVersion = new HashMap<>();

    /** By time, the version that every later list finds at least. */
    private final TreeMap<Long, Long> least = new TreeMap<>(Map.of(Long.MIN_VALUE, 0L));

    /** By version, when the last list began that has found it. */
    private final TreeMap<Long, Long> found = new TreeMap<>();
  }

  private final boolean keepsBytes;
  private final List<Entry> entries = new ArrayList<>();
  private final Map<Long, History> histories = new HashMap<>();

  /**
   * Creates an empty ledger.
   *
   * @param keepsBytes whether namenodes keep bytes; otherwise lists cannot append
   */
  Ledger(boolean keepsBytes) {
    this.keepsBytes = keepsBytes;
  }

  boolean keepsBytes() {
    return keepsBytes;
  }

  /**
   * A client begins a list.
   *
   * @param epoch the epoch that it needs, or raises to
   */
  Entry begin(long epoch, boolean seals, long now) {
    Entry entry = new Entry(entries.size(), epoch, seals, now);
    entries.add(entry);
    return entry;
  }

  /** A list has changed nothing, and will not. */
  void refused(Entry entry) {
    entry.refused = true;
    require(entry.node == 0, entry, "was seen before");
  }

  /** It is unknown whether a list took place. */
  void unknown(Entry entry) {
    entry.unknown = true;
  }

  /** A list took place. */
  void done(Entry entry, Found left, long begin, long now) {
    entry.latest = now;
    require(left.epoch == entry.epoch || left.epoch < entry.epoch && !entry.seals, entry, left);
    require(left.version > history(left.node).least.lowerEntry(begin).getValue(), entry, left);
    placed(entry, left.node, left.version);
    found(left, begin, now);
  }

  /** What is unknown has happened by now, or never will. */
  void settle(long now) {
    for (Entry entry : entries) {
      entry.latest = entry.unknown ? Math.min(entry.latest, now) : entry.latest;
    }
  }

  private History history(long node) {
    return histories.computeIfAbsent(node, any -> new History());
  }

  /** A list found a node. */
  void found(Found found, long begin, long now) {
    History history = history(found.node);
    require(found.count == found.version, found, "was changed in part");
    require(found.version >= history.least.lowerEntry(begin).getValue(), found, "is too old");
    if (keepsBytes) {
      long epoch = check(found.node, ByteBuffer.wrap(found.bytes), found.bytes.length);
      require(found.bytes.length == found.version * Long.BYTES, found, "has other bytes");
      require(epoch == found.epoch, found, "has another epoch than " + epoch);
    }
    history.found.merge(found.version, begin, Math::max);
    history.least.merge(
        now, Math.max(found.version, history.least.lastEntry().getValue()), Math::max);
  }

  /** Checks the bytes of a node, and returns its epoch. */
  long check(long node, ByteBuffer bytes, int length) {
    require(length % Long.BYTES == 0, length, "bytes");
    long epoch = 0;
    for (int i = 0; i < length / Long.BYTES; i++) {
      long number = bytes.getLong(i * Long.BYTES);
      require(number >= 0 && number < entries.size(), number, "is no list");
      Entry entry = entries.get((int) number);
      require(!entry.refused, entry, "has changed something");
      require(
          entry.epoch > epoch || entry.epoch == epoch && !entry.seals,
          entry,
          "came after epoch " + epoch);
      epoch = entry.seals ? entry.epoch : epoch;
      placed(entry, node, i + 1);
    }
    return epoch;
  }

  /** A list has made a version of a node. */
  private void placed(Entry entry, long node, long version) {
    if (entry.node == node && entry.version == version) {
      return;
    }
    require(entry.node == 0, entry, String.format("is version %d of node %x too", version, node));
    History history = history(node);
    Entry other = history.byVersion.putIfAbsent(version, entry);
    require(other == null, entry, other);
    for (long begin : history.found.headMap(version).values()) {
      require(begin <= entry.latest, entry, "was not there later, at " + begin / 1_000 + " us");
    }
    entry.node = node;
    entry.version = version;
  }

  private static void require(boolean holds, Object what, Object why) {
    if (!holds) {
      throw new AssertionError(what + ": " + why);
    }
  }
}
