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
 * @param renewed when a process has renewed its lease last, by the clocks of the namenodes
 */
public record ApplicationReport(
    String id,
    Optional<Instant> began,
    long files,
    long shuffleBytes,
    long broadcastBytes,
    Instant renewed) {
  /** Bytes of both kinds together. */
  public long bytes() {
    return shuffleBytes + broadcastBytes;
  }
}
