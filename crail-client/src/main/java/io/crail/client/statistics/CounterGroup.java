/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import io.crail.CrailStatistics.StatisticsProvider;
import java.util.concurrent.atomic.LongAdder;

/** Counters with names. Thread-safe. */
final class CounterGroup implements StatisticsProvider {
  private final String provider;
  private final String[] names;
  private final LongAdder[] values;

  CounterGroup(String provider, String... names) {
    this.provider = provider;
    this.names = names;
    this.values = new LongAdder[names.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = new LongAdder();
    }
  }

  /** Adds to the counter of an index; indexes follow the order of the names. */
  void add(int index, long count) {
    values[index].add(count);
  }

  /** The counter of an index. */
  long value(int index) {
    return values[index].sum();
  }

  @Override
  public String providerName() {
    return provider;
  }

  @Override
  public String printStatistics() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < names.length; i++) {
      text.append(i == 0 ? "" : ", ").append(names[i]).append(' ').append(values[i].sum());
    }
    return text.toString();
  }

  @Override
  public void mergeStatistics(StatisticsProvider other) {
    if (other instanceof CounterGroup group && group.values.length == values.length) {
      for (int i = 0; i < values.length; i++) {
        values[i].add(group.values[i].sum());
      }
    }
  }

  @Override
  public void resetStatistics() {
    for (LongAdder value : values) {
      value.reset();
    }
  }
}
