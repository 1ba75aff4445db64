/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.tool.command.ExitCode;
import java.util.List;

/** A report that each namenode has a part in, and that goes without those that are down. */
public interface PartialReport extends CommandReport {
  /** The namenodes whose parts are missing, each with the reason. */
  List<String> missing();

  /** Says that the part of a namenode is missing. */
  static String without(Object namenode) {
    return "crail: without the part of " + namenode;
  }

  @Override
  default List<String> warnings() {
    return missing().stream().map(PartialReport::without).toList();
  }

  @Override
  default int exitCode() {
    return missing().isEmpty() ? 0 : ExitCode.PARTIAL;
  }
}
