/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.bench.report.Json;
import io.crail.common.Suggestion;
import io.crail.common.config.ApacheKeys;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.Configuration;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.commons.cli.CommandLine;

/** Prints configuration values, for people and scripts. */
public final class GetconfCommand extends OptionsCommand {
  /** Declares its options. */
  public GetconfCommand() {
    super(
        "getconf",
        "prints configuration values, and where they were set",
        "[key]",
        """
        With a key: its value alone, which may be its default. Letter case does not matter. Without:
        every key with its value and where that was set.
        """,
        flag("c", "configured", "only what is set"),
        flag("j", "json", "print JSON, for programs: value and origin of each key"),
        flag("a", "all", "no change: all keys are printed anyway"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail getconf", "all keys, their values and where they were set"),
        new Example("crail getconf crail.blocksize", "one value, for scripts"));
  }

  @Override
  public List<String> operands() {
    return keys().stream().map(ConfigKey::name).toList();
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    List<String> wanted = line.getArgList();
    if (wanted.size() > 1) {
      throw new UsageException("one key at most, but there are " + wanted);
    }
    Configuration configuration = context.configuration();
    Map<String, String> set = configuration.shownTexts();
    boolean json = line.hasOption("j");
    if (!wanted.isEmpty() && !json) {
      context.out().println(valueOf(find(wanted.get(0)), set));
      return 0;
    }
    Map<String, String> origins = configuration.origins();
    List<ConfigKey<?>> asked = new ArrayList<>();
    if (wanted.isEmpty()) {
      asked.addAll(keys());
    } else {
      asked.add(find(wanted.get(0)));
    }
    List<ConfigKey<?>> shown =
        asked.stream().filter(key -> !line.hasOption("c") || set.containsKey(key.name())).toList();
    if (json) {
      Map<String, Setting> settings = new LinkedHashMap<>();
      for (ConfigKey<?> key : shown) {
        String origin = configuration.origins().getOrDefault(key.name(), "default");
        settings.put(key.name(), new Setting(valueOf(key, set), origin));
      }
      context.out().print(Json.of(settings));
      return 0;
    }
    int width = shown.stream().mapToInt(key -> key.name().length()).max().orElse(1);
    for (ConfigKey<?> key : shown) {
      context
          .out()
          .printf(
              Locale.ROOT,
              "%-" + width + "s %-24s (%s)%n",
              key.name(),
              valueOf(key, set),
              origins.getOrDefault(key.name(), "default"));
    }
    return 0;
  }

  /** A value, and where it was set. */
  public record Setting(String value, String origin) {}

  private static List<ConfigKey<?>> keys() {
    List<ConfigKey<?>> keys = new ArrayList<>();
    for (ConfigKeys room : Configuration.declarations()) {
      keys.addAll(room.keys());
    }
    return keys;
  }

  private static ConfigKey<?> find(String name) throws UsageException {
    List<String> names = new ArrayList<>();
    String wanted = nameHere(ConfigKey.nameOf(name));
    for (ConfigKey<?> key : keys()) {
      if (key.name().equals(wanted)) {
        return key;
      }
      names.add(key.name());
    }
    String near = Suggestion.of(name, names);
    throw new UsageException(
        "there is no key '"
            + name
            + "'"
            + (near.isEmpty() ? "; 'crail getconf' shows all keys" : near));
  }

  /** The name of a key that may be given by the name that Apache Crail has for it. */
  private static String nameHere(String name) {
    return ApacheKeys.ALL.stream()
        .filter(each -> each.name().equals(name) && !each.key().isEmpty())
        .map(ApacheKeys.ApacheKey::key)
        .findFirst()
        .orElse(name);
  }

  private static String valueOf(ConfigKey<?> key, Map<String, String> set) {
    return set.getOrDefault(key.name(), key.defaultText());
  }
}
