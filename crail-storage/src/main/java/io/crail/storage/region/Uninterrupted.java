/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/**
 * Work with files in the threads of users. An interrupted thread cannot use a file channel: it
 * closes the channel under itself and under everybody else. Here the work is done all the same, and
 * the thread is as interrupted after it as before.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * Work that can be done again.
   *
   * @param <T> the result
   */
  interface Work<T> {
    T run() throws IOException;
  }

  /**
   * Does the work, once more for each interrupt that comes meanwhile.
   *
   * @param work opens the channel that it uses, unless that is open
   */
  static <T> T run(Work<T> work) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return work.run();
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
