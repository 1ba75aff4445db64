/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import io.crail.common.error.ErrorCode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The statistics of a store, for its program's own metrics: counters that grow from the opening of
 * the store on, and the present state. Reading them causes no request and costs the store nothing.
 * With {@code crail.statistics=false} all are 0. Thread-safe.
 *
 * <p>Apache Crail's counters can be had as text, grouped by provider:
 *
 * <ul>
 *   <li>{@code core/input}, {@code core/output}: the operations of direct streams, including those
 *       below buffered streams. A stream adds its counts at the latest when it is closed. {@code
 *       totalOps} operations were issued by {@code totalStreams} streams and moved {@code bytes}.
 *       {@code nonBlockingOps} of them had ended when the issuing call returned; {@code
 *       blockingOps} had not. An operation has a part for each extent: {@code localOps} parts were
 *       copies within this host, {@code remoteOps} went over the network, and {@code cached} counts
 *       the parts of both that did not wait for their location.
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

  /** What a store has done of one operation. Thread-safe. */
  public interface OperationStatistics {
    /**
     * {@return a request to namenodes, by its name in the wire protocol, such as {@code lookup};
     * {@code read} and {@code write} are operations of direct streams}
     */
    String getName();

    /**
     * {@return how many have ended, with success or not; those of a stream have been begun, and
     * count when it is closed, or somewhat before}
     */
    long getCount();

    /**
     * {@return how many have failed, by error; an error that was never met is not there, and errors
     * of a stream count at once}
     */
    Map<ErrorCode, Long> getErrors();

    /**
     * Returns a time that a share of the operations did not exceed, from the moment when the store
     * begins with an operation to its end. The store takes the time of a sample, and knows it up to
     * a factor of two; what took longer than 69 s counts as 69 s.
     *
     * @param share from 0 to 1, such as 0.99
     * @return nanoseconds; 0 when no time was taken yet
     */
    long getLatencyNanos(double share);
  }

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

  /** {@return all operations, also those that were never used, always in the same order} */
  public List<OperationStatistics> getOperations() {
    return List.of();
  }

  /**
   * {@return bytes that direct streams, and those below buffered streams, have asked for, by the
   * way that they took: the name of the tier over the network, or {@code local} for memory of this
   * host; a stream adds its bytes when it is closed or somewhat before, and values that a namenode
   * keeps are in none; what a stream sends again counts again}
   */
  public Map<String, Long> getBytesRead() {
    return Map.of();
  }

  /** {@return bytes that streams have written, as {@link #getBytesRead}} */
  public Map<String, Long> getBytesWritten() {
    return Map.of();
  }

  /**
   * {@return parts of reads and writes that did not wait for their location; those of an open
   * stream are added now and then, and at its close}
   */
  public long getLocationHits() {
    return 0;
  }

  /**
   * {@return parts of reads and writes that waited until a namenode had returned their location}
   */
  public long getLocationMisses() {
    return 0;
  }

  /** {@return write leases of open streams at the moment} */
  public long getWriteLeases() {
    return 0;
  }

  /** {@return direct input streams that are open at the moment} */
  public long getOpenInputStreams() {
    return 0;
  }

  /** {@return direct output streams that are open at the moment} */
  public long getOpenOutputStreams() {
    return 0;
  }

  /** {@return buffers of the store that are lent at the moment} */
  public long getLentBuffers() {
    return 0;
  }

  /** {@return bytes of direct memory that the buffers of the store take, lent or not} */
  public long getBufferBytes() {
    return 0;
  }

  /**
   * {@return requests and transfers that have not ended at the moment; a transfer that waits for
   * its turn may count twice}
   */
  public long getOutstandingOperations() {
    return 0;
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
