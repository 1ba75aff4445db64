/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
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
   * The configuration for a file system; its values are checked when a store is created.
   *
   * @param uri {@code crail://host:port,host:port}; without an authority the configured namenodes
   * @param home what CRAIL_HOME is set to; null when it is not
   * @throws io.crail.common.config.ConfigException for a site file that cannot be used
   */
  static CrailConfiguration of(URI uri, Configuration hadoop, String home) throws IOException {
    CrailConfiguration crail = site(home);
    hadoop
        .getPropsWithPrefix(PREFIX)
        .forEach((name, value) -> crail.set((PREFIX + name).toLowerCase(Locale.ROOT), value));
    if (uri.getRawAuthority() != null) {
      crail.set(NAMENODES, addresses(uri.getRawAuthority()));
    }
    return crail;
  }

  private static CrailConfiguration site(String home) throws IOException {
    if (home == null || home.isEmpty()) {
      return CrailConfiguration.createEmptyConfiguration();
    }
    Path file = Path.of(home, "conf", "crail-site.conf");
    return CrailConfiguration.createConfigurationFromFile(file.toString());
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
