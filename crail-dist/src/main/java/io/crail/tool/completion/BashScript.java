/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.completion;

import io.crail.tool.command.Command;
import io.crail.tool.command.OptionWord;
import java.util.Locale;

/** The script for bash. Stateless. */
final class BashScript {
  private static final String BEGIN =
      """
      # Completes command lines of crail in bash; made by 'crail completion bash'.
      _crail() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
        local command='' options='' operands='' values='' files='' valued='' i
        local keys=%s
        COMPREPLY=()
        for ((i = 1; i < COMP_CWORD; i++)); do
          case ${COMP_WORDS[i]} in
            --set | -D | --conf) ((i++)) ;;
            -* | =) ;;
            *)
              # The value of a setting is no command; bash takes it for words of their own.
              [ "${COMP_WORDS[i - 1]}" = = ] && continue
              command=${COMP_WORDS[i]}
              break
              ;;
          esac
        done
        case $command in
          '') operands=%s ;;
          help) operands=%s ;;
      """;

  private static final String END =
      """
        esac
        case $before in
          --set | -D) valued=yes values=$keys ;;
          --conf) valued=yes files=yes ;;
        esac
        if [ -n "$valued" ]; then
          mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
        elif [[ $word == -D* ]]; then
          values=$keys
          mapfile -t COMPREPLY < <(compgen -P -D -W "$keys" -- "${word#-D}")
        elif [[ $word == -* ]]; then
          files=''
          mapfile -t COMPREPLY < <(compgen -W "$options %s" -- "$word")
        else
          mapfile -t COMPREPLY < <(compgen -W "$operands" -- "$word")
        fi
        if [ "$values" = "$keys" ]; then
          COMPREPLY=("${COMPREPLY[@]/%%/=}")
          compopt -o nospace 2>/dev/null
        fi
        if [ -n "$files" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then
          compopt -o default 2>/dev/null
        fi
      }
      complete -F _crail crail
      """;

  private BashScript() {}

  static String text(ScriptWords words) {
    String names = ScriptWords.quoted(words.names());
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT, BEGIN, ScriptWords.quoted(ScriptWords.keys()), names, names));
    for (Command command : words.commands()) {
      text.append("    ").append(command.name()).append(")\n");
      text.append("      options=").append(ScriptWords.quoted(ScriptWords.spellings(command)));
      text.append(" operands=").append(ScriptWords.quoted(command.operands()));
      text.append(command.takesFiles() ? " files=yes" : "").append('\n');
      values(text, command);
      text.append("      ;;\n");
    }
    return text + String.format(Locale.ROOT, END, String.join(" ", ScriptWords.common()));
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
          .append(" values=")
          .append(ScriptWords.quoted(option.values()))
          .append(" ;;\n");
    }
    text.append("      esac\n");
  }
}
