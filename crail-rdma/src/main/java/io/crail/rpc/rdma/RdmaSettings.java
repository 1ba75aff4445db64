/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.common.config.Configuration;
import io.crail.rpc.WaitKeys;

/**
 * Values of {@link RdmaKeys}.
 *
 * @param spinNanos how long to poll before sleeping; Long.MAX_VALUE for no end
 * @param completions entries of a completion queue
 * @param retries repetitions of a packet, 0 to 6
 * @param ackTimeout exponent of the longest time for an acknowledgement
 */
public record RdmaSettings(long spinNanos, int completions, int retries, int ackTimeout) {
  /** The values of a configuration. */
  public static RdmaSettings of(Configuration configuration) {
    return new RdmaSettings(
        configuration.get(WaitKeys.SPIN_TIME),
        configuration.get(RdmaKeys.CLIENT_COMPLETIONS),
        configuration.get(RdmaKeys.RETRIES),
        configuration.get(RdmaKeys.ACK_TIMEOUT));
  }
}
