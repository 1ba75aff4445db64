/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailLocationClass;
import io.crail.CrailStorageClass;
import io.crail.tool.command.UsageException;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Option;

/** The options that say where the bytes of new nodes go. Stateless. */
final class PlacementOptions {
  private static final String STORAGE = "c";
  private static final String STRICT = "S";
  private static final String LOCATION = "L";

  private PlacementOptions() {}

  static Option storage() {
    return PathCommand.valued(
        STORAGE, "class", "class", "storage class, from 0; by default that of the parent");
  }

  static Option strict() {
    return PathCommand.flag(STRICT, "strict", "take no space of other classes when it is full");
  }

  static Option location() {
    return PathCommand.valued(
        LOCATION, "location", "host", "host to hold the bytes; by default that of the parent");
  }

  /**
   * The place that the options name.
   *
   * @throws UsageException that names an option and its bad value
   */
  static Placement of(CommandLine line) throws UsageException {
    CrailStorageClass storage =
        line.hasOption(STORAGE)
            ? CrailStorageClass.get(PathCommand.number(line, STORAGE, 0, 255))
            : CrailStorageClass.PARENT;
    String host = line.getOptionValue(LOCATION);
    try {
      return new Placement(
          line.hasOption(STRICT) ? storage.strict() : storage,
          host == null ? CrailLocationClass.PARENT : CrailLocationClass.of(host));
    } catch (IllegalArgumentException e) {
      throw new UsageException("option -" + LOCATION + ": " + e.getMessage());
    }
  }
}
