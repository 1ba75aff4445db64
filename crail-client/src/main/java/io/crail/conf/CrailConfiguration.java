/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.conf;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * The values that a program sets before it creates a store. A store takes a copy, so later changes
 * do not reach it. Not thread-safe.
 */
public class CrailConfiguration {
  private final Map<String, String> values = new TreeMap<>();

  /** Creates a configuration in which every key has its default. */
  public CrailConfiguration() {}

  /** Creates a configuration in which every key has its default. */
  public static CrailConfiguration createEmptyConfiguration() {
    return new CrailConfiguration();
  }

  /**
   * Reads {@code $CRAIL_HOME/conf/crail-site.conf}.
   *
   * @throws IllegalArgumentException when CRAIL_HOME is not set, and as {@link
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
   * Reads a file: one key and value a line, {@code #} begins a comment, {@code $NAME} is replaced
   * from the environment.
   *
   * @throws ConfigException an IllegalArgumentException that names file, line and what is wrong,
   *     also for a file that cannot be read
   * @throws IOException never; programs for Apache Crail expect it
   */
  public static CrailConfiguration createConfigurationFromFile(String path) throws IOException {
    return of(Configuration.builder().load(Path.of(path), System::getenv).build());
  }

  /** A copy of a frozen configuration, to change. */
  public static CrailConfiguration of(Configuration configuration) {
    CrailConfiguration copy = new CrailConfiguration();
    copy.values.putAll(configuration.texts());
    return copy;
  }

  /** The text of a value, or null when it was not set. */
  public String get(String key) {
    return values.get(key);
  }

  /** Sets a value; it is checked when a store is created. */
  public void set(String key, String value) {
    values.put(key, value);
  }

  /** The value as a truth value, or {@code fallback} when it was not set. */
  public boolean getBoolean(String key, boolean fallback) {
    String value = values.get(key);
    return value == null ? fallback : Boolean.parseBoolean(value);
  }

  /** Sets a whole number. */
  public void setInt(String key, int value) {
    values.put(key, Integer.toString(value));
  }

  /**
   * Checks and freezes the values.
   *
   * @throws ConfigException for an unknown key or a bad value
   */
  public Configuration toConfiguration() {
    Configuration.Builder builder = Configuration.builder();
    values.forEach((key, value) -> builder.set(key, value, "the program"));
    return builder.build();
  }
}
