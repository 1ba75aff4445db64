/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The command-line arguments of a datanode of a tier, after {@code --}; each stands for a
 * configuration key. Immutable.
 */
public final class TierArguments {
  /** The arguments of a tier that takes none. */
  public static final TierArguments NONE = new TierArguments("", List.of());

  private final String tier;
  private final Map<String, Argument> arguments = new LinkedHashMap<>();

  /**
   * One argument.
   *
   * @param option as it is written, such as {@code -s}
   * @param value what its value is, for the help
   * @param key the key that it stands for
   * @param meaning what it does, for the help
   */
  public record Argument(String option, String value, ConfigKey<?> key, String meaning) {
    private String spelling() {
      return option + " <" + value + ">";
    }
  }

  /**
   * Creates the arguments of a tier.
   *
   * @param tier its name
   * @param arguments in the order in which the help shows them
   */
  public TierArguments(String tier, List<Argument> arguments) {
    this.tier = tier;
    arguments.forEach(argument -> this.arguments.put(argument.option(), argument));
  }

  /**
   * The configuration with the values of the arguments.
   *
   * @throws ConfigException that names an argument that is unknown, given twice, without a value or
   *     with a bad value
   */
  public Configuration apply(Configuration configuration, List<String> given) {
    if (given.isEmpty()) {
      return configuration;
    }
    Configuration.Builder builder = configuration.toBuilder();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < given.size(); i += 2) {
      String option = given.get(i);
      Argument argument = arguments.get(option);
      if (argument == null) {
        throw refuse("unknown argument '" + option + "'");
      }
      if (i + 1 == given.size()) {
        throw refuse("argument " + option + " needs a value");
      }
      if (!seen.add(option)) {
        throw refuse("argument " + option + " is given twice");
      }
      builder.set(argument.key().name(), given.get(i + 1), "argument " + option);
    }
    return builder.build();
  }

  /** The options, in the order of the help. */
  public List<String> options() {
    return List.copyOf(arguments.keySet());
  }

  /** A line for each argument; empty when there is none. */
  public String help() {
    return arguments.values().stream()
        .map(each -> String.format(Locale.ROOT, "  %-16s %s%n", each.spelling(), each.meaning()))
        .collect(Collectors.joining());
  }

  private ConfigException refuse(String what) {
    String usage =
        arguments.values().stream()
            .map(argument -> "[" + argument.spelling() + "]")
            .collect(Collectors.joining(" "));
    return new ConfigException(what + "; arguments of tier " + tier + ": " + usage);
  }
}
