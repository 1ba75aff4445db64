/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.common.ByteText;
import java.util.Locale;
import java.util.Optional;

/**
 * What a controller is to do, and why. Immutable.
 *
 * @param kind what
 * @param count how many datanodes to add
 * @param member the datanode to drain
 * @param reason why, in a few words
 * @param numbers what the decision was made of
 * @param lowMillis since when the use has been low, for the next observation
 */
record ScaleDecision(
    Kind kind,
    int count,
    Optional<ScaleMember> member,
    String reason,
    Numbers numbers,
    long lowMillis) {
  /** What to do. */
  enum Kind {
    /** Nothing. */
    HOLD,
    /** Start datanodes. */
    ADD,
    /** Put the datanode that is being drained back into use. */
    UNDO,
    /** Empty a datanode, to end it. */
    DRAIN
  }

  /**
   * The state of a storage class.
   *
   * @param use the part of its space that is used, 0 to 1; the greatest at any namenode
   * @param usedBytes bytes that belong to files, at datanodes that get new data
   * @param capacityBytes what these lend
   * @param datanodes how many these are
   * @param starting datanodes that were ordered and have not registered yet
   * @param draining datanodes that are being emptied
   * @param rate bytes that clients transfer in a second with each, on average
   */
  public record Numbers(
      double use,
      long usedBytes,
      long capacityBytes,
      int datanodes,
      int starting,
      int draining,
      long rate) {
    /** For people. */
    String text() {
      return String.format(
          Locale.ROOT,
          "%.0f %% in use, %s of %s at %s%s%s, %s/s each",
          100 * use,
          ByteText.of(usedBytes),
          ByteText.of(capacityBytes),
          datanodes + (datanodes == 1 ? " datanode" : " datanodes"),
          starting == 0 ? "" : ", " + starting + " starting",
          draining == 0 ? "" : ", " + draining + " draining",
          ByteText.of(rate));
    }
  }

  /** For people. */
  String text() {
    String what =
        switch (kind) {
          case HOLD -> "hold";
          case ADD -> "add " + count;
          case UNDO -> "use the draining datanode again";
          case DRAIN -> "drain " + member.map(ScaleMember::address).orElse("");
        };
    return what + ": " + reason + "; " + numbers.text();
  }
}
