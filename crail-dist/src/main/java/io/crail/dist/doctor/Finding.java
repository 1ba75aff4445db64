/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

/**
 * What a check has found. Its texts are single lines.
 *
 * @param grade how serious it is
 * @param text what was found
 * @param cure what to do about it; empty if all is well
 */
record Finding(Grade grade, String text, String cure) {
  /** How serious a finding is. */
  enum Grade {
    /** All is well. */
    OK,
    /** Crail works, but slower or with less than it could. */
    WARNING,
    /** Something will not work. */
    BROKEN
  }

  Finding {
    text = line(text);
    cure = line(cure);
  }

  static Finding ok(String text) {
    return new Finding(Grade.OK, text, "");
  }

  static Finding warning(String text, String cure) {
    return new Finding(Grade.WARNING, text, cure);
  }

  static Finding broken(String text, String cure) {
    return new Finding(Grade.BROKEN, text, cure);
  }

  /** Messages come from elsewhere too, and a line must not forge another one. */
  private static String line(String text) {
    return text.replaceAll("\\p{Cntrl}+", " ").strip();
  }
}
