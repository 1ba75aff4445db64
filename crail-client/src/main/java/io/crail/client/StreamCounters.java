/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

/** The operations of one stream, counted by the thread that uses it and added up at its close. */
final class StreamCounters {
  private long operations;
  private long atOnce;
  private long bytes;

  /**
   * Counts an operation.
   *
   * @param endedAtOnce whether it had ended when its issue returned, as copies within a host do
   */
  void operation(int length, boolean endedAtOnce) {
    operations++;
    bytes += length;
    if (endedAtOnce) {
      atOnce++;
    }
  }

  long operations() {
    return operations;
  }

  long atOnce() {
    return atOnce;
  }

  long bytes() {
    return bytes;
  }
}
