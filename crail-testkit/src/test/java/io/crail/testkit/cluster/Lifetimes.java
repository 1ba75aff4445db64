/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.compound.Lifetime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * When nodes may end by themselves, and when they must have. The lifetime of a node is a register,
 * as a path is in {@link PathModel}: what was set counts until something else was surely set after
 * it.
 */
final class Lifetimes {
  /** How late a node may end, at a namenode that does not stand still. */
  static final long LATE = Duration.ofMillis(300).toNanos();

  /** So long a namenode stands still at least before lifetimes since an access begin again. */
  private static final long STANDSTILL = Duration.ofSeconds(1).toNanos();

  /** The clock of a namenode has whole milliseconds. */
  static final long CLOCK = Duration.ofMillis(1).toNanos();

  /** Something that sets the lifetime of a node. */
  static final class Setting {
    private final Lifetime lifetime;
    private final long begin;
    private long end = Long.MAX_VALUE;
    private boolean sure;
    private boolean unknown;

    private Setting(Lifetime lifetime, long begin) {
      this.lifetime = lifetime;
      this.begin = begin;
    }

    private Setting ended(boolean isSure, long now) {
      sure = isSure;
      end = now;
      return this;
    }

    @Override
    public String toString() {
      return String.format(
          "%s%s [%d, %d]", lifetime, sure ? "" : " perhaps", begin / 1_000, end / 1_000);
    }
  }

  /** A time in which a namenode stood still. */
  private static final class Pause {
    private final long begin;
    private long end = Long.MAX_VALUE;

    private Pause(long begin) {
      this.begin = begin;
    }
  }

  private static final class Known {
    private final List<Setting> settings = new ArrayList<>();
    private long accessed = Long.MIN_VALUE;
    private boolean born;
  }

  private final Map<Long, Known> nodes = new HashMap<>();
  private final Map<Integer, List<Pause>> pauses = new HashMap<>();
  private long quietSince = Long.MAX_VALUE;

  private Known known(long node) {
    Known known = nodes.computeIfAbsent(node, any -> new Known());
    if (known.settings.isEmpty()) {
      known.settings.add(new Setting(Lifetime.UNLIMITED, 0).ended(true, 0));
    }
    return known;
  }

  /**
   * A node was made, and its maker has learned it.
   *
   * @param lifetime what it has from then on
   * @param isSure whether it surely has it; otherwise there may be no limit
   */
  void born(long node, Lifetime lifetime, boolean isSure, long begin, long now) {
    Known known = known(node);
    known.born = true;
    known.settings.add(new Setting(lifetime, begin).ended(isSure, now));
    if (isSure) {
      known.settings.remove(0);
    }
  }

  /** True when it is known what lifetime a node may have got when it was made. */
  boolean isBorn(long node) {
    return nodes.containsKey(node) && nodes.get(node).born;
  }

  /** A client begins to set the lifetime of a node. */
  Setting begin(long node, Lifetime lifetime, long now) {
    Setting setting = new Setting(lifetime, now);
    known(node).settings.add(setting);
    return setting;
  }

  /** The lifetime was set. */
  void done(Setting setting, long now) {
    setting.ended(true, now);
  }

  /** It was not set, and will not be. */
  void not(long node, Setting setting) {
    known(node).settings.remove(setting);
  }

  /** It is unknown whether it was set. */
  void unknown(Setting setting) {
    setting.unknown = true;
  }

  /** A client has found a node in a way that puts its end off. */
  void accessed(long node, long begin) {
    known(node).accessed = Math.max(known(node).accessed, begin);
  }

  /** What is unknown has happened by now, or never will. */
  void settle(long now) {
    for (Known known : nodes.values()) {
      for (Setting setting : known.settings) {
        setting.end = setting.unknown ? Math.min(setting.end, now) : setting.end;
      }
    }
  }

  /** No client does anything from now on. */
  void quiet(long now) {
    quietSince = now;
  }

  void paused(int namenode, long now) {
    pauses.computeIfAbsent(namenode, any -> new ArrayList<>()).add(new Pause(now));
  }

