/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/**
 * How a log is laid out. It has this shape as long as it is there. Immutable.
 *
 * @param width key-values that consecutive positions go to in turn, 1 to 64
 * @param maxEntry most bytes of an entry, 1 to 61,440
 * @param spread whether the key-values are spread over all namenodes; the table of the log is not
 *     below another spread directory then
 */
public record LogOptions(int width, int maxEntry, boolean spread) {
  /** Eight key-values, entries of up to 4 KiB, spread. */
  public static final LogOptions DEFAULT = new LogOptions(8, 4096, true);

  private static final int MOST_WIDTH = 64;
  private static final int MOST_ENTRY = 60 << 10;

  /**
   * The same with another width.
   *
   * @param count the number of key-values
   * @return the options
   */
  public LogOptions withWidth(int count) {
    return new LogOptions(count, maxEntry, spread);
  }

  /**
   * The same for entries of another size.
   *
   * @param bytes most bytes of an entry
   * @return the options
   */
  public LogOptions withMaxEntry(int bytes) {
    return new LogOptions(width, bytes, spread);
  }

  /**
   * The same, spread or not.
   *
   * @param isSpread whether the key-values are spread over all namenodes
   * @return the options
   */
  public LogOptions withSpread(boolean isSpread) {
    return new LogOptions(width, maxEntry, isSpread);
  }

  /** Refuses what no log can have. */
  LogShape shape() throws CrailException {
    if (width < 1 || width > MOST_WIDTH || maxEntry < 1 || maxEntry > MOST_ENTRY) {
      throw ErrorCode.INVALID_ARGUMENT.exception("options of a log: " + this);
    }
    return LogShape.of(width, maxEntry);
  }
}
