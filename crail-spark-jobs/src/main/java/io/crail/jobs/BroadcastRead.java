/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One read of a broadcast value, by a task. Immutable. */
final class BroadcastRead implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The process, whose clock the times are of. */
  private final long pid;

  private final long beginNanos;
  private final long endNanos;
  private final long checksum;

  BroadcastRead(long pid, long beginNanos, long endNanos, long checksum) {
    this.pid = pid;
    this.beginNanos = beginNanos;
    this.endNanos = endNanos;
    this.checksum = checksum;
  }

  /**
   * Sorts the reads of one value: the first of each process, and those that began when it had
   * ended. Reads that ran beside a first one are neither.
   *
   * @param first gets the nanoseconds of the first reads
   * @param cached gets those of the later ones
   * @throws WrongResultException when a task has read another value
   */
  static void sort(List<BroadcastRead> reads, long checksum, List<Long> first, List<Long> cached)
      throws WrongResultException {
    Map<Long, BroadcastRead> firsts = new HashMap<>();
    for (BroadcastRead read : reads) {
      if (read.checksum != checksum) {
        throw new WrongResultException("a task has read another value than the one broadcast");
      }
      firsts.merge(
          read.pid, read, (one, other) -> one.beginNanos - other.beginNanos <= 0 ? one : other);
    }
    for (BroadcastRead read : reads) {
      BroadcastRead before = firsts.get(read.pid);
      if (read == before) {
        first.add(read.nanos());
      } else if (read.beginNanos - before.endNanos >= 0) {
        cached.add(read.nanos());
      }
    }
  }

  private long nanos() {
    return endNanos - beginNanos;
  }
}
