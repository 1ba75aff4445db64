/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import io.crail.common.config.ConfigKey;
import java.util.Map;

/**
 * The keys of a tier by which its datanodes lend memory of their host.
 *
 * @param tier the tier's name
 * @param networkInterface where to serve
 * @param port the port to serve on
 * @param storageLimit what a datanode lends
 * @param allocationSize the size of a region
 * @param dataPath the parent of a datanode's directory
 */
public record HostKeys(
    String tier,
    ConfigKey<String> networkInterface,
    ConfigKey<Integer> port,
    ConfigKey<Long> storageLimit,
    ConfigKey<Long> allocationSize,
    ConfigKey<String> dataPath) {
  /** The arguments of a datanode that stand for these keys. */
  public TierArguments arguments() {
    return new TierArguments(
        "arguments of tier "
            + tier
            + ": [-p <port>] [-d <data path>] [-s <storage limit>] [-i <interface>]",
        Map.of("-p", port, "-d", dataPath, "-s", storageLimit, "-i", networkInterface));
  }
}
