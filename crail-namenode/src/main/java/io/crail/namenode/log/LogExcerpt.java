/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.error.CrailException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Reads some records of a log, one file at a time, whether or not a start would read them. */
public final class LogExcerpt {
  private LogExcerpt() {}

  /**
   * Reads the records of the log's files.
   *
   * @param from number of the first record; those before it are passed over
   * @param to number of the last one
   * @throws LogDamage when there is damage before all of them were read
   */
  public static void read(LogDirectory directory, long from, long to, LogReader.Visitor visitor)
      throws CrailException, IOException {
    List<String> names = LogSurvey.segments(directory);
    int begin = 0;
    for (int i = 0; i < names.size(); i++) {
      long first = LogSurvey.firstIn(directory, names.get(i));
      begin = first > 0 && first <= from ? i : begin;
    }
    LogReader.Visitor within = within(from, to, visitor);
    long after = -1;
    for (String name : names.subList(begin, names.size())) {
      long first = LogSurvey.firstIn(directory, name);
      if (after < 0) {
        after = Math.max(0, first - 1);
      }
      if (after >= to) {
        return;
      }
      after = LogReader.readFile(directory, name, after, within).last();
    }
  }

  /** Reads the records of the newest snapshot, by their numbers there; nothing if there is none. */
  public static void readSnapshot(
      LogDirectory directory, long from, long to, LogReader.Visitor visitor)
      throws CrailException, IOException {
    new Snapshots(directory).read(within(from, to, visitor));
  }

  private static LogReader.Visitor within(long from, long to, LogReader.Visitor visitor) {
    return new LogReader.Visitor() {
      @Override
      public void written(long millis, long nanos) {
        visitor.written(millis, nanos);
      }

      @Override
      public void record(long number, int kind, ByteBuffer bytes, int offset, int length)
          throws CrailException, IOException {
        if (number >= from && number <= to) {
          visitor.record(number, kind, bytes, offset, length);
        }
      }
    };
  }
}
