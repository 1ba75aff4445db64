/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.completion;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.Configuration;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommonOptions;
import io.crail.tool.command.OptionWord;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The words of command lines, as both scripts need them. Immutable. */
final class ScriptWords {
  /** Values of these are files of this host. */
  private static final List<String> FILE_OPTIONS =
      List.of("--conf", "--out", "--json", "--plot", "--plots");

  private final List<Command> commands;

  ScriptWords(List<Command> commands) {
    this.commands = List.copyOf(commands);
  }

  List<Command> commands() {
    return commands;
  }

  /** The names of all commands, and the word before one that explains it. */
  List<String> names() {
    return Stream.concat(commands.stream().map(Command::name), Stream.of("help")).toList();
  }

  /** All keys. */
  static List<String> keys() {
    List<String> keys = new ArrayList<>();
    for (ConfigKeys room : Configuration.declarations()) {
      for (ConfigKey<?> key : room.keys()) {
        keys.add(key.name());
      }
    }
    return keys;
  }

  /** The words of the options that every command has. */
  static List<String> common() {
    return CommonOptions.words();
  }

  /** The words of a command's own options. */
  static List<String> spellings(Command command) {
    return command.options().stream().flatMap(each -> each.spellings().stream()).toList();
  }

  /** The command's options that are followed by a value. */
  static List<OptionWord> valued(Command command) {
    return command.options().stream().filter(OptionWord::isValued).toList();
  }

  /** Whether the value of an option is a file of this host. */
  static boolean takesFile(OptionWord option) {
    return option.spellings().stream().anyMatch(FILE_OPTIONS::contains);
  }

  /** The alternatives of a shell's {@code case}. */
  static String pattern(List<String> words) {
    return String.join(" | ", words);
  }

  /** Words for a shell, between single quotes; each of them is free of what is special there. */
  static String quoted(List<String> words) {
    return words.stream()
        .filter(word -> word.matches("[A-Za-z0-9._,=/-]+"))
        .collect(Collectors.joining(" ", "'", "'"));
  }
}
