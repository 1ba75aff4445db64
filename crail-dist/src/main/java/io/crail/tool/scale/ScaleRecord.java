/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * What a controller leaves to the next one, as text at the namenode. Immutable.
 *
 * @param next the number of the next name of a datanode
 * @param alive the datanodes that ran when it was written
 * @param orders names of datanodes that were ordered and have not registered yet
 * @param leaving the datanode that is to end; none for none
 */
record ScaleRecord(int next, int alive, List<String> orders, Optional<Leaving> leaving) {
  /** The record of the first controller. */
  static final ScaleRecord FIRST = new ScaleRecord(1, 0, List.of(), Optional.empty());

  /** A datanode that is to end. */
  record Leaving(UUID uuid, String address, Stage stage) {}

  /** How far the end of a datanode is. */
  enum Stage {
    /** Its data move to others. */
    DRAIN,
    /** It is put back into use. */
    UNDO,
    /** It is empty, and its process is ended. */
    STOP
  }

  ScaleRecord {
    orders = List.copyOf(orders);
  }

  /** The text. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append("next ").append(next).append('\n');
    text.append("alive ").append(alive).append('\n');
    orders.forEach(each -> text.append("order ").append(each).append('\n'));
    leaving.ifPresent(
        each ->
            text.append("leaving ")
                .append(each.uuid)
                .append(' ')
                .append(each.stage)
                .append(' ')
                .append(each.address)
                .append('\n'));
    return text.toString();
  }

  /**
   * Reads the text; what it does not know, it leaves out.
   *
   * @throws IllegalArgumentException when a line is damaged
   */
  static ScaleRecord parse(String text) {
    int next = FIRST.next;
    int alive = FIRST.alive;
    List<String> orders = new ArrayList<>();
    Optional<Leaving> leaving = Optional.empty();
    for (String line : text.lines().toList()) {
      String[] words = (line + "   ").split(" ", 4);
      switch (words[0]) {
        case "next" -> next = Integer.parseInt(words[1]);
        case "alive" -> alive = Integer.parseInt(words[1]);
        case "order" -> orders.add(words[1]);
        case "leaving" ->
            leaving =
                Optional.of(
                    new Leaving(
                        UUID.fromString(words[1]), words[3].strip(), Stage.valueOf(words[2])));
        default -> {
          // Of a later version.
        }
      }
    }
    return new ScaleRecord(next, alive, orders, leaving);
  }
}
