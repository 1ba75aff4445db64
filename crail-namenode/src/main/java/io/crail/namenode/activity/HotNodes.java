/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.activity;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * The nodes that are looked up most, in a bounded memory: the space-saving algorithm over a sample
 * of all lookups, with weights that fade. A thread that offers a node never waits: a sample that
 * meets another one is dropped. The share that is sampled follows the load, so that few lookups are
 * all counted, and many cost next to nothing. Thread-safe.
 */
public final class HotNodes {
  /** The number of nodes that are watched at a time. */
  static final int CAPACITY = 128;

  /**
   * At least one of so many lookups is a sample. It is enough for 80 million of them in a second;
   * what is offered beyond the most in a tick is not counted.
   */
  static final int LONGEST_DISTANCE = 4096;

  private static final int FIRST_DISTANCE = 64;

  /** What weighs less is forgotten. */
  private static final double LEAST_WEIGHT = 1.0 / 256;

  /** After this time, a lookup weighs 1/e of what it did. */
  static final double SPAN_SECONDS = 4;

  /** Samples that are wanted in a second, and that are taken between two ticks at most. */
  private static final double WANTED_IN_A_SECOND = 5_000;

  private static final int MOST_IN_A_TICK = 1_000;

  /** Less than so many samples that are surely of one node say nothing. */
  private static final double LEAST_SAMPLES = 2;

  private static final int MOST_YIELDS = 1_000;

  private final AtomicBoolean busy = new AtomicBoolean();
  private final LongAdder offered = new LongAdder();

  // These are used only by who has set busy.
  private final long[] ids = new long[CAPACITY];
  private final double[] weights = new double[CAPACITY];
  // The part of the weight that may be of nodes that had the place before.
  private final double[] doubtful = new double[CAPACITY];
  private int count;
  private int taken;
  private long tickNanos;

  private volatile int distance = FIRST_DISTANCE;

  /**
   * A node that is looked up often.
   *
   * @param id the node
   * @param perSecond how many lookups of it there are in a second, at least
   */
  public record Hot(long id, double perSecond) {}

  HotNodes(long nowNanos) {
    tickNanos = nowNanos;
  }

  /** One lookup of so many is to be offered now, on average. */
  int distance() {
    return distance;
  }

  /** Takes a sample that stands for {@code weight} lookups; or drops it, when others are busy. */
  void offer(long id, int weight) {
    offered.increment();
    if (!busy.compareAndSet(false, true)) {
      return;
    }
    try {
      if (taken < MOST_IN_A_TICK) {
        taken++;
        count(id, weight);
      }
    } finally {
      busy.set(false);
    }
  }

  private void count(long id, int weight) {
    int lightest = 0;
    for (int i = 0; i < count; i++) {
      if (ids[i] == id) {
        weights[i] += weight;
        return;
      }
      if (weights[i] < weights[lightest]) {
        lightest = i;
      }
    }
    if (count < CAPACITY) {
      lightest = count++;
      weights[lightest] = 0;
    }
    ids[lightest] = id;
    doubtful[lightest] = weights[lightest];
    weights[lightest] += weight;
  }

  /** Lets weights fade, and chooses the share that is sampled next. Called by one thread. */
  void tick(long nowNanos) {
    if (!busy.compareAndSet(false, true)) {
      // The next tick does it all.
      return;
    }
    double seconds = Math.max(1, nowNanos - tickNanos) / 1e9;
    tickNanos = nowNanos;
    taken = 0;
    fade(Math.exp(-seconds / SPAN_SECONDS));
    busy.set(false);
    double perSecond = offered.sumThenReset() * distance / seconds;
    distance = (int) Math.max(1, Math.min(LONGEST_DISTANCE, perSecond / WANTED_IN_A_SECOND));
  }

  private void fade(double factor) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      double weight = weights[i] * factor;
      if (weight > LEAST_WEIGHT) {
        ids[kept] = ids[i];
        weights[kept] = weight;
        doubtful[kept] = doubtful[i] * factor;
        kept++;
      }
    }
    count = kept;
  }

  /** The nodes that are looked up most, the first one most; in no order of those that are equal. */
  public List<Hot> hottest() {
    for (int i = 0; !busy.compareAndSet(false, true); i++) {
      // Others are busy for less than a microsecond, if they have a processor.
      if (i == MOST_YIELDS) {
        return List.of();
      }
      Thread.yield();
    }
    List<Hot> hottest;
    try {
      hottest = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        double sure = weights[i] - doubtful[i];
        if (sure >= LEAST_SAMPLES * distance) {
          hottest.add(new Hot(ids[i], sure / SPAN_SECONDS));
        }
      }
    } finally {
      busy.set(false);
    }
    hottest.sort(Comparator.comparingDouble(Hot::perSecond).reversed());
    return hottest;
  }
}
