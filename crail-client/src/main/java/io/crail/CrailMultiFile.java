/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A node that holds data files. Many clients write the files, and one client reads them as one
 * stream.
 */
public interface CrailMultiFile extends CrailContainer {
  /**
   * Opens a stream over the bytes of all enumerable children, one child after the other, in the
   * order of {@link #listEntries()}. The stream skips a child that is empty, or that is removed
   * before its turn.
   *
   * @param outstanding reads in flight, at least 1
   * @return the stream
   * @throws Exception as {@link #listEntries()}
   */
  CrailBufferedInputStream getMultiStream(int outstanding) throws Exception;
}
