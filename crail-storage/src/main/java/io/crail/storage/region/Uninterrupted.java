/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/**
 * Work with files in the threads of users. An interrupted thread cannot use a file channel: it
 * closes the channel for itself and for all other threads. This class does the work nevertheless,
 * and leaves the thread interrupted as before.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * Work that can be repeated.
   *
   * @param <T> the result
   */
  interface Work<T> {
    T run() throws IOException;
  }

  /**
   * Does the work, and repeats it for each interrupt that comes during it.
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
