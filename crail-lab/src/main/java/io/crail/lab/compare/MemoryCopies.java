/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Samples;
import io.crail.lab.limits.MemoryCopy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Bare copies between a buffer and mapped memory, with {@code MemoryCopy}. Stateless. */
final class MemoryCopies {
  private static final double NANOS_PER_MICRO = 1e3;
  private static final String RANDOM = MemoryCopy.Figure.RANDOM.shown();
  private static final String MAIN = MemoryCopy.class.getName();

  private MemoryCopies() {}

  /** Measures copies of some sizes. Adds the time of each, and the bytes a second. */
  static void measure(CompareSession with, Samples samples, int region, int... sizes)
      throws IOException, InterruptedException {
    String text = run(with, region, "", Arrays.stream(sizes).boxed().toList());
    for (int size : sizes) {
      String shown = shown(region, "", size);
      add(samples, "", true, shown, size, text);
      add(samples, "", false, shown, size, text);
      addRandom(samples, shown, size, text);
    }
  }

  /** Measures copies of some sizes from random places. Adds the time of each. */
  static void measureRandom(CompareSession with, Samples samples, int region, int... sizes)
      throws IOException, InterruptedException {
    String text = run(with, region, RANDOM, Arrays.stream(sizes).boxed().toList());
    for (int size : sizes) {
      addRandom(samples, shown(region, RANDOM, size), size, text);
    }
  }

  /**
   * Measures copies of a size between memory and some buffers in turns, as the lower bound of a
   * figure that uses as many buffers. Adds the copies of one direction.
   *
   * @param beside the end of their name
   */
  static void measureBeside(
      CompareSession with,
      Samples samples,
      String beside,
      boolean into,
      int region,
      int size,
      int buffers)
      throws IOException, InterruptedException {
    String piece = size + (buffers == 1 ? "" : "x" + buffers);
    String text = run(with, region, figure(into), List.of(piece));
    add(samples, beside, into, shown(region, figure(into), piece), size, text);
  }

  /** Runs the program. It measures only {@code figure}, or everything when that is empty. */
  private static String run(CompareSession with, int region, String figure, List<?> pieces)
      throws IOException, InterruptedException {
    List<Object> arguments = new ArrayList<>(List.of(with.limitRegion(), region));
    if (!figure.isEmpty()) {
      arguments.add(figure);
    }
    arguments.addAll(pieces);
    return with.programs().run(CompareSession.java(MAIN, arguments.toArray()));
  }

  private static void add(
      Samples samples, String beside, boolean into, String shown, int size, String text) {
    double megabytes = Samples.number(line(text, size), figure(into));
    String name = name(into, size) + beside;
    samples.add(name, "us p50", shown, size / megabytes);
    samples.add(name, "MB/s", shown, megabytes);
  }

  private static void addRandom(Samples samples, String shown, int size, String text) {
    double nanos = Samples.number(line(text, size), RANDOM);
    samples.add(random(size), "us p50", shown, nanos / NANOS_PER_MICRO);
  }

  private static String figure(boolean into) {
    return (into ? MemoryCopy.Figure.WRITE : MemoryCopy.Figure.READ).shown();
  }

  private static String shown(int region, String figure, Object piece) {
    return "MemoryCopy " + region + (figure.isEmpty() ? " " : " " + figure + " ") + piece;
  }

  /** The output line for copies of a size. */
  static String line(String text, int size) {
    for (String line : text.split("\n")) {
      if (line.startsWith("piece " + size + " ")) {
        return line;
      }
    }
    throw new IllegalArgumentException("no copies of " + size + " bytes in: " + text);
  }

  /** The name of copies in order. */
  static String name(boolean into, int size) {
    return "memory copy of " + Samples.bytes(size) + (into ? ", into a mapping" : ", out of one");
  }

  /** The name of copies from random places. */
  static String random(int size) {
    return "memory copy of " + Samples.bytes(size) + ", from anywhere";
  }
}
