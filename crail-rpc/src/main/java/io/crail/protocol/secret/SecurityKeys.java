/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.Addresses;
import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.common.config.Configuration;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The keys that say who gets in. */
public final class SecurityKeys implements ConfigKeys {
  /** The variable of the environment that names the file where the configuration does not. */
  public static final String ENVIRONMENT = "CRAIL_SECRET_FILE";

  /** Where the secrets are. */
  public static final ConfigKey<String> SECRET_FILE =
      ConfigKey.of(
              "crail.secret.file",
              ConfigType.STRING,
              "",
              "File with the secrets of this process, which only its user may read; ~/ is the"
                  + " user's home. Namenodes have the master secrets there, datanodes and users"
                  + " their own keys; crail secret writes both. Empty: the file that"
                  + " the environment variable CRAIL_SECRET_FILE names; without both, whoever reaches"
                  + " the cluster may do everything.")
          .check(SecurityKeys::check);

  /** Who may operate the cluster. */
  public static final ConfigKey<List<String>> SUPERUSERS =
      ConfigKey.of(
          "crail.superusers",
          ConfigType.LIST,
          "",
          "Users who may operate the cluster besides the namenode's own user, separated by"
              + " commas: drain, move, see what all do.");

  /** Whether servers may do without secrets. */
  public static final ConfigKey<Boolean> OPEN =
      ConfigKey.of(
          "crail.open",
          ConfigType.BOOLEAN,
          "false",
          "Whether namenodes and datanodes without a secret serve other hosts too. Then everyone"
              + " who reaches them may read, change and remove everything.");

  /** How long a ticket is good. */
  public static final ConfigKey<Duration> TICKET_TIME =
      ConfigKey.of(
              "crail.secret.ticket",
              ConfigType.duration(DurationUnit.SECONDS),
              "10m",
              "How long a client may use a datanode with the ticket that a namenode has given"
                  + " it; clients get new ones in time by themselves. Clocks of namenodes and"
                  + " datanodes may differ by half of it.")
          .check(
              time ->
                  time.toSeconds() < 10 || time.toDays() > 30
                      ? "must be between 10 s and 30 days"
                      : null);

  private static String check(String file) {
    return file.isEmpty() || file.startsWith("/") || file.startsWith("~/")
        ? null
        : "must be an absolute path, or begin with ~/";
  }

  /** The configured file, or that of the environment; null for none. */
  static Path secretFile(Configuration configuration) {
    String file = configuration.get(SECRET_FILE);
    if (file.isEmpty()) {
      file = System.getenv().getOrDefault(ENVIRONMENT, "");
    }
    if (file.isEmpty()) {
      return null;
    }
    String wrong = check(file);
    if (wrong != null) {
      throw new ConfigException(ENVIRONMENT + " is '" + file + "': " + wrong);
    }
    return file.startsWith("~/")
        ? Path.of(System.getProperty("user.home"), file.substring(2))
        : Path.of(file);
  }

  /**
   * Refuses to serve other hosts without a secret, unless the configuration wants it so.
   *
   * @param address where a server serves
   * @throws ConfigException that names the address and both ways out
   */
  public static void requireGuarded(Configuration configuration, InetSocketAddress address) {
    if (secretFile(configuration) == null
        && !configuration.get(OPEN)
        && !address.getAddress().isLoopbackAddress()) {
      throw new ConfigException(
          "everyone who reaches "
              + Addresses.numeric(address)
              + " could do everything: set crail.secret.file or the variable CRAIL_SECRET_FILE, or"
              + " crail.open true if all who reach it are trusted");
    }
  }

  @Override
  public String title() {
    return "Security";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(SECRET_FILE, SUPERUSERS, TICKET_TIME, OPEN);
  }
}
