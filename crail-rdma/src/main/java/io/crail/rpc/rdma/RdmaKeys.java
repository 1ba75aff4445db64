/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import java.util.List;

/** The keys that all users of RDMA share. */
public final class RdmaKeys implements ConfigKeys {
  /** The entries of a completion queue. */
  public static final ConfigKey<Integer> CLIENT_COMPLETIONS =
      ConfigKey.of(
              "crail.rdma.client.completions",
              ConfigType.INT,
              "16384",
              "Entries of the completion queue that the connections of one client loop share;"
                  + " a connection that does not fit is refused.")
          .between(64, 1 << 22);

  /** How often a packet is repeated. */
  public static final ConfigKey<Integer> RETRIES =
      ConfigKey.of(
              "crail.rdma.retries",
              ConfigType.INT,
              "6",
              "How often a device repeats a packet that is not acknowledged before it gives the"
                  + " connection up. 7, which the verbs allow, is refused: with it some devices,"
                  + " soft-RoCE among them, never do.")
          .check(RdmaKeys::complainAboutRetries);

  /** How long an acknowledgement may take. */
  public static final ConfigKey<Integer> ACK_TIMEOUT =
      ConfigKey.of(
              "crail.rdma.acktimeout",
              ConfigType.INT,
              "16",
              "How long a device waits for an acknowledgement, as an exponent n: 4.096 us *"
                  + " 2^n, so 16 is 268 ms. A vanished peer is noticed after this time for each"
                  + " retry. Far below the network's worst delay, connections break.")
          .between(8, 31);

  /** Creates the list of keys; for {@link java.util.ServiceLoader}. */
  public RdmaKeys() {}

  private static String complainAboutRetries(int retries) {
    // The count has three bits. Soft-RoCE's completer takes 7 as unlimited.
    if (retries == 7) {
      return "must be between 0 and 6; with 7 a device may repeat without end, and it would go"
          + " unnoticed that a peer is gone";
    }
    return retries < 0 || retries > 6 ? "must be between 0 and 6" : null;
  }

  @Override
  public String title() {
    return "RDMA";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(CLIENT_COMPLETIONS, RETRIES, ACK_TIMEOUT);
  }
}
