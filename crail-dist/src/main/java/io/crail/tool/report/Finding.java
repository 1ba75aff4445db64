/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import java.util.List;
import java.util.Locale;

/**
 * What a check has found. Its texts are single lines.
 *
 * @param grade how serious it is
 * @param text what was found
 * @param cure what to do about it; empty if all is well
 */
public record Finding(Grade grade, String text, String cure) {
  /** How serious a finding is. */
  public enum Grade {
    /** All is well. */
    OK,
    /** Crail works, but slower or with less than it could. */
    WARNING,
    /** Something will not work. */
    BROKEN;

    /** The word that people and programs see. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Makes single lines of the texts. */
  public Finding {
    text = line(text);
    cure = line(cure);
  }

  public static Finding ok(String text) {
    return new Finding(Grade.OK, text, "");
  }

  public static Finding warning(String text, String cure) {
    return new Finding(Grade.WARNING, text, cure);
  }

  public static Finding broken(String text, String cure) {
    return new Finding(Grade.BROKEN, text, cure);
  }

  /** Prints findings below a place, each with its cure. */
  public static void print(ReportText text, List<Finding> findings) {
    for (Finding each : findings) {
      String grade = each.grade().toString();
      String space = " ".repeat(Math.max(0, 8 - grade.length()));
      text.line("  %s%s %s", text.colours().state(grade), space, each.text());
      if (!each.cure().isEmpty()) {
        text.line("  %-8s %s", "", each.cure());
      }
    }
  }

  /** How many findings are of a grade. */
  public static long count(List<Finding> findings, Grade grade) {
    return findings.stream().filter(each -> each.grade() == grade).count();
  }

  /** Messages come from elsewhere too, and a line must not forge another one. */
  private static String line(String text) {
    return text.replaceAll("\\p{Cntrl}+", " ").strip();
  }
}
