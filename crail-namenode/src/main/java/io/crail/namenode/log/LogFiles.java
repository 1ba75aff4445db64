/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Tells the files of a log by their names. */
public final class LogFiles {
  private LogFiles() {}

  /** Whether this is a file of a log or of a snapshot. */
  public static boolean isOne(String name) {
    return LogSegment.isName(name) || name.startsWith(Snapshots.BEGIN);
  }

  /**
   * The files of the present snapshot, and those of the log that are written no more.
   *
   * @param names those of all files
   * @param lastSegment the number of the last file of the log that is written no more
   */
  public static List<String> closed(List<String> names, long lastSegment) {
    Optional<String> whole =
        names.stream()
            .filter(name -> name.startsWith(Snapshots.BEGIN) && name.endsWith(Snapshots.WHOLE))
            .max(Comparator.naturalOrder())
            .map(name -> name.substring(0, name.length() - Snapshots.WHOLE.length()));
    return names.stream()
        .filter(
            name ->
                LogSegment.isName(name)
                    ? LogSegment.of(name) <= lastSegment
                    : whole.isPresent() && name.startsWith(whole.get()))
        .toList();
  }
}
