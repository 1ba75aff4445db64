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
    String text = run(with, region, sizes);
    for (int size : sizes) {
      add(samples, "", true, region, size, text);
      add(samples, "", false, region, size, text);
      samples.add(
          random(size),
          "us p50",
          shown(region, size),
          Samples.number(line(text, size), "random") / NANOS_PER_MICRO);
    }
  }

  /**
   * Measures copies of some sizes beside something else; adds those of one direction.
   *
   * @param beside what each of their names ends in
   */
  static void measureBeside(
      Comparison with, Samples samples, String beside, boolean into, int region, int... sizes)
      throws IOException, InterruptedException {
    String text = run(with, region, sizes);
    for (int size : sizes) {
      add(samples, beside, into, region, size, text);
    }
  }

  private static String run(Comparison with, int region, int... sizes)
      throws IOException, InterruptedException {
    List<Object> arguments = new ArrayList<>(List.of(with.limitRegion(), region));
    for (int size : sizes) {
      arguments.add(size);
    }
    return with.programs().run(Comparison.java(MAIN, arguments.toArray()));
  }

  private static void add(
      Samples samples, String beside, boolean into, int region, int size, String text) {
    double megabytes = Samples.number(line(text, size), into ? "write" : "read");
    String name = name(into, size) + beside;
    samples.add(name, "us p50", shown(region, size), size / megabytes);
    samples.add(name, "MB/s", shown(region, size), megabytes);
  }

  private static String shown(int region, int size) {
    return "MemoryCopy " + region + " " + size;
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
