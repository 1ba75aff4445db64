/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The counters of a store, by provider. Thread-safe.
 *
 * <ul>
 *   <li>{@code core/input}, {@code core/output}: the operations of direct streams and of what is
 *       below buffered ones, when the streams are closed. {@code totalOps} were issued, {@code
 *       nonBlockingOps} of them had ended when their issue returned, {@code blockingOps} had not;
 *       {@code bytes} were moved by {@code totalStreams}. The parts of operations that go to one
 *       extent: {@code localOps} were copies within this host, {@code remoteOps} went over the
 *       network, and {@code cached} of both did not wait for their location.
 *   <li>{@code core/streams}: how many were opened and closed, and {@code maxInput} and {@code
 *       maxOutput}, how many were open at the same time at most.
 *   <li>{@code buffered/in}, {@code buffered/out}: the slices of buffered streams.
 *   <li>{@code cache/buffer}, {@code cache/endpoint}: buffers lent, and datanodes in reach.
 * </ul>
 */
public class CrailStatistics {
  private static final Logger LOG = LoggerFactory.getLogger(CrailStatistics.class);

  private final Map<String, StatisticsProvider> providers = new ConcurrentSkipListMap<>();

  /** Creates statistics without a provider. */
  public CrailStatistics() {}

  /** A group of counters. */
  public interface StatisticsProvider {
    /** The name, for example {@code core/input}. */
    String providerName();

    /** The counters as {@code name value}, separated by commas. */
    String printStatistics();

    /** Adds the counters of another provider of the same name. */
    void mergeStatistics(StatisticsProvider other);

    /** Sets all counters to zero. */
    void resetStatistics();
  }

  /** Adds a provider; one of a name that is there already is merged into that. */
  public void addProvider(StatisticsProvider provider) {
    StatisticsProvider present = providers.putIfAbsent(provider.providerName(), provider);
    if (present != null && present != provider) {
      present.mergeStatistics(provider);
    }
  }

  /** Writes all counters to the log. */
  public void print(String tag) {
    StringBuilder text = new StringBuilder("CrailStatistics, tag=").append(tag);
    for (StatisticsProvider provider : providers.values()) {
      text.append(System.lineSeparator())
          .append("provider=")
          .append(provider.providerName())
          .append(" [")
          .append(provider.printStatistics())
          .append(']');
    }
    LOG.info("{}", text);
  }

  /** The counters of a provider as text, or null when there is none of that name. */
  public String describe(String providerName) {
    StatisticsProvider provider = providers.get(providerName);
    return provider == null ? null : provider.printStatistics();
  }

  /** Sets all counters to zero. */
  public void reset() {
    providers.values().forEach(StatisticsProvider::resetStatistics);
  }
}
