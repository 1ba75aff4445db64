/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.storage.host.TierArguments;
import java.util.List;
import java.util.Map;

/** The command-line arguments of the TCP tier. */
final class TcpStorageArguments {
  private static final TierArguments ARGUMENTS =
      new TierArguments(
          "arguments of tier tcp: [-p <port>] [-d <data path>] [-s <storage limit>]"
              + " [-i <interface>]",
          Map.of(
              "-p", TcpStorageKeys.PORT,
              "-d", TcpStorageKeys.DATA_PATH,
              "-s", TcpStorageKeys.STORAGE_LIMIT,
              "-i", TcpStorageKeys.INTERFACE));

  private TcpStorageArguments() {}

  /**
   * The configuration with the values that the arguments give.
   *
   * @throws ConfigException that names a bad argument
   */
  static Configuration apply(Configuration configuration, List<String> arguments) {
    return ARGUMENTS.apply(configuration, arguments);
  }
}
