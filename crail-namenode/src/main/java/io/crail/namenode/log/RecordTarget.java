/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.protocol.codec.Codec;

/** Receives records, one after the other. */
public interface RecordTarget {
  /**
   * Appends a record.
   *
   * @param kind its kind; of those that are no change, {@link ChangeLog#FIRST_OWN_KIND} to 253
   */
  <T> void append(int kind, Codec<T> codec, T record);
}
