/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.common.config.SiteFile;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;

/**
 * Makes the configuration of a store. A later source overrides an earlier one: {@code
 * crail-site.conf}, if {@link CrailFileSystem#SITE_FILE_KEY}, CRAIL_CONF_DIR or CRAIL_HOME names
 * one; the keys of Hadoop's configuration that begin with {@code crail.}; the namenodes that the
 * URI names.
 */
public final class HadoopConfiguration {
  /** The scheme of the file system. */
  static final String SCHEME = "crail";

  private static final String NAMENODES = "crail.namenode.address";

  /** Keys of a cached file system whose names the user completes; no store reads them. */
  private static final List<String> COMPLETED =
      List.of("crail.cache.source.", "crail.cache.impl.", "crail.cache.budget.");

  private static final String USER = "crail.user";
  private static final String SINGLETON = "crail.singleton";

  private HadoopConfiguration() {}

  /**
   * Returns the configuration for a file system; its values are checked when a store is created.
   *
   * @param uri {@code crail://host:port,host:port}; without an authority the configured namenodes
   * @param hadoop Hadoop's configuration
   * @param user Hadoop's user, who owns new nodes unless Hadoop's configuration names another user;
   *     the site file does not count for that
   * @param environment gives a variable's value, or null
   * @return the configuration
   * @throws io.crail.common.config.ConfigException for a site file that cannot be used
   * @throws IOException never
   */
  public static CrailConfiguration of(
      URI uri, Configuration hadoop, String user, Function<String, String> environment)
      throws IOException {
    String file = siteFile(hadoop, environment);
    CrailConfiguration crail =
        file.isEmpty()
            ? CrailConfiguration.createEmptyConfiguration()
            : CrailConfiguration.createConfigurationFromFile(file);
    // In the site file this key also names the owner of the root, and is the same for all users of
    // Hadoop.
    crail.set(USER, "");
    for (Map.Entry<String, String> each : hadoop) {
      if (isOfStore(each.getKey())) {
        crail.set(each.getKey(), hadoop.get(each.getKey()));
      }
    }
    if (uri.getRawAuthority() != null) {
      crail.set(NAMENODES, addresses(uri.getRawAuthority()));
    }
    if (crail.get(USER).isEmpty()) {
      crail.set(USER, user);
    }
    // A file system is closed as often as its users like, and a shared store only once by each.
    crail.set(SINGLETON, "false");
    return crail;
  }

  private static boolean isOfStore(String key) {
    return io.crail.common.config.Configuration.isCrailKey(key)
        && COMPLETED.stream().noneMatch(key::startsWith);
  }

  /**
   * The namenodes that a file system of a URI will ask; empty for Crail's default.
   *
   * @throws io.crail.common.config.ConfigException for a site file that cannot be used
   */
  static String namenodes(URI uri, Configuration hadoop) throws IOException {
    String addresses = of(uri, hadoop, "", System::getenv).get(NAMENODES);
    return addresses == null ? "" : addresses;
  }

  /** Whether a configuration names more than one namenode. */
  static boolean hasSeveralNamenodes(CrailConfiguration crail) {
    String addresses = crail.get(NAMENODES);
    return addresses != null && addresses.indexOf(',') >= 0;
  }

  /** The site file; empty for none. */
  private static String siteFile(Configuration hadoop, Function<String, String> environment) {
    String file = hadoop.getTrimmed(CrailFileSystem.SITE_FILE_KEY);
    if (file != null) {
      return file;
    }
    return SiteFile.find(environment).map(Path::toString).orElse("");
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