  /** A namenode goes on, or has died. */
  void resumed(int namenode, long now) {
    for (Pause pause : pauses.getOrDefault(namenode, List.of())) {
      pause.end = Math.min(pause.end, now);
    }
  }

  /** The settings that may count at a moment. */
  private Stream<Setting> possible(long node, long moment) {
    List<Setting> all = known(node).settings;
    return all.stream()
        .filter(
            each ->
                all.stream()
                    .noneMatch(
                        other -> other.sure && each.end < other.begin && other.end < moment));
  }

  /** True when a node may have ended before the end of a span. */
  boolean mayHaveEnded(long node, int namenode, long begin, long end) {
    return nodes.containsKey(node)
        && possible(node, begin)
            .anyMatch(each -> each.lifetime.isLimited() && earliest(node, namenode, each) <= end);
  }

  private long earliest(long node, int namenode, Setting setting) {
    long span = nanos(setting.lifetime) - CLOCK;
    if (!setting.lifetime.sinceAccess()) {
      return setting.begin + span;
    }
    long earliest = Math.max(setting.begin, known(node).accessed) + span;
    for (Pause pause : pauses.getOrDefault(namenode, List.of())) {
      // Then it may have missed an access.
      boolean isLong = pause.end - pause.begin > STANDSTILL;
      earliest = isLong && pause.begin < earliest ? plus(pause.end, span) : earliest;
    }
    return earliest;
  }

  /** True when a node must have ended before a moment. */
  boolean hasEnded(long node, int namenode, long moment) {
    if (!nodes.containsKey(node)) {
      return false;
    }
    long latest = possible(node, moment).mapToLong(this::latest).max().orElseThrow();
    for (Pause pause : pauses.getOrDefault(namenode, List.of())) {
      latest = pause.begin <= latest ? Math.max(latest, plus(pause.end, LATE)) : latest;
    }
    return latest < moment;
  }

  private long latest(Setting setting) {
    if (!setting.lifetime.isLimited()) {
      return Long.MAX_VALUE;
    }
    // It is unknown when it was accessed last, or written.
    long from =
        setting.lifetime.sinceAccess()
            ? plus(quietSince, ClusterSimulation.LEASE.toNanos())
            : setting.end;
    return plus(from, nanos(setting.lifetime) + LATE);
  }

  static long nanos(Lifetime lifetime) {
    return Duration.ofMillis(lifetime.millis()).toNanos();
  }

  private static long plus(long moment, long span) {
    return moment == Long.MAX_VALUE ? moment : moment + span;
  }

  /**
   * Fails when a client cannot have read how long a node will live.
   *
   * @param millis what it has read; -1 for no limit
   */
  void check(long node, long millis, long begin, long end) {
    // It is not known what lifetime a node got whose maker has no answer.
    boolean isBorn = known(node).born;
    if (possible(node, begin)
        .noneMatch(each -> mayRemain(each, millis, begin, end) || !isBorn && each.end == 0)) {
      throw new AssertionError(
          String.format(
              "node %x will live for %d ms, read in [%d, %d] us, but has%n  %s",
              node, millis, begin / 1_000, end / 1_000, describe(node)));
    }
  }

  private static boolean mayRemain(Setting setting, long millis, long begin, long end) {
    Lifetime lifetime = setting.lifetime;
    if (setting.begin > end || !lifetime.isLimited() || lifetime.sinceAccess()) {
      return setting.begin <= end && millis == (lifetime.isLimited() ? lifetime.millis() : -1);
    }
    long remaining = Duration.ofMillis(millis).toNanos();
    long most = setting.end == Long.MAX_VALUE ? end : Math.min(setting.end, end);
    return millis >= 0
        && remaining >= Math.max(0, setting.begin + nanos(lifetime) - end - CLOCK)
        && remaining <= Math.max(0, most + nanos(lifetime) - begin + CLOCK);
  }

  /** All that is known of a node, for a message. */
  String describe(long node) {
    return known(node).settings + ", accessed at " + known(node).accessed / 1_000;
  }
}
