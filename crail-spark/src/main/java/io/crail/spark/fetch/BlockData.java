/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import java.io.IOException;
import java.io.InputStream;

/** The bytes of a block. Thread-safe. */
public interface BlockData {
  /** {@return how many bytes they are} */
  long length();

  /** {@return a stream of all bytes, for one thread, which may be asked for several times} */
  InputStream open() throws IOException;

  /** Gives the memory back. Called once, after all streams are closed. */
  void release();
}
