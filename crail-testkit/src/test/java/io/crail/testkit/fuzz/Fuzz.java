/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The program of {@code ci/fuzz}: the class that Jazzer calls with each input, and a main that
 * lists the targets and writes seeds. {@code -Dcrail.fuzz.target=} names the target.
 */
public final class Fuzz {
  private static Target target;

  private Fuzz() {}

  /** Called by Jazzer once. */
  public static void fuzzerInitialize() throws Exception {
    target = find(System.getProperty("crail.fuzz.target")).open();
  }

  /** Called by Jazzer with each input. */
  public static void fuzzerTestOneInput(byte[] input) throws Exception {
    target.run(input);
  }

  /** Called by Jazzer at the end. */
  public static void fuzzerTearDown() throws Exception {
    target.close();
  }

  static Targets find(String label) {
    return Targets.valueOf(label.toUpperCase(Locale.ROOT));
  }

  /** {@code list}; or {@code seeds <target> <directory>}; or {@code run <target> <file> ...}. */
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "list" -> {
        for (Targets each : Targets.values()) {
          System.out.printf("%-14s %s%n", each.label(), each.sentence());
        }
      }
      case "seeds" -> writeSeeds(find(arguments[1]), Path.of(arguments[2]));
      case "run" -> {
        try (Target opened = find(arguments[1]).open()) {
          for (String file : List.of(arguments).subList(2, arguments.length)) {
            opened.run(Files.readAllBytes(Path.of(file)));
          }
        }
      }
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static void writeSeeds(Targets each, Path directory) throws Exception {
    try (Target opened = each.open()) {
      int number = 0;
      for (byte[] seed : opened.seeds()) {
        Files.write(directory.resolve("seed-" + number++), seed);
      }
    }
  }
}
