/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import io.crail.common.config.Configuration;
import java.nio.file.Path;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * The settings of the binding, from YCSB's properties.
 *
 * @param table path of the table
 * @param enumerateKeys whether listings show the records, which scans need
 * @param configuration of the store: the site file that CRAIL_CONF_DIR or CRAIL_HOME names, if one
 *     of them is set, and all other properties that begin with "crail.", which have precedence
 */
record Settings(String table, boolean enumerateKeys, Configuration configuration) {
  /** Whether to enumerate keys. Apache Crail's binding has the same name for it. */
  static final String ENUMERATE_KEYS = "crail.enumeratekeys";

  private static final String TABLE = "table";
  private static final String TABLE_DEFAULT = "usertable";
  private static final String PREFIX = "crail.";
  private static final String SITE_FILE = "crail-site.conf";

  /**
   * Reads properties.
   *
   * @param environment returns the value of a variable, or null
   * @throws IllegalArgumentException that names the bad key
   */
  static Settings of(Properties properties, UnaryOperator<String> environment) {
    Configuration.Builder configuration = Configuration.builder();
    Path site = siteFile(environment);
    if (site != null) {
      configuration.load(site, environment);
    }
    for (String name : new TreeSet<>(properties.stringPropertyNames())) {
      if (name.startsWith(PREFIX) && !name.equals(ENUMERATE_KEYS)) {
        configuration.set(name, properties.getProperty(name), "the properties of YCSB");
      }
    }
    return new Settings(
        properties.getProperty(TABLE, TABLE_DEFAULT),
        isTrue(properties.getProperty(ENUMERATE_KEYS, "false")),
        configuration.build());
  }

  private static boolean isTrue(String text) {
    if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
      throw new IllegalArgumentException(
          "property '" + ENUMERATE_KEYS + "' must be true or false, not '" + text + "'");
    }
    return text.equalsIgnoreCase("true");
  }

  /** The site file; null when the environment names none. */
  private static Path siteFile(UnaryOperator<String> environment) {
    String directory = environment.apply("CRAIL_CONF_DIR");
    if (directory != null && !directory.isEmpty()) {
      return Path.of(directory, SITE_FILE);
    }
    String home = environment.apply("CRAIL_HOME");
    if (home == null || home.isEmpty()) {
      return null;
    }
    return Path.of(home, "conf", SITE_FILE);
  }
}
