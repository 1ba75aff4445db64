/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.util.List;

/**
 * Code that bytes from outside reach, and the conditions that must hold for any bytes. One thread
 * calls it, for one input after the other. An input leaves no effect for the next one.
 */
interface Target extends AutoCloseable {
  /** Tries an input. Any exception is a finding. */
  void run(byte[] input) throws Exception;

  /** Valid inputs, from which a fuzzer starts. */
  List<byte[]> seeds() throws Exception;

  @Override
  default void close() throws Exception {}
}
