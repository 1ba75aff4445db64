/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.command;

/** Colours for a terminal; elsewhere none, and none for a user who sets NO_COLOR. Immutable. */
public final class Colours {
  private static final String CONTAINER = "\u001b[1;34m";
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
  static Colours of(boolean terminal, String noColour) {
    return new Colours(terminal && (noColour == null || noColour.isEmpty()));
  }

  /** The name of a container, in the colour of a directory. */
  public String container(String text) {
    return wanted ? CONTAINER + text + END : text;
  }
}
