/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import java.time.Instant;
import java.util.Optional;

/**
 * What an application of Spark holds.
 *
 * @param id its name in the store
 * @param began when it began, by its driver's clock
 * @param files map outputs and broadcast values together
 * @param shuffleBytes bytes of map outputs
 * @param broadcastBytes bytes of broadcast values
 * @param alive whether its lease has not ended, if clocks agree
 * @param leaseEnd when its lease ends or ended
 */
public record ApplicationReport(
    String id,
    Optional<Instant> began,
    long files,
    long shuffleBytes,
    long broadcastBytes,
    boolean alive,
    Instant leaseEnd) {
  /** Bytes of both kinds together. */
  public long bytes() {
    return shuffleBytes + broadcastBytes;
  }
}
