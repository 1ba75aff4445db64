/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

/**
 * Which life of a shared container it is, and how far it has come. The container's owner counts on,
 * before and after it makes the container and removes it. So what others see before and after an
 * operation tells them what was there meanwhile.
 *
 * @param number counts the steps of all lives
 */
public record Life(long number) {
  /** The steps of a life, in order. */
  public enum Phase {
    /** The container is not there, nor will it be in this phase. */
    GONE,
    /** It is being made, and may be there. */
    BEING_MADE,
    /** It is there, and is not being removed. */
    THERE,
    /** It is being removed, and may be gone. */
    BEING_REMOVED
  }

  private static final Phase[] PHASES = Phase.values();

  /** How far it has come. */
  public Phase phase() {
    return PHASES[(int) (number % PHASES.length)];
  }

  /** This or the first later step of that phase. */
  public Life next(Phase phase) {
    int more = phase.ordinal() - phase().ordinal();
    return new Life(number + (more < 0 ? more + PHASES.length : more));
  }
}
