/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The counters of a store, grouped by provider. Thread-safe.
 *
 * <ul>
 *   <li>{@code core/input}, {@code core/output}: the operations of direct streams, including those
 *       below buffered streams. A stream adds its counts when it is closed. {@code totalOps}
 *       operations were issued by {@code totalStreams} streams and moved {@code bytes}. {@code
 *       nonBlockingOps} of them had ended when the issuing call returned; {@code blockingOps} had
 *       not. An operation has a part for each extent: {@code localOps} parts were copies within
 *       this host, {@code remoteOps} went over the network, and {@code cached} counts the parts of
 *       both that did not wait for their location.
 *   <li>{@code core/streams}: how many streams were opened and closed. {@code maxInput} and {@code
 *       maxOutput} are the highest numbers that were open at the same time.
 *   <li>{@code buffered/in}, {@code buffered/out}: the slices of buffered streams.
 *   <li>{@code cache/buffer}, {@code cache/endpoint}: lent buffers, and connected datanodes.
 * </ul>
 */
public class CrailStatistics {
  private static final Logger LOG = LoggerFactory.getLogger(CrailStatistics.class);

  private final Map<String, StatisticsProvider> providers = new ConcurrentSkipListMap<>();

  /** Creates statistics without a provider. */
  public CrailStatistics() {}

  /** A group of counters. */
  public interface StatisticsProvider {
    /** {@return the name, for example {@code core/input}} */
    String providerName();

    /** {@return the counters as {@code name value}, separated by commas} */
    String printStatistics();

    /**
     * Adds the counters of another provider of the same name.
     *
     * @param other the other provider
     */
    void mergeStatistics(StatisticsProvider other);

    /** Sets all counters to zero. */
    void resetStatistics();
  }

  /**
   * Adds a provider. If there is a provider of that name already, the counters are added to it.
   *
   * @param provider the provider
   */
  public void addProvider(StatisticsProvider provider) {
    StatisticsProvider present = providers.putIfAbsent(provider.providerName(), provider);
    if (present != null && present != provider) {
      present.mergeStatistics(provider);
    }
  }

  /**
   * Writes all counters to the log.
   *
   * @param tag a word that stands at the beginning of the text
   */
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

  /**
   * Returns the counters of a provider as text.
   *
   * @param providerName the name, for example {@code core/input}
   * @return the text; null when there is no provider of that name
   */
  public String describe(String providerName) {
    StatisticsProvider provider = providers.get(providerName);
    return provider == null ? null : provider.printStatistics();
  }

  /** Sets all counters to zero. */
  public void reset() {
    providers.values().forEach(StatisticsProvider::resetStatistics);
  }
}
