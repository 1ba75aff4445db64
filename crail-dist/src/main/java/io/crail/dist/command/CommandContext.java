/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.command;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** What a command runs with. Used by one thread. */
public final class CommandContext {
  /** The name of the configuration file in its directory. */
  static final String SITE_FILE = "crail-site.conf";

  private static final Predicate<String> CRAILS =
      key -> key.toLowerCase(Locale.ROOT).startsWith("crail.");

  private final PrintStream out;
  private final PrintStream err;
  private final CommonOptions options;
  private final Function<String, String> environment;

  /**
   * Creates one.
   *
   * @param environment gives an environment variable's value, or null
   */
  public CommandContext(
      PrintStream out,
      PrintStream err,
      CommonOptions options,
      Function<String, String> environment) {
    this.out = out;
    this.err = err;
    this.options = options;
    this.environment = environment;
  }

  /** The same, with the settings of Crail's keys only. */
  public CommandContext withCrailSettings() {
    return new CommandContext(out, err, options.withSettings(CRAILS), environment);
  }

  /**
   * The settings that a command which uses Hadoop takes as Hadoop's: those of all other keys, and
   * the user, who is Hadoop's unless the command line itself names one.
   */
  public Map<String, String> hadoopSettings() {
    return options
        .withSettings(CRAILS.negate().or(ClusterKeys.USER.name()::equalsIgnoreCase))
        .settings();
  }

  /** Where results go. */
  public PrintStream out() {
    return out;
  }

  /** Where everything else goes. */
  public PrintStream err() {
    return err;
  }

  /** The options that every command has. */
  public CommonOptions options() {
    return options;
  }

  /** The configuration file, which may not exist; null when nothing says where it is. */
  Path file() {
    if (options.file() != null) {
      return options.file();
    }
    String directory = environment.apply("CRAIL_CONF_DIR");
    if (directory == null || directory.isEmpty()) {
      String home = environment.apply("CRAIL_HOME");
      if (home == null || home.isEmpty()) {
        return null;
      }
      directory = home + "/conf";
    }
    return Path.of(directory, SITE_FILE);
  }

  /**
   * Reads the configuration: defaults, then the file, then the options.
   *
   * @throws ConfigException that names the bad key or value and where it was set
   */
  public Configuration configuration() {
    Configuration.Builder builder = Configuration.builder();
    Path file = file();
    if (file != null && (options.file() != null || Files.exists(file))) {
      builder.load(file, environment);
    }
    options.settings().forEach((key, value) -> builder.set(key, value, "the command line"));
    Configuration configuration = builder.build();
    // Here, not with the key: a program may have no tier on its class path but those it uses.
    configuration.get(StorageKeys.TYPES).forEach(StorageTier::find);
    return configuration;
  }

  /** True when file or options say where the namenodes are. */
  boolean namesCluster(Configuration configuration) {
    return configuration.isSet(ClusterKeys.NAMENODE_ADDRESS);
  }
}
