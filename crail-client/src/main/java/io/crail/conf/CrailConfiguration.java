/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.conf;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * The settings that a program makes before it creates a store. A store takes a copy, so later
 * changes do not reach it. Not thread-safe.
 */
public class CrailConfiguration {
  private final Map<String, String> values = new TreeMap<>();

  /** Creates a configuration in which every key has its default. */
  public CrailConfiguration() {}

  /** {@return a configuration in which every key has its default} */
  public static CrailConfiguration createEmptyConfiguration() {
    return new CrailConfiguration();
  }

  /**
   * Reads {@code $CRAIL_HOME/conf/crail-site.conf}.
   *
   * @return the configuration
   * @throws IllegalArgumentException when CRAIL_HOME is not set, and in the cases of {@link
   *     #createConfigurationFromFile(String)}
   * @throws IOException never; programs for Apache Crail expect it
   */
  public static CrailConfiguration createConfigurationFromFile() throws IOException {
    String home = System.getenv("CRAIL_HOME");
    if (home == null || home.isEmpty()) {
      throw new IllegalArgumentException("environment variable CRAIL_HOME is not set");
    }
    return createConfigurationFromFile(Path.of(home, "conf", "crail-site.conf").toString());
  }

  /**
   * Reads a file. Each line has one key and its value; {@code #} begins a comment; {@code $NAME} is
   * replaced from the environment.
   *
   * @param path the path of the file
   * @return the configuration
   * @throws ConfigException an IllegalArgumentException that names file, line and error, also for a
   *     file that cannot be read
   * @throws IOException never; programs for Apache Crail expect it
   */
  public static CrailConfiguration createConfigurationFromFile(String path) throws IOException {
    return of(Configuration.builder().load(Path.of(path), System::getenv).build());
  }

  /**
   * Returns a copy of a frozen configuration, which can be changed.
   *
   * @param configuration the frozen configuration
   * @return the copy
   */
  public static CrailConfiguration of(Configuration configuration) {
    CrailConfiguration copy = new CrailConfiguration();
    copy.values.putAll(configuration.texts());
    return copy;
  }

  /**
   * Returns the text of a value.
   *
   * @param key the full name of the key
   * @return the text; null when the value was not set
   */
  public String get(String key) {
    return values.get(key);
  }

  /**
   * Sets a value. It is checked when a store is created.
   *
   * @param key the full name of the key
   * @param value the value as a user writes it
   */
  public void set(String key, String value) {
    values.put(key, value);
  }

  /**
   * Returns the value as a truth value.
   *
   * @param key the full name of the key
   * @param fallback the result when the value was not set
   * @return the truth value
   */
  public boolean getBoolean(String key, boolean fallback) {
    String value = values.get(key);
    return value == null ? fallback : Boolean.parseBoolean(value);
  }

  /**
   * Sets a whole number.
   *
   * @param key the full name of the key
   * @param value the number
   */
  public void setInt(String key, int value) {
    values.put(key, Integer.toString(value));
  }

  /**
   * Checks and freezes the values.
   *
   * @return the frozen configuration
   * @throws ConfigException for an unknown key or a bad value
   */
  public Configuration toConfiguration() {
    Configuration.Builder builder = Configuration.builder();
    values.forEach((key, value) -> builder.set(key, value, "the program"));
    return builder.build();
  }
}
