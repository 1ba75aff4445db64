/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** A node that holds data files, which many write and one reads as one stream. */
public interface CrailMultiFile extends CrailContainer {
  /**
   * Opens a stream over the bytes of all enumerable children, one after the other, in the order of
   * {@link #listEntries()}. Children that are empty, or are gone when their turn comes, are
   * skipped.
   *
   * @param outstanding reads in flight, at least 1
   */
  CrailBufferedInputStream getMultiStream(int outstanding) throws Exception;
}
