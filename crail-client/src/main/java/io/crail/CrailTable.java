/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** A node that holds key-values. */
public interface CrailTable extends CrailContainer {
  /**
   * Puts a whole value under a key of this table.
   *
   * @param key the last component of the path
   * @param value the bytes between its position and its limit
   * @return the key-value
   * @throws Exception as {@link CrailStore#put(String, CrailBuffer)}
   * @see CrailStore#put(String, CrailBuffer)
   */
  default Upcoming<CrailKeyValue> put(String key, CrailBuffer value) throws Exception {
    return getFileSystem().put(getPath() + "/" + key, value);
  }

  /**
   * Gets the whole value of a key of this table.
   *
   * @param key the last component of the path
   * @param target direct memory for the bytes
   * @return the number of bytes of the value; null when there is no such key
   * @throws Exception as {@link CrailStore#get(String, CrailBuffer)}
   * @see CrailStore#get(String, CrailBuffer)
   */
  default Upcoming<CrailResult> get(String key, CrailBuffer target) throws Exception {
    return getFileSystem().get(getPath() + "/" + key, target);
  }
}
