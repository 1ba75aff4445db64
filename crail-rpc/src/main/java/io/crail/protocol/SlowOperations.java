/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.rpc.RequestBatch;

/** Writes operations that took long to a log. */
final class SlowOperations {
  /** Never reports anything. */
  static final SlowOperations NEVER = new SlowOperations(Long.MAX_VALUE, null);

  private static final int MOST_CHARACTERS = 400;

  private final long leastNanos;
  private final RateLimitedLog log;

  /**
   * Creates the reporter.
   *
   * @param leastNanos what takes shorter is not reported
   */
  SlowOperations(long leastNanos, RateLimitedLog log) {
    this.leastNanos = leastNanos;
    this.log = log;
  }

  /** Reports the requests {@code from} (inclusive) to {@code to} (exclusive) if they took long. */
  void served(Operation<?, ?> operation, RequestBatch batch, int from, int to, long nanos) {
    if (nanos >= leastNanos) {
      report(operation, batch, from, to, nanos);
    }
  }

  private void report(Operation<?, ?> operation, RequestBatch batch, int from, int to, long nanos) {
    StringBuilder text = new StringBuilder("slow operation: ").append(operation.name());
    text.append(" of ").append(batch.session().peer());
    text.append(" took ")
        .append(nanos / 1000)
        .append(" us: ")
        .append(first(operation, batch, from));
    if (text.length() > MOST_CHARACTERS) {
      text.setLength(MOST_CHARACTERS);
      text.append("...");
    }
    if (to - from > 1) {
      text.append(", together with ").append(to - from - 1).append(" more");
    }
    log.warn(text.toString());
  }

  /** The request as text: its path, or the number of its node. Whoever has a token may write. */
  private static String first(Operation<?, ?> operation, RequestBatch batch, int from) {
    try {
      return operation
          .request()
          .read(batch.buffer(), batch.bodyOffset(from))
          .toString()
          .replaceAll("token=-?\\d+(, )?", "");
    } catch (CrailException e) {
      return "(" + e.getMessage() + ")";
    }
  }
}
