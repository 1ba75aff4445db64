/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.List;

/** Tables of Markdown. Stateless. */
final class Markdown {
  private Markdown() {}

  /** A table; a cell may be empty. */
  static String table(String[] head, List<String[]> rows) {
    StringBuilder text = new StringBuilder();
    row(text, head);
    text.append("|").append("---|".repeat(head.length)).append('\n');
    rows.forEach(cells -> row(text, cells));
    return text.toString();
  }

  private static void row(StringBuilder text, String[] cells) {
    text.append('|');
    for (String cell : cells) {
      text.append(' ').append(cell).append(cell.isEmpty() ? "|" : " |");
    }
    text.append('\n');
  }
}
