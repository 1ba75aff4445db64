/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.conf;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.common.config.SiteFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings that a program makes before it creates a store. A store takes a copy, so later
 * changes do not reach it. The letter case of a key does not matter. Not thread-safe.
 *
 * <p>Keys of Apache Crail 1.2 are understood. When a file is read, and when a program has set such
 * a key, a warning in the log says what became of a key that has another name here, or no effect.
 */
public class CrailConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(CrailConfiguration.class);

  private final Map<String, String> values = new TreeMap<>();
  private final Set<String> warned = new HashSet<>();

  /**
   * Creates a configuration in which every key has its default. It reads no file: see {@link
   * #createConfigurationFromFile()}.
   */
  public CrailConfiguration() {}

  /** {@return a configuration in which every key has its default; it reads no file} */
  public static CrailConfiguration createEmptyConfiguration() {
    return new CrailConfiguration();
  }

  /**
   * Reads {@code $CRAIL_CONF_DIR/crail-site.conf}, or, if that variable is not set, {@code
   * $CRAIL_HOME/conf/crail-site.conf}.
   *
   * @return the configuration
   * @throws IllegalArgumentException when neither variable is set, and in the cases of {@link
   *     #createConfigurationFromFile(String)}
   * @throws IOException never; programs for Apache Crail expect it
   */
  public static CrailConfiguration createConfigurationFromFile() throws IOException {
    return fromFile(System::getenv);
  }

  /** With an environment of its own, for tests. */
  static CrailConfiguration fromFile(Function<String, String> environment) throws IOException {
    Path file =
        SiteFile.find(environment)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "neither CRAIL_CONF_DIR nor CRAIL_HOME is set, so there is no"
                            + " crail-site.conf to read"));
    return createConfigurationFromFile(file.toString());
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
    Configuration read = Configuration.builder().load(Path.of(path), System::getenv).build();
    read.warnings().forEach(LOG::warn);
    return of(read);
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
    return values.get(ConfigKey.nameOf(key));
  }

  /**
   * Sets a value. It is checked when a store is created.
   *
   * @param key the full name of the key
   * @param value the value as a user writes it
   */
  public void set(String key, String value) {
    values.put(ConfigKey.nameOf(key), value);
  }

  /**
   * Returns the value as a truth value.
   *
   * @param key the full name of the key
   * @param fallback the result when the value was not set
   * @return the truth value
   */
  public boolean getBoolean(String key, boolean fallback) {
    String value = get(key);
    return value == null ? fallback : Boolean.parseBoolean(value);
  }

  /**
   * Sets a whole number.
   *
   * @param key the full name of the key
   * @param value the number
   */
  public void setInt(String key, int value) {
    set(key, Integer.toString(value));
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
    Configuration frozen = builder.build();
    frozen.warnings().stream().filter(warned::add).forEach(LOG::warn);
    return frozen;
  }
}
