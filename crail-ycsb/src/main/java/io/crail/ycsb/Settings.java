/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import io.crail.common.config.Configuration;
import io.crail.common.config.SiteFile;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger LOG = LoggerFactory.getLogger(Settings.class);

  private static final String TABLE = "table";
  private static final String TABLE_DEFAULT = "usertable";

  /**
   * Reads properties.
   *
   * @param environment returns the value of a variable, or null
   * @throws IllegalArgumentException that names the bad key
   */
  static Settings of(Properties properties, UnaryOperator<String> environment) {
    Configuration.Builder configuration = Configuration.builder();
    SiteFile.find(environment).ifPresent(site -> configuration.load(site, environment));
    for (String name : new TreeSet<>(properties.stringPropertyNames())) {
      if (Configuration.isCrailKey(name) && !name.equals(ENUMERATE_KEYS)) {
        configuration.set(name, properties.getProperty(name), "the properties of YCSB");
      }
    }
    Configuration built = configuration.build();
    built.warnings().forEach(LOG::warn);
    return new Settings(
        properties.getProperty(TABLE, TABLE_DEFAULT),
        isTrue(properties.getProperty(ENUMERATE_KEYS, "false")),
        built);
  }

  private static boolean isTrue(String text) {
    if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
      throw new IllegalArgumentException(
          "property '" + ENUMERATE_KEYS + "' must be true or false, not '" + text + "'");
    }
    return text.equalsIgnoreCase("true");
  }
}
