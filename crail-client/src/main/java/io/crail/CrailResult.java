/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** The outcome of a read or a write. */
public interface CrailResult {
  /** {@return the number of bytes that were moved; 0 for a read at the end of a file} */
  long getLen();
}
