/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.bench.report.Json;
import io.crail.common.Printable;
import io.crail.tool.scale.ScaleDecision.Numbers;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Says what a controller decides and what happens, a line each. What stays as it is, it says once.
 * Used by one thread.
 */
final class ScaleEvents {
  /**
   * A line, as programs see it.
   *
   * @param at when, UTC
   * @param event what: {@code add}, {@code drain}, {@code registered}, ...
   * @param datanode its address, or the names of those that were ordered; empty for none
   * @param text the same for people
   * @param numbers what a decision was made of; none for other events
   */
  public record ScaleEvent(
      String at, String event, String datanode, String text, Optional<Numbers> numbers) {}

  private final Consumer<String> out;
  private final boolean json;
  private String lastDecision = "";
  private String lastFailure = "";

  /**
   * Creates it.
   *
   * @param out takes each line, without its end
   * @param json whether lines are JSON
   */
  ScaleEvents(Consumer<String> out, boolean json) {
    this.out = out;
    this.json = json;
  }

  /** Nothing is done. Said again when the reason is another one. */
  void held(ScaleDecision decision) {
    decided(decision, "hold", "");
  }

  /**
   * A decision.
   *
   * @param note what is to be added; empty for nothing
   */
  void decided(ScaleDecision decision, String event, String note) {
    String address = decision.member().map(ScaleMember::address).orElse("");
    // Seconds and bytes change all the time.
    String key = event + decision.reason().replaceAll("[0-9.]+", "") + note;
    if (key.equals(lastDecision)) {
      return;
    }
    lastDecision = key;
    String text = decision.text() + (note.isEmpty() ? "" : "; " + note);
    print(event, address, text, Optional.of(decision.numbers()));
  }

  /** Something happened to a datanode. */
  void happened(String event, String datanode, String text) {
    lastDecision = "";
    lastFailure = "";
    print(event, datanode, datanode + " " + text, Optional.empty());
  }

  /** Something failed. Said once while nothing else happens. */
  void failed(String event, String datanode, String why) {
    String key = event + datanode + why;
    if (!key.equals(lastFailure)) {
      lastFailure = key;
      print(event, datanode, datanode + ": " + why, Optional.empty());
    }
  }

  /** Something about the controller itself. Said once while nothing else happens. */
  void controller(String event, String text) {
    if (!text.equals(lastFailure)) {
      lastFailure = text;
      print(event, "", text, Optional.empty());
    }
  }

  private void print(String event, String datanode, String text, Optional<Numbers> numbers) {
    String at = Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
    out.accept(
        json
            ? Json.line(new ScaleEvent(at, event, datanode, text, numbers)).strip()
            : at + " " + (numbers.isPresent() ? "" : event + ": ") + Printable.line(text));
  }
}
