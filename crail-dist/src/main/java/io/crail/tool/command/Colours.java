/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

/** Colours for a terminal; elsewhere none, and none for a user who sets NO_COLOR. Immutable. */
public final class Colours {
  private static final String CONTAINER = "\u001b[1;34m";
  private static final String GOOD = "\u001b[32m";
  private static final String DOUBTFUL = "\u001b[33m";
  private static final String BAD = "\u001b[31m";
  private static final String END = "\u001b[0m";

  private final boolean wanted;

  private Colours(boolean wanted) {
    this.wanted = wanted;
  }

  /**
   * Colours for an output.
   *
   * @param terminal whether it is a terminal
   * @param noColour the variable NO_COLOR, which means none unless it is empty; may be null
   */
  public static Colours of(boolean terminal, String noColour) {
    return new Colours(terminal && (noColour == null || noColour.isEmpty()));
  }

  /** A state, in the colour that its first word has; unchanged if that is no state. */
  public String state(String text) {
    String word = text.split("[ ,:]", 2)[0];
    String colour =
        switch (word) {
          case "ok", "online", "alive", "answers", "healthy", "serves" -> GOOD;
          case "warning", "draining", "silent", "waits" -> DOUBTFUL;
          case "broken",
                  "impaired",
                  "offline",
                  "lost",
                  "stale",
                  "unread",
                  "overdue",
                  "expired",
                  "unhealthy",
                  "missing" ->
              BAD;
          default -> "";
        };
    return wanted && !colour.isEmpty() ? colour + text + END : text;
  }

  /** The name of a container, in the colour of a directory. */
  public String container(String text) {
    return wanted ? CONTAINER + text + END : text;
  }
}
