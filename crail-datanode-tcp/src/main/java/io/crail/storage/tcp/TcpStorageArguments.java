/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The command-line arguments of the TCP tier; each stands for a configuration key. */
final class TcpStorageArguments {
  private static final Map<String, ConfigKey<?>> OPTIONS = new LinkedHashMap<>();

  static {
    OPTIONS.put("-p", TcpStorageKeys.PORT);
    OPTIONS.put("-d", TcpStorageKeys.DATA_PATH);
    OPTIONS.put("-s", TcpStorageKeys.STORAGE_LIMIT);
    OPTIONS.put("-i", TcpStorageKeys.INTERFACE);
  }

  /** The arguments in one line. */
  static final String USAGE =
      "arguments of tier tcp: [-p <port>] [-d <data path>] [-s <storage limit>] [-i <interface>]";

  private TcpStorageArguments() {}

  /**
   * The configuration with the values that the arguments give.
   *
   * @throws ConfigException that names the argument that is unknown, given twice, without a value
   *     or with a bad one
   */
  static Configuration apply(Configuration configuration, List<String> arguments) {
    if (arguments.isEmpty()) {
      return configuration;
    }
    Configuration.Builder builder = configuration.toBuilder();
    Map<String, String> given = new LinkedHashMap<>();
    for (int i = 0; i < arguments.size(); i += 2) {
      String option = arguments.get(i);
      ConfigKey<?> key = OPTIONS.get(option);
      if (key == null) {
        throw refuse("unknown argument '" + option + "'");
      }
      if (i + 1 == arguments.size()) {
        throw refuse("argument " + option + " needs a value");
      }
      if (given.put(option, arguments.get(i + 1)) != null) {
        throw refuse("argument " + option + " is given twice");
      }
      builder.set(key.name(), arguments.get(i + 1), "argument " + option);
    }
    return builder.build();
  }

  private static ConfigException refuse(String what) {
    return new ConfigException(what + "; " + USAGE);
  }
}
