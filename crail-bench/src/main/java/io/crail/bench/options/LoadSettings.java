/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import java.nio.file.Path;
import java.util.List;

/**
 * How a load is driven, whatever it is, and where its figures go.
 *
 * @param sizes bytes of an operation, measured one after the other; empty when none were given
 * @param threads workers of each process
 * @param clients processes; 1 is this one
 * @param rate operations a second of all workers together; 0 is as fast as they end
 * @param json where the figures go as JSON, {@code -} being standard output; null for nowhere
 * @param plot where their chart goes; null for nowhere
 */
public record LoadSettings(
    List<Integer> sizes, int threads, int clients, double rate, String json, Path plot) {
  /** What {@code json} is for standard output. */
  static final String STANDARD_OUTPUT = "-";

  /** Copies the list. */
  public LoadSettings {
    sizes = List.copyOf(sizes);
  }

  /** All workers of all processes. */
  public int workers() {
    return threads * clients;
  }

  /** Whether operations start at a rate, not when others end. */
  public boolean isPaced() {
    return rate > 0;
  }

  /** Whether standard output is for JSON alone. */
  public boolean printsJson() {
    return STANDARD_OUTPUT.equals(json);
  }

  /** A number without digits that it does not need. */
  public static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? String.valueOf((long) number)
        : String.valueOf(number);
  }
}
