/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.util.List;

/**
 * Something that bytes from outside reach, with what must hold whatever they are. Called by one
 * thread, for one input after the other; what one input does is not seen by the next.
 */
interface Target extends AutoCloseable {
  /** Tries an input; whatever this throws is a finding. */
  void run(byte[] input) throws Exception;

  /** Inputs of good form, from which a fuzzer starts. */
  List<byte[]> seeds() throws Exception;

  @Override
  default void close() throws Exception {}
}
