/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.common.config.ConfigException;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.net.URI;
import java.util.StringJoiner;
import org.apache.hadoop.conf.Configuration;

/**
 * Makes the configuration of a store. From weak to strong: {@code crail-site.conf}, where
 * CRAIL_HOME says that there is one; the keys of Hadoop's configuration that begin with {@code
 * crail.}; the namenodes that the URI names.
 */
final class HadoopConfiguration {
  /** The scheme of the file system. */
  static final String SCHEME = "crail";

  private static final String PREFIX = "crail.";
  private static final String NAMENODES = "crail.namenode.address";

  private HadoopConfiguration() {}

  /**
   * The configuration for a file system.
   *
   * @param uri {@code crail://host:port,host:port}; without an authority the configured namenodes
   * @throws IOException for a site file or a value that cannot be used, with its name
   */
  static CrailConfiguration of(URI uri, Configuration hadoop) throws IOException {
    try {
      CrailConfiguration crail = site(System.getenv("CRAIL_HOME"));
      hadoop.getPropsWithPrefix(PREFIX).forEach((name, value) -> crail.set(PREFIX + name, value));
      if (uri.getRawAuthority() != null) {
        crail.set(NAMENODES, addresses(uri.getRawAuthority()));
      }
      crail.toConfiguration();
      return crail;
    } catch (ConfigException e) {
      throw new IOException(uri + ": " + e.getMessage(), e);
    }
  }

  private static CrailConfiguration site(String home) throws IOException {
    return home == null || home.isEmpty()
        ? CrailConfiguration.createEmptyConfiguration()
        : CrailConfiguration.createConfigurationFromFile();
  }

  /** An authority as the value of the key for the namenodes. */
  private static String addresses(String authority) {
    StringJoiner addresses = new StringJoiner(",");
    for (String address : authority.split(",", -1)) {
      addresses.add(SCHEME + "://" + address);
    }
    return addresses.toString();
  }
}
