/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.completion;

import io.crail.tool.command.Command;
import io.crail.tool.command.OptionWord;
import java.util.Locale;

/** The script for zsh, which also shows what a command does. Stateless. */
final class ZshScript {
  private static final String BEGIN =
      """
      #compdef crail
      # Completes command lines of crail in zsh; made by 'crail completion zsh'.
      _crail() {
        local word=$words[CURRENT] before=$words[CURRENT-1]
        local command='' files='' valued='' i
        local -a options operands values keys names
        keys=(%s)
        names=(
      """;

  private static final String MIDDLE =
      """
        )
        for ((i = 2; i < CURRENT; i++)); do
          case $words[i] in
            --set | -D | --conf) ((i++)) ;;
            -*) ;;
            *) command=$words[i]; break ;;
          esac
        done
        case $command in
      """;

  private static final String END =
      """
        esac
        case $before in
          --set | -D) compadd -S '=' -- $keys; return ;;
          --conf) _files; return ;;
        esac
        if [[ -n $valued ]]; then
          [[ -n $files ]] && _files
          compadd -- $values
        elif [[ $word == -D* ]]; then
          compadd -p -D -S '=' -- $keys
        elif [[ $word == -* ]]; then
          compadd -- $options %s
        elif [[ -z $command || $command == help ]]; then
          _describe command names
        else
          [[ -n $files ]] && _files
          compadd -- $operands
        fi
      }
      compdef _crail crail
      """;

  private ZshScript() {}

  static String text(ScriptWords words) {
    StringBuilder text =
        new StringBuilder(String.format(Locale.ROOT, BEGIN, String.join(" ", ScriptWords.keys())));
    for (Command command : words.commands()) {
      text.append(
          String.format(
              Locale.ROOT,
              "    '%s:%s'\n",
              command.name(),
              command.sentence().replace("'", "'\\''")));
    }
    text.append("    'help:explains a command'\n");
    text.append(MIDDLE);
    for (Command command : words.commands()) {
      text.append("    ").append(command.name()).append(")\n");
      text.append("      options=(").append(list(ScriptWords.spellings(command)));
      text.append(") operands=(").append(list(command.operands())).append(')');
      text.append(command.takesFiles() ? " files=yes" : "").append('\n');
      values(text, command);
      text.append("      ;;\n");
    }
    return text + String.format(Locale.ROOT, END, String.join(" ", ScriptWords.common()));
  }

  private static String list(java.util.List<String> words) {
    String quoted = ScriptWords.quoted(words);
    return quoted.substring(1, quoted.length() - 1);
  }

  private static void values(StringBuilder text, Command command) {
    if (ScriptWords.valued(command).isEmpty()) {
      return;
    }
    text.append("      case $before in\n");
    for (OptionWord option : ScriptWords.valued(command)) {
      text.append("        ")
          .append(ScriptWords.pattern(option.spellings()))
          .append(") valued=yes files=")
          .append(ScriptWords.takesFile(option) ? "yes" : "''")
          .append(" values=(")
          .append(list(option.values()))
          .append(") ;;\n");
    }
    text.append("      esac\n");
  }
}
