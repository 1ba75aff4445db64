/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.TierArguments;
import io.crail.storage.TierArguments.Argument;
import java.util.List;

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
  private static final String USUAL_PLACE = "/dev/shm";

  /** The arguments of a datanode that stand for these keys. */
  public TierArguments arguments() {
    return new TierArguments(
        tier,
        List.of(
            new Argument("-s", "bytes", storageLimit, "how much it lends, such as 16g"),
            new Argument("-d", "directory", dataPath, "where it keeps that, by default /dev/shm"),
            new Argument("-p", "port", port, "port to serve on; 0 takes a free one"),
            new Argument(
                "-i",
                "interface",
                networkInterface,
                "network interface, host name or address to serve on")));
  }

  /**
   * What a datanode with these arguments would take of its host.
   *
   * @throws io.crail.common.config.ConfigException for a bad argument or value
   */
  public PlannedDatanode plan(Configuration configuration, List<String> arguments) {
    Configuration own = arguments().apply(configuration, arguments);
    String path = own.get(dataPath);
    return new PlannedDatanode(
        tier,
        path.isEmpty() ? USUAL_PLACE : path,
        own.get(storageLimit),
        own.get(networkInterface),
        own.get(port));
  }
}
