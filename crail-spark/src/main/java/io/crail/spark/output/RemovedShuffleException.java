/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.io.IOException;

/** A task that ended late wanted to write an output of a shuffle that is no longer needed. */
public final class RemovedShuffleException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates it for an output. */
  public RemovedShuffleException(OutputId id, Throwable cause) {
    super("shuffle " + id.shuffle() + " was removed, before its output " + id.map(), cause);
  }
}
