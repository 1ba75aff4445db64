/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.Configuration;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.OptionsCommand;
import io.crail.dist.command.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.commons.cli.CommandLine;

/** Prints configuration values, for people and scripts. */
public final class GetconfCommand extends OptionsCommand {
  /** Declares its options. */
  public GetconfCommand() {
    super(
        "getconf",
        "prints configuration values",
        "[key]",
        """
        With a key: its value, which may be its default. Without: what the configuration sets.
        """,
        flag("a", "all", "print all keys, with their defaults where nothing is set"));
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    Configuration configuration = context.configuration();
    Map<String, String> set = configuration.shownTexts();
    List<String> wanted = line.getArgList();
    if (wanted.size() > 1) {
      throw new UsageException("one key at most, but there are " + wanted);
    }
    List<ConfigKey<?>> keys = new ArrayList<>();
    for (ConfigKeys room : Configuration.declarations()) {
      keys.addAll(room.keys());
    }
    if (wanted.isEmpty()) {
      for (ConfigKey<?> key : keys) {
        if (line.hasOption("a") || set.containsKey(key.name())) {
          context.out().println(key.name() + " " + valueOf(key, set));
        }
      }
      return 0;
    }
    for (ConfigKey<?> key : keys) {
      if (key.name().equals(wanted.get(0))) {
        context.out().println(valueOf(key, set));
        return 0;
      }
    }
    throw new UsageException("unknown key '" + wanted.get(0) + "'; --all shows all keys");
  }

  private static String valueOf(ConfigKey<?> key, Map<String, String> set) {
    return set.getOrDefault(key.name(), key.defaultText());
  }
}
