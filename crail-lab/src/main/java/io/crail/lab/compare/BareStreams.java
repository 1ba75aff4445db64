/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Bare streams over loopback, with memory that fits into a cache and with memory that does not.
 * Stateless.
 */
final class BareStreams {
  private static final String MAIN = "io.crail.lab.limits.LoopbackStream";

  private BareStreams() {}

  /** Where the bytes of a stream are. The names are arguments of {@code LoopbackStream}. */
  enum Way {
    CACHED("bare stream from buffer to buffer"),
    INTO("bare stream into the memory of a datanode"),
    FROM("bare stream out of the memory of a datanode");

    private final String label;

    Way(String label) {
      this.label = label;
    }

    private String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Measures some ways, and adds the bytes a second of each.
   *
   * @param beside the end of each of their names
   * @param region bytes of the datanode's memory
   * @param piece bytes that are sent at once
   */
  static void measureBeside(
      CompareSession with, Samples samples, String beside, int region, int piece, Way... ways)
      throws IOException, InterruptedException {
    List<Object> arguments = new ArrayList<>(List.of(with.limitRegion(), region, piece));
    for (Way way : ways) {
      arguments.add(way.word());
    }
    String text = with.programs().run(CompareSession.java(MAIN, arguments.toArray()));
    for (Way way : ways) {
      samples.add(
          name(way) + beside,
          "MB/s",
          "LoopbackStream " + region + " " + piece + " " + way.word(),
          Samples.number(text, way.word()));
    }
  }

  /** The name of such a stream. */
  static String name(Way way) {
    return way.label;
  }
}
