/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.cluster.KeepAlive;
import io.crail.rpc.login.LoginKey;

/**
 * What a namenode hears of the life of a datanode's process: its messages, the end of its
 * connection, and what clients say. None of it outlives the namenode's process, so it is noted
 * where it is heard, and in no record of changes. Thread-safe.
 */
public final class SignsOfLife {
  private volatile long lastNanos;
  private volatile boolean suspected;
  private volatile boolean impaired;
  // The connection of the last message has ended since.
  private volatile boolean cutOff;
  private volatile long answers;
  private volatile long heard;
  private volatile LoginKey key;
  private final ServedBytes served = new ServedBytes();
  // Guarded by this.
  private Object connection;

  SignsOfLife(long nowNanos) {
    lastNanos = nowNanos;
  }

  /** Notes a message from the datanode itself. */
  public void seen(long nowNanos) {
    lastNanos = nowNanos;
    suspected = false;
    cutOff = false;
  }

  /** Notes the key that it has logged in with; null if it has proved none. */
  public void loggedIn(LoginKey newKey) {
    key = newKey;
  }

  /** Whether somebody who has proved another name speaks for it. */
  public boolean isOfOther(LoginKey other) {
    LoginKey own = key;
    return own != null && (other == null || !own.name().equals(other.name()));
  }

  /** The key that it has logged in with last; null if it has proved none. */
  public LoginKey key() {
    return key;
  }

  /** Notes how many bytes clients have moved so far. */
  public synchronized void served(long nowNanos, KeepAlive.Request sign) {
    served.seen(nowNanos, sign.readBytes(), sign.writtenBytes());
  }

  /** How many bytes clients move. */
  public ServedBytes served() {
    return served;
  }

  /** Notes over which connection the last message came. */
  public synchronized void cameBy(Object newConnection) {
    connection = newConnection;
  }

  /** True when it was heard of lately, and its connection has not ended since. */
  public synchronized boolean isConnected(long nowNanos, long presentNanos) {
    return connection != null && silentNanos(nowNanos) < presentNanos;
  }

  /**
   * Notes that a connection has ended. The kernel ends the connections of a killed process at once.
   *
   * @return false when it was not the connection of the last message
   */
  public synchronized boolean ended(Object ofConnection) {
    if (connection != ofConnection) {
      return false;
    }
    connection = null;
    suspected = true;
    cutOff = true;
    return true;
  }

  /** Notes that a client could not reach the datanode. Returns false when this was known. */
  boolean suspect() {
    boolean known = suspected;
    suspected = true;
    return !known;
  }

  /** Notes whether it says that it does not reach all of its space. Returns whether that is new. */
  public boolean impair(boolean newImpaired) {
    boolean known = impaired == newImpaired;
    impaired = newImpaired;
    return !known;
  }

  public boolean isImpaired() {
    return impaired;
  }

  /** True when it is impaired, or could not be reached since its last message. */
  boolean isAskedLast() {
    return suspected || impaired;
  }

  /** The time since its last message. */
  public long silentNanos(long nowNanos) {
    return nowNanos - lastNanos;
  }

  /**
   * True when it is not impaired, is connected and was heard of lately. The word of clients does
   * not count.
   */
  public boolean areGood(long nowNanos, long presentNanos) {
    return !impaired && !cutOff && silentNanos(nowNanos) < presentNanos;
  }

  /** The number of its last answer. */
  long answers() {
    return answers;
  }

  /**
   * Numbers the next answer. It gets a new number once the last one has arrived, so a repeated
   * message gets the same answer.
   *
   * @param lastHeard the number of the last answer that had arrived when the message was sent
   */
  public synchronized long answer(long lastHeard) {
    heard = Math.max(heard, Math.min(lastHeard, answers));
    if (heard == answers) {
      answers++;
    }
    return answers;
  }

  /** True when the process has sent a message after the answer after this one had reached it. */
  boolean hasHeardMoreThan(long answer) {
    return heard > answer;
  }

  /**
   * How many bytes clients read from a datanode and write to it in a second, by what it says with
   * its signs of life. One thread at a time may note something; any thread may read the rates.
   */
  public static final class ServedBytes {
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
     * @param nowRead bytes that clients have read since the datanode's start; -1 if it does not
     *     know
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
}
