/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Printable;
import java.util.ArrayList;
import java.util.List;

/**
 * A table whose columns are as wide as they have to be. The column {@code state} has the colours of
 * states. Used by one thread.
 */
public final class TextTable {
  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] left;

  /**
   * Creates a table with one line.
   *
   * @param headers what the columns are; a dash in front, as in a format, means to align it left
   */
  public TextTable(String... headers) {
    left = new boolean[headers.length];
    String[] names = new String[headers.length];
    for (int i = 0; i < headers.length; i++) {
      left[i] = headers[i].startsWith("-");
      names[i] = left[i] ? headers[i].substring(1) : headers[i];
    }
    rows.add(names);
  }

  /** Adds a line. What would not be seen as it is, is shown by escapes. */
  public void row(Object... cells) {
    String[] row = new String[left.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = Printable.line(String.valueOf(cells[i]));
    }
    rows.add(row);
  }

  /** Whether there are only headers. */
  public boolean isEmpty() {
    return rows.size() == 1;
  }

  /** Prints all lines. */
  public void print(ReportText text) {
    int[] widths = new int[left.length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        boolean last = i == row.length - 1;
        String space = " ".repeat(widths[i] - row[i].length());
        boolean state = row != rows.get(0) && rows.get(0)[i].equals("state");
        String cell = state ? text.colours().state(row[i]) : row[i];
        line.append(i == 0 ? "" : "  ").append(left[i] ? "" : space).append(cell);
        line.append(left[i] && !last ? space : "");
      }
      text.line(line.toString());
    }
  }
}
