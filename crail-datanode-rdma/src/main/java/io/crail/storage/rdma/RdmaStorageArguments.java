/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.storage.host.TierArguments;
import java.util.List;
import java.util.Map;

/** The command-line arguments of the RDMA tier. */
final class RdmaStorageArguments {
  private static final TierArguments ARGUMENTS =
      new TierArguments(
          "arguments of tier rdma: [-p <port>] [-d <data path>] [-s <storage limit>]"
              + " [-i <interface>]",
          Map.of(
              "-p", RdmaStorageKeys.PORT,
              "-d", RdmaStorageKeys.DATA_PATH,
              "-s", RdmaStorageKeys.STORAGE_LIMIT,
              "-i", RdmaStorageKeys.INTERFACE));

  private RdmaStorageArguments() {}

  /**
   * The configuration with the values that the arguments give.
   *
   * @throws ConfigException that names a bad argument
   */
  static Configuration apply(Configuration configuration, List<String> arguments) {
    return ARGUMENTS.apply(configuration, arguments);
  }
}
