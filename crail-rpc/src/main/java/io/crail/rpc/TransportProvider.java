/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import java.util.ServiceLoader;
import java.util.TreeSet;

/** Makes a {@link Transport}; found through {@link ServiceLoader} by its short name. */
public interface TransportProvider {
  /** Which transport carries the metadata. */
  ConfigKey<String> RPC_TYPE =
      ConfigKey.of(
          "crail.namenode.rpctype",
          ConfigType.STRING,
          "tcp",
          "Transport of the metadata operations, by its short name.");

  /** The short name, for example {@code tcp}. */
  String name();

  /** Creates a transport with the values of {@code configuration}. */
  Transport create(Configuration configuration);

  /**
   * Creates the transport that {@code configuration} names.
   *
   * @throws ConfigException that names the transports there are
   */
  static Transport open(Configuration configuration) {
    String wanted = configuration.get(RPC_TYPE);
    TreeSet<String> known = new TreeSet<>();
    for (TransportProvider provider :
        ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())) {
      if (provider.name().equals(wanted)) {
        return provider.create(configuration);
      }
      known.add(provider.name());
    }
    throw new ConfigException(
        "key '" + RPC_TYPE.name() + "' names the transport '" + wanted + "'; there are: " + known);
  }
}
