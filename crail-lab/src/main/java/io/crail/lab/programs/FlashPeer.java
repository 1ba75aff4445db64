/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;

/** A program that loads a namespace of an NVMe target by itself. Used by one thread. */
public interface FlashPeer {
  /**
   * A load.
   *
   * @param kind such as {@code read} and {@code randread}, as both programs call it
   * @param size bytes of an operation
   * @param depth operations in flight
   */
  record Load(String kind, int size, int depth) {}

  /**
   * What was found.
   *
   * @param operations in a second
   * @param medianMicros the median latency of an operation
   */
  record Result(double operations, double medianMicros) {}

  /** The name of the program, for people. */
  String name();

  /** The command as a user would write it, without the place. */
  String shown(Load load);

  /** Runs the load for some seconds. */
  Result run(Load load) throws IOException, InterruptedException;
}
