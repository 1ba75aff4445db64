/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import java.util.List;

/**
 * What a command has found out: a plain value, mostly a record, that people see as text and
 * programs as JSON. Immutable.
 */
public interface CommandReport {
  /** Prints it for people. */
  void print(ReportText text);

  /** The value for JSON: records, maps and lists. */
  default Object value() {
    return this;
  }

  /** What is missing or wrong with the report itself, a line each; they go to stderr. */
  default List<String> warnings() {
    return List.of();
  }

  /** The exit code of the command. */
  default int exitCode() {
    return 0;
  }
}
