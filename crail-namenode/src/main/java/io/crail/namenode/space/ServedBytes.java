/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

/**
 * How many bytes clients read from a datanode and write to it in a second, by what it says with its
 * signs of life. One thread at a time may note something; any thread may read the rates.
 */
public final class ServedBytes {
  private static final long UNKNOWN = -1;

  /** Signs of life that come faster are taken together. */
  private static final long LEAST_NANOS = 500_000_000;

  private long sinceNanos;
  private long read = UNKNOWN;
  private long written = UNKNOWN;
  private volatile long readRate = UNKNOWN;
  private volatile long writeRate = UNKNOWN;

  /**
   * Notes what a sign of life says.
   *
   * @param nowRead bytes that clients have read since the datanode's start; -1 if it does not know
   * @param nowWritten the same for bytes that they have written
   */
  void seen(long nowNanos, long nowRead, long nowWritten) {
    boolean counts = nowRead >= 0 && nowWritten >= 0;
    boolean first = read < 0;
    if (counts && !first && nowNanos - sinceNanos < LEAST_NANOS) {
      return;
    }
    readRate = counts ? (first ? 0 : rate(nowRead - read, nowNanos)) : UNKNOWN;
    writeRate = counts ? (first ? 0 : rate(nowWritten - written, nowNanos)) : UNKNOWN;
    read = counts ? nowRead : UNKNOWN;
    written = counts ? nowWritten : UNKNOWN;
    sinceNanos = nowNanos;
  }

  private long rate(long bytes, long nowNanos) {
    return Math.max(0, (long) (bytes * 1e9 / (nowNanos - sinceNanos)));
  }

  /** Bytes that are read in a second; -1 if the datanode does not know. */
  public long readRate() {
    return readRate;
  }

  /** Bytes that are written in a second; -1 if the datanode does not know. */
  public long writeRate() {
    return writeRate;
  }
}
