/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;

/**
 * Memory of reads that were given up and have not ended: until they have, late bytes may still be
 * written there, so nobody else may have it. There is as much of it as there are reads in flight.
 * Thread-safe.
 */
final class StrayMemory {
  private record Stray(Runnable release, Future<?> read) {}

  private final Queue<Stray> strays = new ConcurrentLinkedQueue<>();

  /**
   * Releases memory, as soon as its read has ended.
   *
   * @param read null when none was issued
   */
  void release(Runnable release, Future<?> read) {
    if (read == null || read.isDone()) {
      release.run();
    } else {
      strays.add(new Stray(release, read));
    }
  }

  /** Releases the memory of reads that have ended meanwhile. */
  void releaseEnded() {
    for (int i = strays.size(); i > 0; i--) {
      Stray stray = strays.poll();
      if (stray == null) {
        return;
      }
      release(stray.release, stray.read);
    }
  }
}
