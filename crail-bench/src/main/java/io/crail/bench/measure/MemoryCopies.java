/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Bare copies between a buffer and mapped memory, by {@code MemoryCopy}. Stateless. */
final class MemoryCopies {
  private static final double NANOS_PER_MICRO = 1e3;
  private static final String MAIN = "io.crail.bench.limits.MemoryCopy";

  private MemoryCopies() {}

  /** Measures copies of some sizes; adds what each takes, and the bytes a second. */
  static void measure(Comparison with, Samples samples, int region, int... sizes)
      throws IOException, InterruptedException {
    List<Object> arguments = new ArrayList<>(List.of(with.regions(), region));
    for (int size : sizes) {
      arguments.add(size);
    }
    String text = with.programs().run(Comparison.java(MAIN, arguments.toArray()));
    for (int size : sizes) {
      String line = line(text, size);
      String shown = "MemoryCopy " + region + " " + size;
      for (boolean into : new boolean[] {true, false}) {
        double megabytes = Samples.number(line, into ? "write" : "read");
        samples.add(name(into, size), "us p50", shown, size / megabytes);
        samples.add(name(into, size), "MB/s", shown, megabytes);
      }
      samples.add(random(size), "us p50", shown, Samples.number(line, "random") / NANOS_PER_MICRO);
    }
  }

  /** The line of copies of a size. */
  static String line(String text, int size) {
    for (String line : text.split("\n")) {
      if (line.startsWith("piece " + size + " ")) {
        return line;
      }
    }
    throw new IllegalArgumentException("no copies of " + size + " bytes in: " + text);
  }

  /** What copies from one piece to the next are called. */
  static String name(boolean into, int size) {
    return "memory copy of " + Samples.bytes(size) + (into ? ", into a mapping" : ", out of one");
  }

  /** What copies from random places are called. */
  static String random(int size) {
    return "memory copy of " + Samples.bytes(size) + ", from anywhere";
  }
}
