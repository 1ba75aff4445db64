/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The command-line arguments of a tier; each stands for a configuration key. Immutable. */
public final class TierArguments {
  private final String usage;
  private final Map<String, ConfigKey<?>> options;

  /**
   * Creates the arguments of a tier.
   *
   * @param usage all arguments in one line, shown after a wrong one
   * @param options the key that each argument stands for
   */
  public TierArguments(String usage, Map<String, ConfigKey<?>> options) {
    this.usage = usage;
    this.options = new LinkedHashMap<>(options);
  }

  /**
   * The configuration with the values of the arguments.
   *
   * @throws ConfigException that names an argument that is unknown, given twice, without a value or
   *     with a bad value
   */
  public Configuration apply(Configuration configuration, List<String> arguments) {
    if (arguments.isEmpty()) {
      return configuration;
    }
    Configuration.Builder builder = configuration.toBuilder();
    Set<String> given = new HashSet<>();
    for (int i = 0; i < arguments.size(); i += 2) {
      String option = arguments.get(i);
      ConfigKey<?> key = options.get(option);
      if (key == null) {
        throw refuse("unknown argument '" + option + "'");
      }
      if (i + 1 == arguments.size()) {
        throw refuse("argument " + option + " needs a value");
      }
      if (!given.add(option)) {
        throw refuse("argument " + option + " is given twice");
      }
      builder.set(key.name(), arguments.get(i + 1), "argument " + option);
    }
    return builder.build();
  }

  private ConfigException refuse(String what) {
    return new ConfigException(what + "; " + usage);
  }
}
