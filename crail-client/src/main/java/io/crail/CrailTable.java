/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/** A node that holds key-values. */
public interface CrailTable extends CrailContainer {
  /**
   * Puts a whole value under a key of this table.
   *
   * @param key the last component of the path; neither empty nor with a slash
   * @param value the bytes between its position and its limit
   * @return the key-value
   * @throws Exception as {@link CrailStore#put(String, CrailBuffer)}
   * @see CrailStore#put(String, CrailBuffer)
   */
  default Upcoming<CrailKeyValue> put(String key, CrailBuffer value) throws Exception {
    return getFileSystem().put(pathOf(key), value);
  }

  /**
   * Gets the whole value of a key of this table.
   *
   * @param key the last component of the path; neither empty nor with a slash
   * @param target direct memory for the bytes
   * @return the number of bytes of the value; null when there is no such key
   * @throws Exception as {@link CrailStore#get(String, CrailBuffer)}
   * @see CrailStore#get(String, CrailBuffer)
   */
  default Upcoming<CrailResult> get(String key, CrailBuffer target) throws Exception {
    return getFileSystem().get(pathOf(key), target);
  }

  private String pathOf(String key) throws CrailException {
    if (key == null || key.isEmpty() || key.indexOf('/') >= 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "the key "
              + (key == null ? "null" : "'" + Printable.line(key) + "'")
              + " of the table "
              + getPath()
              + " must be one name, neither empty nor with a slash");
    }
    return getPath() + "/" + key;
  }
}
