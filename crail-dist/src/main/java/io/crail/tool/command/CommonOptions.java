/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The options of every command, and the remaining arguments. The common options are taken out
 * first, because some commands parse their own arguments.
 *
 * @param settings configuration values by key, in the order given
 * @param file the configuration file, or null for the usual one
 * @param embedded whether to start a cluster in this process
 * @param verbose whether to show stack traces and more of the log
 * @param help whether to explain the command instead of running it
 * @param rest the remaining arguments, for the command
 */
public record CommonOptions(
    Map<String, String> settings,
    Path file,
    boolean embedded,
    boolean verbose,
    boolean help,
    List<String> rest) {
  private static final String EMBEDDED_HELP =
      """
        --embedded            start a cluster in this process and use it%s
      """;

  private static final String HELP =
      """
      Options of every command:
        --set <key>=<value>   set a configuration value; also -D<key>=<value>
        --conf <file>         read this file instead of $CRAIL_CONF_DIR/crail-site.conf
      %s  --verbose             show stack traces and more of the log
        --help                explain the command
      """;

  /** The words of these options. */
  public static List<String> words() {
    return OptionWord.inHelp(helpOfAll()).stream()
        .flatMap(each -> each.spellings().stream())
        .toList();
  }

  /** The number of arguments, common options and their values, in front of the command. */
  public static int leading(List<String> arguments) {
    int i = 0;
    while (i < arguments.size()) {
      String argument = arguments.get(i);
      if (List.of("--set", "-D", "--conf").contains(argument)) {
        i++;
      } else if (!argument.matches("--(embedded|verbose|(set|conf)=.*)|-D.+")) {
        return i;
      }
      i++;
    }
    return arguments.size();
  }

  /** The help on these options, for all commands. */
  public static String helpOfAll() {
    return helpWith(String.format(Locale.ROOT, EMBEDDED_HELP, "; not namenode, datanode, getconf"));
  }

  /**
   * The help on these options, for one command.
   *
   * @param usesCluster whether the command uses a cluster, which may run in its own process
   */
  public static String helpOf(boolean usesCluster) {
    return helpWith(usesCluster ? String.format(Locale.ROOT, EMBEDDED_HELP, "") : "");
  }

  private static String helpWith(String embedded) {
    return String.format(Locale.ROOT, HELP, embedded);
  }

  /**
   * Takes the common options out of a command line. After {@code --} there are none.
   *
   * @param comeFirst whether there are also none after the first other argument
   * @throws UsageException when one of them lacks its value
   */
  public static CommonOptions parse(List<String> arguments, boolean comeFirst)
      throws UsageException {
    Map<String, String> settings = new LinkedHashMap<>();
    List<String> rest = new ArrayList<>();
    Path file = null;
    boolean embedded = false;
    boolean verbose = false;
    boolean help = false;
    int i = 0;
    while (i < arguments.size()) {
      String argument = arguments.get(i);
      if (argument.equals("--") || (comeFirst && !rest.isEmpty())) {
        break;
      }
      i++;
      switch (argument) {
        case "--embedded" -> embedded = true;
        case "--verbose" -> verbose = true;
        case "-h", "--help" -> help = true;
        case "--set", "-D" -> addSetting(settings, argument, value(arguments, i++, argument));
        case "--conf" -> file = Path.of(value(arguments, i++, argument));
        default -> {
          if (argument.startsWith("--set=")) {
            addSetting(settings, "--set", argument.substring("--set=".length()));
          } else if (argument.startsWith("--conf=")) {
            file = Path.of(argument.substring("--conf=".length()));
          } else if (argument.startsWith("-D")) {
            addSetting(settings, "-D", argument.substring("-D".length()));
          } else {
            rest.add(argument);
          }
        }
      }
    }
    rest.addAll(arguments.subList(i, arguments.size()));
    return new CommonOptions(settings, file, embedded, verbose, help, List.copyOf(rest));
  }

  /** The same options, but only with the settings of some keys. */
  CommonOptions withSettings(Predicate<String> keys) {
    Map<String, String> kept = new LinkedHashMap<>(settings);
    kept.keySet().removeIf(keys.negate());
    return new CommonOptions(kept, file, embedded, verbose, help, rest);
  }

  private static String value(List<String> arguments, int index, String option)
      throws UsageException {
    if (index >= arguments.size()) {
      throw new UsageException("option " + option + " needs a value");
    }
    return arguments.get(index);
  }

  private static void addSetting(Map<String, String> settings, String option, String setting)
      throws UsageException {
    int equals = setting.indexOf('=');
    if (equals < 1) {
      throw new UsageException(
          "option " + option + " needs <key>=<value>, but was given '" + setting + "'");
    }
    String key = setting.substring(0, equals);
    // Hadoop's keys, which 'crail fs' takes too, have a letter case.
    settings.put(
        Configuration.isCrailKey(key) ? ConfigKey.nameOf(key) : key, setting.substring(equals + 1));
  }
}
